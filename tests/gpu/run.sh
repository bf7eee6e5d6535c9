#!/usr/bin/env bash
# Runs the tests that need a GPU, or packs them for another machine.
#   tests/gpu/run.sh [BUILD]           build test_gpu in BUILD (default: build), run its cases on this machine, and print a table
#   tests/gpu/run.sh --pack FOLDER     pack all parts for a machine with a GPU (tests/gpu/packing.md); BUILD=DIR names another build folder
#   tests/gpu/run.sh --rehearse FOLDER run a packed folder in a clean root, a minimal Debian 13 without a GPU; pack it first if necessary
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
python=$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)

build() { # build BUILD TARGET...: fails if this build does not support GPUs. JOBS is the number of compilers at a time
  local folder=$1
  shift
  [ -f "$folder/build.ninja" ] || cmake -S "$source" -B "$folder" -G Ninja >/dev/null || exit 1
  cmake --build "$folder" --target help | grep -q '^test_gpu:' || return 1
  cmake --build "$folder" --parallel "${JOBS:-$(nproc)}" --target "$@" >"$folder/gpu-build.log" 2>&1 ||
    { tail -n 40 "$folder/gpu-build.log" >&2; echo "error: $* could not be built ($folder/gpu-build.log)" >&2; exit 1; }
}

packs() { # packs BUILD: checks that a packed folder would need no library that the target lacks
  if ! command -v patchelf >/dev/null; then
    echo "skipped: check of the packed folder: patchelf is missing (package patchelf)"
  elif ! "$here/pack/pack.sh" "$1" --check; then
    echo "0 passed, 1 failed"
    return 1
  fi
}

pack() { # pack FOLDER
  local folder=${BUILD:-$source/build}
  echo "building trainrt and test_gpu in $folder"
  build "$folder" trainrt test_gpu || { echo "error: $folder has no test_gpu: the CUDA toolkit or Catch2 (package catch2) is missing" >&2; exit 1; }
  "$here/pack/pack.sh" "$folder" "$1"
}

case ${1:-} in
  --pack | --rehearse)
    [ $# = 2 ] || { echo "usage: tests/gpu/run.sh $1 FOLDER" >&2; exit 64; }
    [ "$1" = --pack ] || make --no-print-directory -C "$source" test-packages
    if [ "$1" = --pack ] || [ ! -e "$2/packed.tar.xz" ] || [ ! -e "$2/run.sh" ]; then pack "$2"; fi
    [ "$1" = --pack ] || "$here/pack/rehearse.sh" "$2"
    ;;
  *)
    folder=${1:-$source/build}
    if build "$folder" test_gpu; then
      "$python" "$here/parts/cases.py" "$folder"
      [ ! -x "$folder/trainrt" ] || packs "$folder"
    else
      echo "skipped: no GPU: this build was made without the CUDA toolkit"
      echo "0 passed, 0 failed"
    fi
    ;;
esac
