#!/bin/bash
# Takes a command (`postgres ...`, or its options alone) and POSTGRES_USER, _PASSWORD, _DB,
# _INITDB_ARGS, _INITDB_WALDIR, _HOST_AUTH_METHOD and PGDATA, as the official image does.
# Fills an empty PGDATA and becomes the server (process 1, user postgres). It must never change a
# PGDATA that holds a database.
set -euo pipefail

case ${1-} in -*) set -- postgres "$@" ;; esac
[ "${1-}" = postgres ] || exec "$@"

if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /var/run/postgresql
  chmod 700 "$PGDATA"
  chown postgres:postgres "$PGDATA" /var/run/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups -- "$0" "$@"
fi

# value NAME DEFAULT: the variable NAME, or what the file that NAME_FILE names holds, or DEFAULT.
value() {
  local file=${1}_FILE
  if [ -n "${!1-}" ]; then
    echo "${!1}"
  elif [ -n "${!file-}" ]; then
    cat "${!file}"
  else
    echo "$2"
  fi
}

user=$(value POSTGRES_USER postgres)
password=$(value POSTGRES_PASSWORD '')
database=$(value POSTGRES_DB "$user")
initdb_args=$(value POSTGRES_INITDB_ARGS '')
auth=${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}

# identifier TEXT, literal TEXT: TEXT quoted for SQL.
identifier() { printf '"%s"' "${1//\"/\"\"}"; }
literal() { printf "E'%s'" "$(sed "s/\\\\/\\\\\\\\/g; s/'/''/g" <<<"$1")"; }

# A template initialised when the image was built saves initdb, if nothing special is asked for.
# The bootstrap user is renamed by another superuser: nobody may rename himself.
from_template() {
  cp -R /opt/postgres-template/. "$PGDATA"
  if [ "$user" != postgres ]; then
    statements+=('CREATE ROLE "renaming it" SUPERUSER' 'SET SESSION AUTHORIZATION "renaming it"'
      "ALTER ROLE postgres RENAME TO $(identifier "$user")"
      "SET SESSION AUTHORIZATION $(identifier "$user")" 'DROP ROLE "renaming it"')
  fi
  if [ -n "$password" ]; then
    statements+=("ALTER ROLE $(identifier "$user") PASSWORD $(literal "$password")")
  fi
}

from_nothing() {
  local options=(--no-sync --username="$user" -D "$PGDATA")
  if [ -n "$password" ]; then options+=(--pwfile=/dev/stdin); fi
  if [ -n "${POSTGRES_INITDB_WALDIR-}" ]; then options+=(--waldir="$POSTGRES_INITDB_WALDIR"); fi
  # shellcheck disable=SC2086 # a list of options
  initdb "${options[@]}" $initdb_args >/dev/null <<<"$password"
}

# Runs the statements in a server of one process without a port: nobody can take it for the real one.
execute() {
  local errors
  errors=$(printf '%s\n' "${statements[@]}" |
    postgres --single -F -D "$PGDATA" postgres 2>&1 >/dev/null | grep -E 'ERROR|FATAL|PANIC' || true)
  [ -z "$errors" ] || { echo "$errors" >&2 && exit 1; }
}

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  if [ -z "$password" ] && [ "$auth" != trust ]; then
    echo 'Error: set POSTGRES_PASSWORD, or POSTGRES_HOST_AUTH_METHOD=trust' >&2
    exit 1
  fi
  statements=()
  if [ -z "$initdb_args${POSTGRES_INITDB_WALDIR-}" ] && [ "$LANG" = C.UTF-8 ]; then
    from_template
  else
    from_nothing
  fi
  if [ "$database" != postgres ]; then
    statements+=("CREATE DATABASE $(identifier "$database")")
  fi
  if [ "${#statements[@]}" -gt 0 ]; then execute; fi
  printf '\nhost all all all %s\n' "$auth" >>"$PGDATA/pg_hba.conf"
fi

exec "$@"
