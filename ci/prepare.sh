# shellcheck shell=bash
# Sourced by ci/quickstart and ci/test after lib.sh: takes ACKPROOF_IMAGES (auto, local, upstream),
# ACKPROOF_INSTALL and ACKPROOF_KEEP_ENGINE. `prepare COMMAND...` leaves an engine and the images,
# made while COMMAND (a build) ran; what it started ends with the shell. It must never stop an
# engine that was there before, nor hide the log of a step that failed.

images_log=
images_job=
here=${here:?set by the script that sources this}

prepare() {
  trap finish EXIT
  trap 'exit 130' INT TERM
  "$here/prerequisites" engine build || exit $?
  local engine
  engine=$("$here/engine" ensure) || exit $?
  say "$engine"
  case $engine in *started*) started_engine=yes ;; esac

  if local_images_wanted; then
    "$here/prerequisites" images || exit $?
    images_log=$(mktemp)
    say "images: local ones, beside the build (log: $images_log)"
    # A process group of its own, so that all of it can be ended at once.
    set -m
    "$here/images/build" all >"$images_log" 2>&1 &
    images_job=$!
    set +m
  else
    say 'images: the runner pulls the upstream ones'
  fi

  local built=0
  "$@" || built=$?
  say "the build ended with $built"
  wait_for_images
  [ "$built" = 0 ] || exit "$built"
}

# Local images are wanted when one is there already, or when none can be pulled.
local_images_wanted() {
  case ${ACKPROOF_IMAGES:-auto} in
    local) return 0 ;;
    upstream) return 1 ;;
    auto) ;;
    *) fail "ACKPROOF_IMAGES is auto, local or upstream, not $ACKPROOF_IMAGES" ;;
  esac
  [ -z "$(docker image ls --quiet --filter label=dev.ackproof.server)" ] || return 0
  local probe=${ACKPROOF_REGISTRY:+${ACKPROOF_REGISTRY%/}/}apache/kafka:4.3.1
  say "images: none is here, trying to pull $probe"
  ! timeout 300 docker pull --quiet "$probe" >/dev/null 2>&1
}

wait_for_images() {
  [ -n "$images_job" ] || return 0
  local code=0
  wait "$images_job" || code=$?
  images_job=
  if [ "$code" != 0 ]; then
    tail -n 30 "$images_log" >&2
    rm -f "$images_log"
    say 'the images could not be built' >&2
    exit 3
  fi
  say "images: $(grep -c ' built$\| is current$' "$images_log") are there"
  rm -f "$images_log"
}

finish() {
  local code=$?
  trap - EXIT
  if [ -n "$images_job" ]; then
    kill -TERM -- "-$images_job" 2>/dev/null || true
    wait "$images_job" 2>/dev/null || true
    rm -f "$images_log"
  fi
  if [ "${started_engine-}" = yes ] && [ "${ACKPROOF_KEEP_ENGINE-}" != 1 ]; then
    say "$("$here/engine" stop)" || true
  fi
  exit "$code"
}
