#!/usr/bin/env bash
# install_packages.sh LIST...: installs the missing Debian packages of the lists, as root or with sudo. Without either it prints their
# names and fails.
set -eu
missing=()
command -v dpkg-query >/dev/null || {
  echo "install_packages: this system is not Debian; $* lists the packages that are needed"
  exit 0
}
while read -r name; do
  dpkg-query -W -f='${db:Status-Abbrev}' "$name" 2>/dev/null | grep -q '^ii' || missing+=("$name")
done < <(grep -hv '^#' "$@")
[ ${#missing[@]} -gt 0 ] || exit 0

echo "installing ${#missing[@]} missing packages: ${missing[*]}"
as_root=()
if [ "$(id -u)" != 0 ]; then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo)
  elif command -v sudo >/dev/null && [ -t 0 ]; then
    as_root=(sudo)
  else
    echo "neither root nor sudo here. Ask your administrator for: apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
