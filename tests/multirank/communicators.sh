#!/usr/bin/env bash
# The communicator contract over MPI, 1 to 4 ranks under mpiexec.
build=$1
mpiexec=$(command -v mpiexec.mpich || command -v mpiexec)
passed=0 failed=0
for ranks in 1 2 3 4; do
  if out=$(timeout 200 "$mpiexec" -n $ranks "$build/tests/communicator_contract" 2>&1); then
    echo "ok the contract of a communicator on $ranks ranks: $out" && passed=$((passed + 1))
  else
    echo "FAILED the contract of a communicator on $ranks ranks: $out" && failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
