#!/usr/bin/env bash
# Runs the tests that are built in BUILD, or only the given suites, and prints "N passed, N failed, N skipped" at the end.
#   tests/run.sh BUILD [lint] [unit] [contract] [fuzz] [multirank] [faults] [frameworks] [gpu] [slurm]
#
# tests/budgets.txt gives each test program a lane and a budget in seconds. Six workers run at the same time: one for the lane `slurm`,
# since its programs share the Slurm of the machine, three for `waiting` (programs that mostly wait) and two for `busy`. A worker starts
# the programs with the largest budgets first. When its lane is empty, it takes programs of the other lanes, except `slurm`.
#
# The line of a program has its elapsed and CPU seconds. The CPU seconds include the processes that the program has waited for, but not
# daemons. The last lines add up the seconds of each suite, and print how much of the cores the tests used.
#
# On a quiet machine, a program that takes twice its budget counts as a failure. The machine is quiet if a busy loop on each core
# gets at least 85 % of that core, both before the first test and after the last. On other machines, and in a build with sanitizers,
# the budgets are only printed.
#
# A Catch2 program counts its test cases (a case without assertions fails), and a Python program its tests. A line "skipped: REASON"
# counts as one skipped test.
set -u
[ -f "${1:-}/build.ninja" ] || { echo "usage: tests/run.sh BUILD [SUITE...]: BUILD is a folder that cmake has configured" >&2; exit 64; }
build=$(cd "$1" && pwd)
shift
suites=${*:-lint unit contract fuzz multirank faults frameworks gpu slurm}
here=$(cd "$(dirname "$0")" && pwd)
budgets=$here/budgets.txt
default_budget=20
logs=$build/test-logs
mkdir -p "$logs"
totals=$(mktemp -d)
export XDG_STATE_HOME=$totals/state XDG_CONFIG_HOME=$totals/config # the user's settings must not influence the tests
trap 'rm -rf "$totals"' EXIT
child=

budget_of() { # budget_of NAME: prints its seconds and its lane
  awk -v name="$1" -v seconds=$default_budget -v lane=busy '!/^#/ && $3 == name { seconds = $1; lane = $2 } END { print seconds, lane }' "$budgets"
}

programs_of() { # programs_of SUITE: prints the names of its test programs: those in its folder, and test_* in a sub-folder
  local file
  case $1 in
    unit) for file in "$build"/tests/test_unit_*; do [ ! -x "$file" ] || echo "unit/$(basename "$file")"; done ;;
    contract) for file in "$build"/tests/test_contract*; do [ ! -x "$file" ] || echo "contract/$(basename "$file")"; done ;;
    *) for file in "$here/$1"/{,*/test_}*.{py,sh}; do [ ! -f "$file" ] || echo "${file%.*}"; done | sed "s:^$here/::" ;;
  esac
}

cores_are_free() { # fails if a busy loop on each core gets less than 85 % of it
  local core TIMEFORMAT='%R %U'
  for ((core = 0; core < $(nproc); ++core)); do
    { time for ((i = 0; i < 150000; ++i)); do :; done; } 2>&1 &
  done | awk '$2 < 0.85 * $1 { bad = 1 } END { exit bad }'
}

named_failures() { # named_failures LOG: prints the failures of a log in a few lines
  if grep -q '^FAILED' "$1"; then
    grep -A 12 '^FAILED' "$1" | head -n 14
  elif grep -q 'FAILED:$' "$1"; then # Catch2's
    grep -A 4 'FAILED:$' "$1" | head -n 12
  else
    tail -n 6 "$1"
  fi | cut -c 1-300 | sed 's/^/    /'
}

count() { # count NAME LOG EXIT_CODE SECONDS BUDGET CPU_SECONDS: prints the last totals in the log of a program, and its failures
  local name=$1 log=$2 code=$3 seconds=$4 budget=$5 cpu=$6 good bad skip
  skip=$(grep -c '^ *skipped: ' "$log")
  if line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1) && [ -n "$line" ]; then
    read -r good _ bad _ <<<"${line//,/}"
  elif line=$(grep -E '^All tests passed' "$log" | tail -n 1) && [ -n "$line" ]; then
    good=$(sed -E 's/.* in ([0-9]+) test case.*/\1/' <<<"$line") bad=0
    good=$((good - skip)) # Catch2 counts a skipped case as passed
  elif line=$(grep -E '^test cases:' "$log" | tail -n 1) && [ -n "$line" ]; then
    good=$(grep -oE '[0-9]+ passed' <<<"$line" | grep -oE '[0-9]+' || echo 0)
    bad=$(grep -oE '[0-9]+ failed' <<<"$line" | grep -oE '[0-9]+' || echo 0)
  else
    good=0 bad=1
  fi
  [ "$code" = 0 ] || [ "$bad" != 0 ] || bad=1 # it crashed or timed out after it had printed totals
  printf '%-44s %4d passed %3d failed %3d skipped  %4d s (budget %d s, CPU %d s)\n' "$name" "$good" "$bad" "$skip" "$seconds" "$budget" "$cpu"
  grep '^ *skipped: ' "$log" | sed 's/^ */    /'
  if [ "$bad" != 0 ]; then
    grep '^FAILED' "$log"
    tail -n 40 "$log" | sed 's/^/    | /'
    { echo "failed: $name ($log)"; named_failures "$log"; } >>"$totals/failures"
  fi
  echo "$good $bad $skip" >>"$totals/$BASHPID"
  echo "$name $seconds $budget $cpu" >>"$totals/seconds"
}

