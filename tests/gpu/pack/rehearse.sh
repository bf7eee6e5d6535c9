#!/usr/bin/env bash
# Runs a packed folder twice in a clean root: a minimal Debian 13 that has only Python, PyTorch's wheel, h5py and NumPy, without a GPU
# or a network. In the first run all parts must name the missing GPU. In the second run, with TRAINRT_PARTS_ON_CPU, all parts must end:
# they are skipped or have results of the CPU or a fake GPU. Prints a table and exits with 1 if a part failed.
#   rehearse.sh FOLDER
# ONLY=NAME,... runs only these parts. Creates the clean root first (clean_root.sh). Needs the user root.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../../.." && pwd)
folder=$(cd "$1" && pwd)
. "$here/downloads.sh"
limit_s=3600 # for all parts together
slower=12    # factor of all limits of parts, since a CPU is slower than a GPU

in_root() { # in_root COMMAND...: runs it in the clean root, with namespaces, mounts and a host name that disappear when it ends
  timeout --kill-after=20 $((limit_s + 300)) unshare --mount --pid --fork --kill-child --uts --ipc --net bash -c '
    root=$1; shift
    ip link set lo up && hostname clean-root && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
    mount -t tmpfs tmpfs "$root/dev/shm" && mkdir -p "$root/folder" && mount --bind "$FOLDER" "$root/folder" &&
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"' in_root "$root" "$@"
}

for program in unshare chroot ip; do
  command -v "$program" >/dev/null || fail "$program is missing (packages util-linux, coreutils, iproute2)"
done
root=$("$here/clean_root.sh")
mkdir -p "$cache/tmp"
copy=$(mktemp -d "$cache/tmp/folder.XXXXXX")
trap 'rm -rf "$copy"' EXIT
cp "$folder/run.sh" "$folder/packed.tar.xz" "$copy/"
export FOLDER=$copy
progress "running the folder of $(date -r "$folder/packed.tar.xz" "+%Y-%m-%d %H:%M") without changes: it must name the missing GPU"
in_root bash /folder/run.sh --out /folder/skipped --time 120 >"$copy/skipped.log" 2>&1 ||
  { tail -n 20 "$copy/skipped.log" >&2; fail "the folder does not run in a clean root"; }
"$here/needed.sh" "$copy/unpacked"
progress "running all parts on the CPU (limit: $limit_s s); the log is $copy/tried.log until they end"
in_root env TRAINRT_PARTS_ON_CPU=1 TMPDIR=/folder bash /folder/run.sh --out /folder/tried --time "$limit_s" --slower "$slower" ${ONLY:+--only "$ONLY"} 2>&1 |
  tee "$copy/tried.log" | grep --line-buffered -E '^[a-z]+: (done|stopped|skipped|.* exited with)' | while read -r line; do progress "$line"; done
if ! python3 "$here/verdict.py" "$copy/skipped/results.json" "$copy/tried/results.json"; then
  rm -rf "$cache/failed"
  mkdir "$cache/failed"
  cp -r "$copy"/*.log "$copy/tried" "$cache/failed/" || true
  fail "the rehearsal failed; the output of the parts is in $cache/failed"
fi
