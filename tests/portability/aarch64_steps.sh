#!/usr/bin/env bash
# aarch64_steps.sh: the steps of aarch64.sh, run in the root of the release. Builds with the cross compiler, and runs the unit tests.
set -euo pipefail
build=build-aarch64

# Programs for aarch64 then start as if this machine could run them, also those that the tests start. F: qemu is opened now.
register_qemu() {
  mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
  [ ! -e /proc/sys/fs/binfmt_misc/aarch64 ] || return 0
  local machine='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00' mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
  printf '%s' ":aarch64:M::$machine:$mask:/usr/bin/qemu-aarch64-static:F" >/proc/sys/fs/binfmt_misc/register
}

cmake -S . -B $build -G Ninja -DCMAKE_TOOLCHAIN_FILE=tests/portability/aarch64.cmake -DTRAINRT_TORCH=OFF -DTRAINRT_CUDA=OFF
cmake --build $build --parallel "${JOBS:-$(nproc)}" --target trainrt unit_and_contract
register_qemu
export QEMU_LD_PREFIX=/aarch64
$build/trainrt --version
tests/run.sh $build unit contract
