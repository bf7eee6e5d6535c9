#!/usr/bin/env bash
# aarch64_steps.sh: the steps of aarch64.sh, run in the root of the release. Builds with the cross compiler, runs the unit and contract tests, and
# trains the function linear on 2 ranks. Prints the digest of the trained weights, to compare it with that of another machine.
set -euo pipefail
build=build-aarch64
failed=0

# Registers qemu with the kernel. Programs for aarch64, also those that the tests start, then start as if this machine could run them.
register_qemu() {
  mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc || { echo "Linux 6.7 or newer is required: binfmt_misc of a user namespace" >&2; exit 1; }
  local machine='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00' mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
  printf '%s' ":aarch64:M::$machine:$mask:/usr/bin/qemu-aarch64-static:F" >/proc/sys/fs/binfmt_misc/register
}

# Prints the names of test cases that do not work with qemu, each with the reason.
not_with_qemu() {
  echo "only the requested part of a buffer takes memory, and earlier parts keep it|qemu ignores madvise(2)"
  echo "the resources of a child count once, while it runs and after it has ended|qemu ignores MAP_POPULATE"
  echo "resources used since the start of the process count if the attempt began with it|qemu has no times in /proc/self/stat"
  echo "if a rank is killed while it reads a unit, another rank reads it again without waiting|qemu has no times in /proc/self/stat"
  echo "a store removes directories of exited processes and keeps those of running and unknown ones|qemu has no times in /proc/self/stat"
}

run_tests() { # run_tests PROGRAM
  local name filters=() log=$1.log name reason
  while IFS='|' read -r name reason; do
    if "$1" --list-test-names-only | grep -qxF "$name"; then
      echo "  skipped: $name: $reason"
      filters+=("~$name")
    fi
  done < <(not_with_qemu)
  timeout 1200 "$1" "${filters[@]}" >"$log" 2>&1 || { failed=1; grep -A 4 'FAILED:$' "$log" || tail -n 5 "$log"; }
  echo "$(basename "$1"): $(grep -E '^(All tests passed|test cases:)' "$log" || echo "does not end")"
}

train() {
  local folder
  folder=$(mktemp -d)
  printf '[run]\nname = run\nstorage_path = %s\nseed = 7\n[train]\nfunction = linear\n[loop]\nepochs = 3\n[data.train]\nformat = synthetic\nsamples = 640\n' \
    "$folder" >"$folder/run.ini"
  $build/trainrt -n 2 --config "$folder/run.ini" || { failed=1; return 0; }
  $build/trainrt export "$folder/run" -o "$folder/weights.npz"
  echo "digest of the weights: $(sha256sum <"$folder/weights.npz")"
}

cmake -S . -B $build -G Ninja -DCMAKE_TOOLCHAIN_FILE=tests/portability/aarch64.cmake -DTRAINRT_TORCH=OFF -DTRAINRT_CUDA=OFF
cmake --build $build --parallel "${JOBS:-$(nproc)}" --target trainrt unit_and_contract
register_qemu
export QEMU_LD_PREFIX=/aarch64
$build/trainrt --version
for program in "$build"/tests/test_unit_* "$build"/tests/test_contract*; do
  [[ $program == *.log ]] || run_tests "$program"
done
train
exit $failed
