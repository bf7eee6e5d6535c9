#!/usr/bin/env bash
# Builds targets in a folder that cmake has configured for ninja, and prints how long that will take, from the steps that ended so far.
#   src/build_with_estimate.sh BUILD JOBS TARGET...
set -eu
build=$1 jobs=$2
shift 2

# Ninja logs each step when it has ended.
steps_done() { { wc -l <"$build/.ninja_log" || echo 0; } 2>/dev/null; }

# A dry run (ninja -n) would not tell: it ends at the check for new source files.
all=$(($(ninja -C "$build" -t commands "$@" 2>/dev/null | wc -l) - $(steps_done)))
print_estimates() { # the first after FIRST_ESTIMATE_S (20) seconds, then every minute
  local before done pause=${FIRST_ESTIMATE_S:-20} left
  before=$(steps_done)
  trap 'kill $! 2>/dev/null; exit 0' TERM
  while :; do
    sleep "$pause" &
    wait $!
    pause=60
    done=$(($(steps_done) - before))
    [ "$done" -gt 0 ] && [ "$done" -lt "$all" ] || continue
    left=$((SECONDS * (all - done) / done))
    echo "build: $done of $all steps in $SECONDS s; about $((left / 60 + 1)) min left"
  done
}
if [ "$all" -gt 10 ]; then
  SECONDS=0
  print_estimates >&2 &
  estimates=$!
  trap 'kill "$estimates" 2>/dev/null || true' EXIT
fi
cmake --build "$build" --parallel "$jobs" --target "$@"