cpu_between() { # cpu_between FILE FILE: prints the CPU seconds between two outputs of `times` in the same shell
  awk 'FNR == 2 { gsub("[ms]", " "); now = 60 * $1 + $2 + 60 * $3 + $4; used = now - before; before = now } END { printf "%.0f", used }' "$1" "$2"
}

run() { # run NAME BUDGET: runs the program unless another worker has taken it
  local name=$1 budget=$2 code file command log="$logs/${1//\//_}.log" times="$totals/times.$BASHPID"
  mkdir "$totals/taken.${name//\//_}" 2>/dev/null || return 0
  file=$here/$name
  case $name in
    unit/* | contract/*) command=("$build/tests/${name#*/}" -w NoAssertions) ;;
    *) if [ -f "$file.py" ]; then command=(/usr/bin/python3 "$file.py" "$build"); else command=(bash "$file.sh" "$build"); fi ;;
  esac
  SECONDS=0
  times >"$times.before"
  timeout --kill-after=10 1500 "${command[@]}" >"$log" 2>&1 </dev/null &
  child=$!
  wait "$child"
  code=$?
  child=
  times >"$times.after"
  count "$name" "$log" "$code" "$SECONDS" "$budget" "$(cpu_between "$times.before" "$times.after")" >"$totals/text.$BASHPID"
  cat "$totals/text.$BASHPID" # in one call, so that lines of different workers do not mix
}

run_worker() { # run_worker LANE: runs the programs of the lane, then programs of other lanes
  local helps seconds lane name
  trap 'trap "" TERM; [ -z "$child" ] || { kill "$child"; wait "$child"; }; exit 143' TERM
  for helps in no yes; do
    while read -r seconds lane name <&3; do
      if [ "$lane" = "$1" ] || { [ $helps = yes ] && [ "$lane" != slurm ]; }; then run "$name" "$seconds"; fi
    done 3<"$totals/queue"
  done
  return 0
}

# print_budgets SECONDS: prints the seconds, budgets and CPU seconds per suite, how much of the cores the tests used in SECONDS, and each
# program that took more than twice its budget. Fails if there is one.
print_budgets() {
  awk -v seconds="$1" -v cores="$(nproc)" '
       { suite = $1; sub("/.*", "", suite); used[suite] += $2; given[suite] += $3; cpu[suite] += $4; all += $4
         if ($2 > 2 * $3) over[++n] = sprintf("over budget: %s took %d s, more than twice its budget of %d s", $1, $2, $3) }
       END { printf "%-12s %8s %8s %8s\n", "suite", "seconds", "budget", "CPU"
             for (suite in used) printf "%-12s %8d %8d %8d\n", suite, used[suite], given[suite], cpu[suite] | "sort"
             close("sort")
             if (seconds > 0) printf "the tests took %d s and used %.0f %% of %d cores\n", seconds, 100 * all / seconds / cores, cores
             for (i = 1; i <= n; ++i) print over[i]
             exit n > 0 }' "$totals/seconds"
}

for suite in $suites; do programs_of "$suite"; done | while read -r name; do echo "$(budget_of "$name") $name"; done | sort -rn >"$totals/queue"
touch "$totals/seconds"
quiet=no
! grep -q '^TRAINRT_SANITIZE:[A-Z]*=..*' "$build/CMakeCache.txt" && cores_are_free && quiet=yes
workers=
start=$(date +%s)
for lane in slurm waiting waiting waiting busy busy; do
  run_worker "$lane" &
  workers="$workers $!"
done
trap 'kill $workers 2>/dev/null; wait; exit 130' INT TERM
for pid in $workers; do
  wait "$pid" || echo "0 1 0" >>"$totals/0" # a worker that failed
done
seconds=$(($(date +%s) - start))
[ $quiet = no ] || cores_are_free || quiet=no

[ ! -f "$totals/failures" ] || cat "$totals/failures" # repeated here because the log is long
if print_budgets "$seconds"; then
  :
elif [ $quiet = yes ]; then
  echo "0 1 0" >>"$totals/0"
else
  echo "the machine was not quiet, or the build has sanitizers: no failure"
fi
cat "$totals"/[0-9]* 2>/dev/null | {
  passed=0 failed=0 skipped=0
  while read -r good bad skip; do
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip))
  done
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ]
}
