#!/usr/bin/env bash
# Runs the tests that are built under BUILD, or only the named suites, and ends with "N passed, N failed, N skipped".
#   tests/run.sh build [lint] [unit] [contract] [fuzz] [multirank] [faults] [frameworks] [gpu] [slurm]
# What mostly waits (for Slurm, for limits of time, for programs) runs beside the others, which keep the cores busy one after the
# other: three lanes. One that has come to its end takes what waits in the others.
# A Catch2 program counts its test cases, and one that asserts nothing as failed; a Python test its checks; "skipped: reason"
# lines count as skipped.
set -u
[ -f "${1:-}/build.ninja" ] || { echo "usage: tests/run.sh BUILD [SUITE...]: BUILD is a folder that cmake has configured" >&2; exit 64; }
build=$(cd "$1" && pwd)
shift
suites=${*:-lint unit contract fuzz multirank faults frameworks gpu slurm}
here=$(cd "$(dirname "$0")" && pwd)
logs=$build/test-logs
mkdir -p "$logs"
totals=$(mktemp -d)
export XDG_STATE_HOME=$totals/state XDG_CONFIG_HOME=$totals/config # not those of who runs the tests
trap 'rm -rf "$totals"' EXIT
child=

lane_of() { # lane_of NAME: one of the lanes that run side by side
  case $1 in
    slurm/*) lane=slurm ;;
    multirank/test_crash | multirank/test_doctor | multirank/test_hang | multirank/test_launch | multirank/test_lease | multirank/test_local_ranks) lane=waiting ;;
    frameworks/test_tor* | frameworks/test_tr*) lane=busy ;;
    faults/test_fencing | frameworks/*) lane=waiting ;;
    *) lane=busy ;;
  esac
}

named_failures() { # named_failures LOG: what failed, in a few lines
  if grep -q '^FAILED' "$1"; then
    grep -A 12 '^FAILED' "$1" | head -n 14
  elif grep -q 'FAILED:$' "$1"; then # Catch2's
    grep -A 4 'FAILED:$' "$1" | head -n 12
  else
    tail -n 6 "$1"
  fi | cut -c 1-300 | sed 's/^/    /'
}

count() { # count NAME LOG EXIT_CODE SECONDS: reads the last totals of a program, and prints them with its failures
  local name=$1 log=$2 code=$3 seconds=$4 good bad skip
  skip=$(grep -c '^ *skipped: ' "$log")
  if line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1) && [ -n "$line" ]; then
    read -r good _ bad _ <<<"${line//,/}"
  elif line=$(grep -E '^All tests passed' "$log" | tail -n 1) && [ -n "$line" ]; then
    good=$(sed -E 's/.* in ([0-9]+) test case.*/\1/' <<<"$line") bad=0
    good=$((good - skip)) # a Catch2 case that skipped is among those that ended well
  elif line=$(grep -E '^test cases:' "$log" | tail -n 1) && [ -n "$line" ]; then
    good=$(grep -oE '[0-9]+ passed' <<<"$line" | grep -oE '[0-9]+' || echo 0)
    bad=$(grep -oE '[0-9]+ failed' <<<"$line" | grep -oE '[0-9]+' || echo 0)
  else
    good=0 bad=1
  fi
  [ "$code" = 0 ] || [ "$bad" != 0 ] || bad=1 # crashed or timed out after its totals
  printf '%-44s %4d passed %3d failed %3d skipped  %4d s\n' "$name" "$good" "$bad" "$skip" "$seconds"
  grep '^ *skipped: ' "$log" | sed 's/^ */    /'
  if [ "$bad" != 0 ]; then
    grep '^FAILED' "$log"
    tail -n 40 "$log" | sed 's/^/    | /'
    { echo "failed: $name ($log)"; named_failures "$log"; } >>"$totals/failures"
  fi
  echo "$good $bad $skip" >>"$totals/$BASHPID"
}

run() { # run NAME COMMAND...: in its lane, or in one that has come to its end and helps; Slurm's tests only one after the other
  local name=$1 code lane
  lane_of "$name"
  [ "$lane" = "$this_lane" ] || { [ "$helps" = yes ] && [ "$lane" != slurm ]; } || return 0
  mkdir "$totals/taken.${name//\//_}" 2>/dev/null || return 0
  shift
  local log="$logs/${name//\//_}.log"
  SECONDS=0
  timeout --kill-after=10 1500 "$@" >"$log" 2>&1 </dev/null &
  child=$!
  wait "$child"
  code=$?
  child=
  count "$name" "$log" "$code" "$SECONDS" >"$totals/text.$BASHPID"
  cat "$totals/text.$BASHPID" # in one piece, beside what the other lane prints
}

run_suite() {
  local suite=$1 program script scripts
  case $suite in
    unit) for program in "$build"/tests/test_unit_*; do run "unit/$(basename "$program")" "$program" -w NoAssertions; done ;;
    contract)
      run contract "$build/tests/test_contract" -w NoAssertions
      ;;
  esac
  # The last of the alphabet first: the longest are there, and none is left alone at the end.
  mapfile -t scripts < <(printf '%s\n' "$here/$suite"/*.py | sort -r)
  for script in "${scripts[@]}"; do
    [ -f "$script" ] && run "$suite/$(basename "$script" .py)" /usr/bin/python3 "$script" "$build"
  done
  for script in "$here/$suite"/*.sh; do
    [ -f "$script" ] && run "$suite/$(basename "$script" .sh)" bash "$script" "$build"
  done
}

run_lane() { # run_lane NAME
  local suite this_lane=$1 helps
  trap 'trap "" TERM; [ -z "$child" ] || { kill "$child"; wait "$child"; }; exit 143' TERM
  for helps in no yes; do
    for suite in $suites; do run_suite "$suite"; done
  done
  return 0
}

lanes=
for lane in slurm waiting busy; do
  run_lane "$lane" &
  lanes="$lanes $!"
done
trap 'kill $lanes 2>/dev/null; wait; exit 130' INT TERM
for pid in $lanes; do
  wait "$pid" || echo "0 1 0" >>"$totals/0" # it did not come to its end
done

[ ! -f "$totals/failures" ] || cat "$totals/failures" # once more, where the end of a long log shows them
cat "$totals"/[0-9]* 2>/dev/null | {
  passed=0 failed=0 skipped=0
  while read -r good bad skip; do
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip))
  done
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ]
}
