#!/usr/bin/env bash
# Runs the tests that are built under BUILD, or only the named suites, and ends with "N passed, N failed, N skipped".
#   tests/run.sh build [lint] [unit] [contract] [multirank] [faults] [frameworks] [gpu] [slurm]
# A Catch2 program counts its test cases, and one that asserts nothing as failed; a Python test its checks; "skipped: reason"
# lines count as skipped.
set -u
build=$(cd "$1" && pwd)
shift
suites=${*:-lint unit contract multirank faults frameworks gpu slurm}
here=$(cd "$(dirname "$0")" && pwd)
logs=$build/test-logs
mkdir -p "$logs"
passed=0 failed=0 skipped=0

count() { # count NAME LOG EXIT_CODE: reads the last totals of a program
  local name=$1 log=$2 code=$3 good bad skip
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
  passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip))
  printf '%-44s %4d passed %3d failed %3d skipped  %4d s\n' "$name" "$good" "$bad" "$skip" "$SECONDS"
  grep '^ *skipped: ' "$log" | sed 's/^ */    /'
  if [ "$bad" != 0 ]; then
    grep '^FAILED' "$log"
    tail -n 40 "$log" | sed 's/^/    | /'
  fi
}

run() { # run NAME COMMAND...
  local name=$1
  shift
  local log="$logs/${name//\//_}.log"
  SECONDS=0
  timeout --kill-after=10 900 "$@" >"$log" 2>&1 </dev/null
  count "$name" "$log" $?
}

for suite in $suites; do
  case $suite in
    unit) for program in "$build"/tests/test_unit_*; do run "unit/$(basename "$program")" "$program" -w NoAssertions; done ;;
    contract)
      run contract "$build/tests/test_contract" -w NoAssertions
      ;;
  esac
  for script in "$here/$suite"/*.py; do
    [ -f "$script" ] && run "$suite/$(basename "$script" .py)" /usr/bin/python3 "$script" "$build"
  done
  for script in "$here/$suite"/*.sh; do
    [ -f "$script" ] && run "$suite/$(basename "$script" .sh)" bash "$script" "$build"
  done
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
