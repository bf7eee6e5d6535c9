# Downloads wheels from PyPI. torch_module.sh and clean_root.sh source this file. Complete downloads are kept and used again.
# `source` is the folder of this project. TRAINRT_GPU_CACHE names another folder for downloads and unpacked files.
cache=${TRAINRT_GPU_CACHE:-$source/build-gpu-cache}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
download_limit_s=1800 # of one call of pip
wheel_platforms=(--platform manylinux2014_x86_64)
for number in {5..40}; do wheel_platforms+=(--platform "manylinux_2_${number}_x86_64"); done # pip compares the names of platforms literally

progress() { echo "[$(date +%H:%M:%S)] $*" >&2; }
fail() { echo "error: $*" >&2; exit 1; }

lock_cache() { # locks the cache until this script ends, since only one script at a time may change it
  exec 9>"$cache/lock"
  flock --nonblock 9 || { progress "waiting for another script that uses $cache"; flock --timeout 3600 9 || fail "another script has used $cache for an hour"; }
}

pip_of() { # prints the name of the python3 that has pip
  local python
  for python in python3 /usr/bin/python3; do
    "$python" -m pip --version >/dev/null 2>&1 && { echo "$python"; return; }
  done
  fail "pip is missing (package python3-pip)"
}

need_free_gib() { # need_free_gib GIB FOLDER: fails if FOLDER has less free space
  local free=$(($(df -Pk "$2" | awk 'NR == 2 { print $4 }') >> 20))
  [ "$free" -ge "$1" ] || fail "$2 has $free GiB free, $1 GiB are needed; TRAINRT_GPU_CACHE names another folder"
}

download_wheels() { # download_wheels PYTHON_VERSION NAME==VERSION...: downloads them by one call of pip into $cache/wheels-PYTHON_VERSION
  local version=$1 python folder=$cache/wheels-$1 complete
  shift
  complete=$folder/$(sha256sum <<<"$*" | cut -c 1-16).complete
  [ ! -e "$complete" ] || return 0
  python=$(pip_of)
  mkdir -p "$folder"
  progress "downloading for Python $version: $*"
  timeout "$download_limit_s" "$python" -m pip download --quiet --no-deps --no-cache-dir --only-binary=:all: --implementation cp \
    --python-version "$version" "${wheel_platforms[@]}" -d "$folder" "$@" </dev/null >"$folder/log" 2>&1 || {
    tail -n 3 "$folder/log" >&2
    fail "not downloaded: $*. Check that this machine reaches PyPI and run the same command again, or run it on a machine with a network and copy $folder"
  }
  touch "$complete"
}
