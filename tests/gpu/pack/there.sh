#!/usr/bin/env bash
# Runs the packed parts on a machine with a GPU; run.sh --pack puts it into the folder as run.sh.
#   run.sh [--time SECONDS] [--only NAME,...] [--out FOLDER] [--slower N]
# Writes tables to the folder of --out, or else to $OUT, or else to ./gpu-results. PYTHON names the python3 that has PyTorch.
# Unpacks the files into the folder of this script, or into $TMPDIR if that folder is not writable.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
unpacked=$here/unpacked
mkdir -p "$unpacked" 2>/dev/null && [ -w "$unpacked" ] || unpacked=$(mktemp -d "${TMPDIR:-/tmp}/trainrt-gpu.XXXXXX")
if [ ! -e "$unpacked/complete" ]; then
  "$python" -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$here/packed.tar.xz" "$unpacked"
  touch "$unpacked/complete"
fi
exec "$python" "$unpacked/tests/gpu/parts/run_parts.py" "$@"
