#!/usr/bin/env bash
# Runs the communicator contract with processes: every backend, with 1 to 5 ranks on 1 to 3 nodes, placed in blocks and round-robin.
# The contract contains the expected bits of every sum, so a pass shows that all layouts give the same bits.
build=$1
mpiexec=$(command -v mpiexec.mpich || command -v mpiexec)
passed=0 failed=0

# launch RANKS WORD... prints the output of the ranks and returns their exit code. If ranks exit at the same time, Hydra sometimes
# aborts with an assertion and loses the output of the ranks, in some cases the assertion, too. launch then starts them again, at
# most three times in all.
launch() {
  local ranks=$1 printed code
  shift
  for _ in 1 2 3; do
    printed=$(timeout 200 "$mpiexec" -n "$ranks" "$build/tests/communicator_contract" "$@" 2>&1)
    code=$?
    [[ -z $printed || $printed == *"control_cb "*"assert (!closed) failed"* ]] || break
  done
  echo "$printed"
  return $code
}

# check RANKS EXPECTED_BACKEND BACKEND NODES [CHECK]
check() {
  local ranks=$1 expected=$2 what
  shift 2
  what="the contract of a communicator on $ranks ranks: ${1:-auto}${2:+, nodes $2}${3:+, checked}"
  if out=$(launch "$ranks" "$@") && [[ $out == *"over $expected: contract kept"* ]]; then
    echo "ok $what" && passed=$((passed + 1))
  else
    echo "FAILED $what (expected backend $expected): $out" && failed=$((failed + 1))
  fi
}
check 1 self auto ''
check 2 node auto ''
check 2 mpi mpi ''
check 2 mpi auto 0,1
check 2 node auto '' check
check 3 mpi mpi ''
check 3 node node ''
check 3 node auto 0,0,1
check 3 node auto 0,1,0
check 3 node auto 0,1,0 check
check 4 node auto 0,0,1,1
check 5 node auto 0,0,0,1,2
check 5 node auto 0,1,2,0,1
# check_in_memory RANKS: the ranks of `trainrt -n` share memory without MPI.
check_in_memory() {
  local what="the contract of a communicator on $1 ranks of trainrt -n, without MPI"
  if out=$(TRAINRT_MPI_LIBRARY=/does/not/exist timeout 200 "$build/trainrt" -n "$1" --program.has_trainer=true --run.name="n$1" \
    --run.storage_path="$runs" -- "$build/tests/communicator_contract" node 2>&1) &&
    [[ $out == *"over node: contract kept"* ]]; then
    echo "ok $what" && passed=$((passed + 1))
  else
    echo "FAILED $what: $out" && failed=$((failed + 1))
  fi
}
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
check_in_memory 2
check_in_memory 5
# check_listed RANKS BACKEND: a backend of `trainrt list all` keeps the contract, or refuses these ranks with a reason.
check_listed() {
  local ranks=$1 backend=$2
  if out=$(launch "$ranks" "$backend") && [[ $out == *": contract kept"* ]] ||
    [[ $out == *"the backend '$backend' cannot be used: "?* ]]; then
    echo "ok $backend is $([[ $out == *kept* ]] && echo tested || echo refused with a reason) on $ranks rank(s)" && passed=$((passed + 1))
  else
    echo "FAILED $backend on $ranks rank(s): $out" && failed=$((failed + 1))
  fi
}
listed=$("$build/trainrt" list all | sed -n '/^communicator backends$/,/^$/s/^  \([a-z_0-9]*\) .*/\1/p')
[ -n "$listed" ] || { echo "FAILED trainrt list all names no backends" && failed=$((failed + 1)); }
for backend in $listed; do
  check_listed 1 "$backend"
  check_listed 3 "$backend"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
