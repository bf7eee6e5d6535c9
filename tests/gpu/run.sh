#!/usr/bin/env bash
# Runs what needs a GPU.
#   tests/gpu/run.sh [BUILD]           build test_gpu in BUILD (default: build), run its cases here, and print a table
#   tests/gpu/run.sh --pack FOLDER     pack all parts for a machine with a GPU (tests/README.md); BUILD=DIR names another build folder
#   tests/gpu/run.sh --rehearse FOLDER run that folder in a clean root, a minimal Debian 13 without a GPU
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
python=$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)

build() { # build BUILD TARGET...: false if this build knows no GPUs
  local folder=$1
  shift
  [ -f "$folder/build.ninja" ] || cmake -S "$source" -B "$folder" -G Ninja >/dev/null
  cmake --build "$folder" --target help | grep -q '^test_gpu:' || return 1
  cmake --build "$folder" --target "$@" >/dev/null
}

packs() { # packs BUILD: what would be packed needs no library that the target lacks
  if ! command -v patchelf >/dev/null; then
    echo "skipped: what would be packed: patchelf is missing (package patchelf)"
  elif ! "$here/pack/pack.sh" "$1" --check; then
    echo "0 passed, 1 failed"
    return 1
  fi
}

case ${1:-} in
  --pack)
    folder=${BUILD:-$source/build}
    build "$folder" trainrt test_gpu || { echo "this build knows no GPUs: the CUDA toolkit was not found" >&2; exit 1; }
    "$here/pack/pack.sh" "$folder" "$2"
    ;;
  --rehearse) "$here/pack/rehearse.sh" "$2" ;;
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
