#!/usr/bin/env bash
# Runs the packed parts on a machine with a GPU; run.sh --pack puts it into the folder as run.sh.
#   run.sh [--time SECONDS] [--only NAME,...] [--out FOLDER] [--slower N]
# Tables go to the folder that --out names, else to $OUT, else to ./gpu-results. PYTHON names the python3 that has PyTorch.
# Everything is unpacked beside this file, or into $TMPDIR if this folder cannot be written to.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
place=$here/unpacked
mkdir -p "$place" 2>/dev/null && [ -w "$place" ] || place=$(mktemp -d "${TMPDIR:-/tmp}/trainrt-gpu.XXXXXX")
if [ ! -e "$place/complete" ]; then
  "$python" -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$here/packed.tar.xz" "$place"
  touch "$place/complete"
fi
exec "$python" "$place/tests/gpu/parts/run_parts.py" "$@"
