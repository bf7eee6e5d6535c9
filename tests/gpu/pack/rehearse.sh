#!/usr/bin/env bash
# Runs a packed folder in a clean root: a minimal Debian 13 with Python, PyTorch's wheel, h5py and NumPy, and nothing else. All parts
# must start, find their libraries, and end as skipped or with a result of the CPU; and a GPU that is missing must be named.
#   rehearse.sh FOLDER [ROOT]
# ROOT (default: rehearsal-root beside FOLDER) is made once, from Debian's packages and PyPI: 6 GB, some minutes. Needs root and debootstrap.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "$1" && pwd)
root=${2:-$folder/../rehearsal-root}
only=${ONLY:-cases,programs,restarts,reduce,checkpoint,ddp,data} # `train` computes too much for a CPU

make_root() {
  [ ! -e "$root/complete" ] || return 0
  command -v debootstrap >/dev/null || { echo "debootstrap is missing (package debootstrap)" >&2; exit 1; }
  debootstrap --variant=minbase --include=python3 trixie "$root" http://deb.debian.org/debian >/dev/null
  local platforms=(--platform manylinux2014_x86_64) number
  for number in {5..40}; do platforms+=(--platform "manylinux_2_${number}_x86_64"); done # pip compares them literally
  python3 -m pip install --quiet --no-compile --no-cache-dir --only-binary=:all: --python-version 3.13 "${platforms[@]}" \
    --target "$root/usr/local/lib/python3.13/dist-packages" torch==2.11.0 numpy h5py pillow
  touch "$root/complete"
}

in_root() { # in_root COMMAND...: with /proc, /dev and a /dev/shm of its own, which vanish with it
  unshare --mount --pid --fork bash -c '
    root=$1; shift
    mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && mount -t tmpfs tmpfs "$root/tmp" && mkdir -p "$root/folder" &&
    mount --bind "$FOLDER" "$root/folder" && exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"' in_root "$root" "$@"
}

make_root
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp "$folder/run.sh" "$folder/packed.tar.xz" "$copy/"
export FOLDER=$copy
failed=0
in_root bash /folder/run.sh --out /folder/skipped --time 60 >"$copy/log" 2>&1 || failed=1
grep -q 'skipped: no GPU' "$copy/skipped/results.md" || { echo "FAILED: the missing GPU is not named"; failed=1; }
"$here/needed.sh" "$copy/unpacked" || failed=1
in_root env TRAINRT_PARTS_ON_CPU=1 bash /folder/run.sh --out /folder/tried --time 1200 --only "$only" >>"$copy/log" 2>&1 || failed=1
cat "$copy/tried/results.md" || failed=1
if grep -qE '\*\*failed\*\*|exited with|stopped after' "$copy/tried/results.md"; then failed=1; fi
[ "$failed" = 0 ] && echo "the folder runs in a clean root" || { tail -n 60 "$copy/log" "$copy/tried/log.txt" && echo "FAILED: see above"; }
exit "$failed"
