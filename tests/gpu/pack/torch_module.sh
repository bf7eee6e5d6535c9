#!/usr/bin/env bash
# Builds the torch module with PyPI's wheel of PyTorch 2.11 with CUDA 13 for Python 3.12, and prints the folder of the module.
#   torch_module.sh BUILD
# Downloads the wheel once, unless TRAINRT_TORCH_WHEEL names its file. The module is built in BUILD-gpu.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../../.." && pwd)
. "$here/downloads.sh"
build=$1-gpu
requirement=torch==2.11.0
python_version=3.12
headers=$cache/torch-$python_version # headers and libraries of PyTorch; the module stores only the names of the libraries

unpack_torch() {
  [ ! -e "$headers/complete" ] || return 0
  need_free_gib 4 "$cache"
  local wheel=${TRAINRT_TORCH_WHEEL:-}
  if [ -z "$wheel" ]; then
    (download_wheels "$python_version" "$requirement") || fail "PyTorch's wheel is missing; TRAINRT_TORCH_WHEEL can name its file"
    wheel=$(ls "$cache/wheels-$python_version"/torch-*.whl)
  fi
  [ -f "$wheel" ] || fail "PyTorch's wheel '$wheel' does not exist (TRAINRT_TORCH_WHEEL)"
  progress "unpacking ${wheel##*/}"
  rm -rf "$headers"
  python3 - "$wheel" "$headers" <<'END' || fail "$wheel could not be unpacked"
import re, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
needed = re.compile(r"torch/(include/|lib/lib(torch_cpu|torch_cuda|c10|c10_cuda)\.so)")
wheel.extractall(sys.argv[2], [name for name in wheel.namelist() if needed.match(name)])
END
  [ -e "$headers/torch/lib/libtorch_cuda.so" ] || fail "$wheel has no CUDA: it must be PyPI's torch 2.11 for Linux on x86-64"
  touch "$headers/complete"
}

(lock_cache && unpack_torch)
progress "building the torch module in $build"
mkdir -p "$build"
log=$build/torch-module.log
[ -f "$build/build.ninja" ] ||
  cmake -S "$source" -B "$build" -G Ninja -DTORCH_ROOT="$headers/torch" -DTRAINRT_TESTS=OFF -DTRAINRT_PCH=OFF >"$log" 2>&1 ||
  { tail -n 20 "$log" >&2; fail "cmake failed ($log)"; }
cmake --build "$build" --parallel "${JOBS:-$(nproc)}" --target trainrt_torch >"$log" 2>&1 ||
  { tail -n 40 "$log" >&2; fail "the torch module could not be built ($log)"; }
echo "$build/modules"
