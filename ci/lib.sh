# shellcheck shell=bash
# Sourced by the scripts of this folder: takes nothing but the name of the script that sources it.
# Gives `say` (a progress line with the elapsed time), `fail`, `poll` (a probe with a deadline) and
# `on_debian_root`. It must never change anything outside the shell that sources it.

started_at=$(date +%s)

say() {
  printf '[%4ds] %s: %s\n' "$(($(date +%s) - started_at))" "${0##*/}" "$*"
}

fail() {
  say "$*" >&2
  exit 1
}

# poll SECONDS COMMAND...: true as soon as the command is, false when the deadline has passed.
poll() {
  local deadline=$(($(date +%s) + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$(date +%s)" -lt "$deadline" ] || return 1
    sleep 0.2
  done
}

# May this script install packages? Only on Debian, as root, and unless the user said never.
on_debian_root() {
  [ "$(id -u)" = 0 ] && [ -f /etc/debian_version ] && [ "${ACKPROOF_INSTALL:-auto}" != never ] &&
    command -v apt-get >/dev/null
}
