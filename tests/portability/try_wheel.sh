#!/usr/bin/env bash
# try_wheel.sh BUILD RELEASE [FOLDER]: installs the wheel of `make dist` in a bare Debian RELEASE without a compiler, and prints what works there.
#
# mmdebstrap installs the release (bookworm, trixie, bullseye) with Python in FOLDER/RELEASE, unless it is there; default of FOLDER: a temporary
# folder, which is removed. wheel_steps.sh runs in it. On bookworm, it also installs Slurm. Needs root, mmdebstrap, and the registries of Debian
# and PyPI. Prints one row of a table in Markdown for each step; the exit code is 1 if one fails.
set -eu
[ $# -ge 2 ] || { echo "usage: try_wheel.sh BUILD bookworm|trixie|bullseye [FOLDER]" >&2; exit 64; }
here=$(cd "$(dirname "$0")" && pwd)
wheel=$(find "$1/dist" -maxdepth 1 -name "trainrt-*.whl" 2>/dev/null | sort -V | tail -n 1)
[ -n "$wheel" ] || { echo "skipped: make dist was not run"; exit 0; }
release=$2
folder=${3:-$(mktemp -d)}
[ -n "${3:-}" ] || trap 'rm -rf "$folder"' EXIT
root=$folder/$release

if [ ! -e "$root/usr/bin/python3" ]; then
  unshare --mount mmdebstrap --variant=minbase --include=python3,python3-venv,ca-certificates "$release" "$root" >"$root.log" 2>&1 ||
    { tail -n 5 "$root.log" >&2; exit 1; }
fi
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" # with the certificates that the administrator of this machine has added
rm -rf "$root/root/trial"
mkdir -p "$root/root/trial"
cp "$wheel" "$here/wheel_steps.sh" "$root/root/trial/"

# The processes have their own process IDs and mounts, so that all of them end with the first one.
unshare --mount --pid --ipc --fork --kill-child bash -euc '
  mount --make-rprivate /
  mount --bind "$1" "$1"
  mount -t proc proc "$1/proc"
  mount --rbind /sys "$1/sys"
  mount --rbind /dev "$1/dev"
  mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
  exec chroot "$1" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_DEFAULT_TIMEOUT=180 bash /root/trial/wheel_steps.sh' bash "$root" </dev/null
