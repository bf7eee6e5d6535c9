#!/usr/bin/env bash
# Builds and runs everything that needs a GPU, and prints a table.
#   tests/gpu/run.sh [BUILD]           build in BUILD (default: build), and run here
#   tests/gpu/run.sh --pack FOLDER     build, and put programs and the libraries they need into FOLDER
#   tests/gpu/run.sh --from FOLDER     run from such a folder: on a machine that has a driver and nothing else
# NCCL is too large to be carried: it is taken from LD_LIBRARY_PATH, the CUDA toolkit or a Python package (nvidia-nccl).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)

build() { # build BUILD: false if this build knows no GPUs
  [ -f "$1/build.ninja" ] || cmake -S "$source" -B "$1" -G Ninja >/dev/null
  cmake --build "$1" --target help | grep -q '^test_gpu:' || return 1
  cmake --build "$1" --target test_gpu >/dev/null
}

pack() { # pack BUILD FOLDER: what the C library itself consists of stays: it belongs to the system's loader
  mkdir -p "$2/lib"
  cp "$1/tests/test_gpu" "$2/"
  cp "$here/run.sh" "$2/"
  ldd "$2/test_gpu" | awk '$3 ~ /^\// { print $3 }' |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|ld-linux-x86-64)\.so' | while read -r library; do cp -L "$library" "$2/lib/"; done
}

nccl_folders() {
  for folder in /usr/local/cuda/lib64 /usr/lib/x86_64-linux-gnu \
    $(python3 -c 'import glob, sys; print(*[f for p in sys.path for f in glob.glob(p + "/nvidia/nccl/lib")])' 2>/dev/null); do
    [ -e "$folder/libnccl.so.2" ] && printf ':%s' "$folder"
  done
  return 0
}

run() { # run PROGRAM [LIBRARIES]
  local log code=0
  log=$(mktemp)
  LD_LIBRARY_PATH="${2:+$2:}${LD_LIBRARY_PATH:-}$(nccl_folders)" timeout --kill-after=10 540 "$1" -d yes >"$log" 2>&1 || code=$?
  echo "--- $(command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | paste -sd ';' || echo 'no nvidia-smi')"
  # A case that skips says so, and then how long that took.
  awk '/^skipped: / { print; skipped = 1; next }
       /^figure /   { sub(/^figure/, " "); print }
       /^GPU [0-9]/ { print }
       /^[0-9.]+ s: / { if (!skipped) { time = $1; sub(/^[0-9.]+ s: /, ""); print "  " $0 "  (" time " s)" } skipped = 0 }' "$log"
  [ "$code" = 0 ] || cat "$log"
  local cases failed skipped
  cases=$(grep -cE '^[0-9.]+ s: ' "$log" || true)
  failed=$(grep -E '^test cases:' "$log" | grep -oE '[0-9]+ failed' | grep -oE '[0-9]+' || echo 0)
  skipped=$(grep -c '^skipped: ' "$log" || true)
  echo "$((cases - failed - skipped)) passed, $failed failed, $skipped skipped"
  rm -f "$log"
  return "$code"
}

case ${1:-} in
  --pack)
    build "${BUILD:-$source/build}" || { echo "this build knows no GPUs: the CUDA toolkit was not found" >&2; exit 1; }
    pack "${BUILD:-$source/build}" "$2"
    du -sh "$2"
    ;;
  --from) run "$2/test_gpu" "$2/lib" ;;
  *)
    if build "${1:-$source/build}"; then
      run "${1:-$source/build}/tests/test_gpu"
    else
      echo "skipped: no GPU: this build was made without the CUDA toolkit"
      echo "0 passed, 0 failed"
    fi
    ;;
esac
