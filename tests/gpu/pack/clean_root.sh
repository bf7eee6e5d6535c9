#!/usr/bin/env bash
# Creates a clean root in the cache of downloads.sh and prints its path. A clean root is a minimal Debian 13 with its Python 3.13,
# PyTorch's wheel, NumPy, h5py and Pillow, and without files of this project. Continues a call that was stopped. Needs 11 GiB, some
# minutes, the user root, and debootstrap.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../../.." && pwd)
. "$here/downloads.sh"
root=$cache/root
python_version=3.13
packages=$root/usr/local/lib/python$python_version/dist-packages
debian_limit_s=1800
needed_gib=11

make_debian() {
  [ ! -e "$root.debian" ] || return 0
  command -v debootstrap >/dev/null || fail "debootstrap is missing (package debootstrap)"
  progress "clean root: unpacking Debian 13 (0.3 GB)"
  rm -rf "$root"
  mkdir -p "$root" "$cache/packages"
  # In a separate mount namespace, so that the mounts of debootstrap disappear when it ends.
  timeout "$debian_limit_s" unshare --mount debootstrap --variant=minbase --include=python3 --cache-dir="$cache/packages" \
    trixie "$root" >"$cache/debootstrap.log" 2>&1 || {
    tail -n 3 "$cache/debootstrap.log" >&2
    fail "Debian 13 could not be unpacked ($cache/debootstrap.log): check that this machine reaches a Debian mirror, then run the same command again"
  }
  echo "127.0.0.1 localhost clean-root" >"$root/etc/hosts"
  touch "$root.debian"
}

install_packages() {
  [ ! -e "$root.packages" ] || return 0
  local line requirements
  while read -r -a line; do download_wheels "$python_version" "${line[@]}"; done <"$here/root_packages.txt"
  mapfile -t requirements < <(tr ' ' '\n' <"$here/root_packages.txt")
  progress "clean root: installing ${#requirements[@]} Python packages (6 GB)"
  rm -rf "$packages"
  mkdir -p "$packages" "$cache/tmp"
  TMPDIR=$cache/tmp "$(pip_of)" -m pip install --quiet --no-compile --no-index --no-deps --find-links "$cache/wheels-$python_version" \
    --only-binary=:all: --python-version "$python_version" "${wheel_platforms[@]}" --target "$packages" "${requirements[@]}" \
    >"$cache/install.log" 2>&1 || { tail -n 3 "$cache/install.log" >&2; fail "the Python packages could not be installed ($cache/install.log)"; }
  touch "$root.packages"
}

[ "$(id -u)" = 0 ] || fail "only the user root can create a clean root"
lock_cache
if [ ! -e "$root.debian" ] || [ ! -e "$root.packages" ]; then need_free_gib "$needed_gib" "$cache"; fi
make_debian
install_packages
echo "$root"
