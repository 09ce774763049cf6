# shellcheck shell=bash
# Sourced by the scripts of this folder: takes nothing but the name of the script that sources it.
# Gives progress lines, probes with a deadline, and the state folder that the runner uses too.
# It must never change anything outside the shell that sources it.

started_at=$(date +%s)

# The runner keeps its locks in the same place.
state_folder() {
  if [ -n "${XDG_STATE_HOME-}" ]; then
    echo "$XDG_STATE_HOME/ackproof"
  elif [ -n "${HOME-}" ]; then
    echo "$HOME/.local/state/ackproof"
  else
    echo "${TMPDIR:-/tmp}/ackproof-$(id -u)"
  fi
}

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

have() {
  command -v "$1" >/dev/null 2>&1
}

engine_answers() {
  have docker && timeout 20 docker info >/dev/null 2>&1
}

# May packages be installed? Only on Debian, as root, and unless ACKPROOF_INSTALL says never.
may_install() {
  [ "$(id -u)" = 0 ] && [ -f /etc/debian_version ] && [ "${ACKPROOF_INSTALL:-auto}" != never ] &&
    have apt-get
}

# start_time PID: when a process began, in ticks since boot; a process id alone is used again.
start_time() {
  sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20
}
