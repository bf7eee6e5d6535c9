#!/usr/bin/env bash
# install_packages.sh LIST...: installs the missing Debian packages of the lists, as root or with sudo. Without either it prints their
# names and fails. A line `a | b` is satisfied by either package; if both are missing, the first that apt offers is installed.
set -eu
missing=()
command -v dpkg-query >/dev/null || {
  echo "install_packages: this system is not Debian; $* lists the packages that are needed"
  exit 0
}

is_installed() { dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null | grep -q '^ii'; }

while IFS=' |' read -r -a names; do
  for name in "${names[@]}"; do if is_installed "$name"; then continue 2; fi; done
  missing+=("${names[*]}")
done < <(grep -hv '^#' "$@")
[ ${#missing[@]} -gt 0 ] || exit 0

first_offered() { # first_offered NAME...: prints the first package that apt can install, or the first name
  local name
  for name in "$@"; do
    if apt-cache policy "$name" 2>/dev/null | grep -q 'Candidate: [0-9]'; then echo "$name" && return; fi
  done
  echo "$1"
}

chosen() { # prints the package to install for each missing line
  local line names=()
  for line in "${missing[@]}"; do names+=("$(first_offered $line)"); done # a line has several words
  echo "${names[*]}"
}

as_root=()
if [ "$(id -u)" != 0 ]; then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo)
  elif command -v sudo >/dev/null && [ -t 0 ]; then
    as_root=(sudo)
  else
    echo "neither root nor sudo here. Ask your administrator for: apt-get install $(chosen)" >&2
    exit 1
  fi
fi
"${as_root[@]}" apt-get update -qq
packages=$(chosen)
echo "installing ${#missing[@]} missing packages: $packages"
# shellcheck disable=SC2086
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
