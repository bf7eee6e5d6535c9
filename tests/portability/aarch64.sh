#!/usr/bin/env bash
# aarch64.sh [FOLDER [COMMAND]]: builds trainrt for aarch64 with Debian's cross compiler, and runs the unit tests with qemu-aarch64.
#
# mmdebstrap installs Debian 12 with the compiler and qemu in FOLDER/aarch64 (default: build/debian), and the libraries for aarch64 in /aarch64 there.
# A later call uses both again. COMMAND replaces aarch64_steps.sh, which builds and tests. Needs root, the package mmdebstrap, a Debian mirror
# (DEBIAN_MIRROR=URL for another one), 5 GB, and Linux 6.7 or newer: binfmt_misc of a user namespace starts qemu for each program for aarch64,
# without a change of this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
release=bookworm
root=$(realpath -m "${1:-$source/build/debian}")/aarch64
# shellcheck source=debian_root.sh
. "$here/debian_root.sh"

# Extracts the packages for aarch64: their scripts, which would run programs for aarch64, are not needed for headers and libraries.
install_libraries() {
  [ ! -e "$root.libraries" ] || return 0
  echo "installing the libraries for aarch64 in $root/aarch64"
  rm -rf --one-file-system "$root/aarch64"
  local packages
  packages=$(grep -- '-dev$' "$source/.debian-packages" | grep -v torch | paste -sd,)
  unshare --mount mmdebstrap --variant=extract --architectures=arm64 --include="$packages,catch2,libc6-dev,libstdc++-12-dev" "$release" "$root/aarch64" \
    ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$root.libraries.log" 2>&1 ||
    { tail -n 5 "$root.libraries.log" >&2; fail "the libraries could not be installed ($root.libraries.log)"; }
  rm -rf "$root"/aarch64/{dev,etc,tmp,var} # qemu prefers files in this folder to those of the system
  touch "$root.libraries"
}

need_root
install_release cmake,ninja-build,pkg-config,g++-aarch64-linux-gnu,protobuf-compiler,qemu-user-static,python3
install_libraries
copy_network_settings
copy_tree
run_and_log "${2:-tests/portability/aarch64_steps.sh}" --user --map-root-user
