#!/usr/bin/env bash
# debian.sh RELEASE [FOLDER [COMMAND]]: runs `make quickstart` and `make test`, or COMMAND, in a fresh Debian RELEASE (bookworm, trixie).
#
# mmdebstrap installs the release in FOLDER/RELEASE (default: build/debian), and a later call uses it again. The committed and changed files
# of this tree are checked out in /trainrt there. COMMAND runs in that folder, with its own mounts and processes, which end with it. Its
# output is also written to FOLDER/RELEASE.log. Needs root, the package mmdebstrap, a Debian mirror (DEBIAN_MIRROR=URL for another one), and 15 GB.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
release=${1:-}
[[ $release =~ ^(bookworm|trixie)$ ]] || { echo "usage: debian.sh bookworm|trixie [FOLDER [COMMAND]]" >&2; exit 64; }
root=$(realpath -m "${2:-$source/build/debian}")/$release
# shellcheck source=debian_root.sh
. "$here/debian_root.sh"

need_root
install_release ''
copy_network_settings
copy_tree
run_and_log "${3:-make quickstart && make test}"
