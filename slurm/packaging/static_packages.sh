#!/usr/bin/env bash
# static_packages.sh FOLDER: puts the archives that link_portable.py needs, and that Debian's development packages of .debian-packages lack,
# into FOLDER. Installs nothing: it downloads Debian packages and sources into FOLDER/downloads, unless they are there. Needs Debian 12.
set -eu
folder=$(mkdir -p "$1" && cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
downloads=$folder/downloads
release=bookworm

grep -q "^VERSION_CODENAME=$release" /etc/os-release || {
  echo "error: make dist needs Debian 12 ($release): the archives of newer releases call functions that slurm/packaging/replaced_functions.c lacks" >&2
  exit 64
}

# apt with its own list of sources and its own folders, so that the machine's configuration does not change.
own_apt() {
  apt-get -qq -o Dir::Etc::sourcelist="$downloads/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$downloads/lists" \
    -o Dir::Cache="$downloads/cache" -o APT::Sandbox::User=root "$@"
}

download() {
  mkdir -p "$downloads/lists/partial" "$downloads/cache/archives/partial"
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $release" | head -n 1) # as the machine's apt
  printf '%s %s %s main\n' deb "$mirror" $release deb-src "$mirror" $release >"$downloads/sources.list"
  cd "$downloads"
  own_apt update
  own_apt download libacl1-dev liblz4-dev libzstd-dev
  own_apt --download-only source fmtlib simdjson libspng xxhash
  for package in ./*.deb; do dpkg -x "$package" packages; done
  for source in ./*.orig.tar.*; do
    tar -xf "$source"
  done
  touch complete
}

# archive NAME COMPILER SOURCE OPTION...: compiles one file of downloads/ and makes or extends the archive NAME.
archive() {
  local name=$1 compiler=$2 source=$3
  shift 3
  local object=$folder/${name%.a}.o
  # $source is a pattern, since the names of folders contain versions
  [ "$object" -nt "$here/static_packages.sh" ] || "$compiler" -O2 -DNDEBUG -fPIC "$@" -c "$downloads"/$source -o "$object"
  ar rs "$folder/$name" "$object" 2>/dev/null
}

[ -e "$downloads/complete" ] || download
cp "$downloads"/packages/usr/lib/*/lib{acl,lz4,zstd}.a "$folder"
cp "$(gcc -print-file-name=libxxhash.a)" "$folder"
archive libxxhash.a gcc 'xxHash-*/xxh_x86dispatch.c' # Debian has it in the shared library only
archive libfmt.a g++ 'fmtlib-*/src/format.cc' -std=c++20
archive libsimdjson.a g++ 'simdjson-*/singleheader/simdjson.cpp' -std=c++17
archive libspng.a gcc 'libspng-*/spng/spng.c'
for file in replaced_functions program_start; do
  gcc -O2 -fPIC -fvisibility=hidden -Wall -Wextra -c "$here/$file.c" -o "$folder/$file.o"
done
