# Installs a Debian release in a folder, copies this tree to it, and runs commands in it. Sourced by debian.sh and aarch64.sh, which set
# `source` (this tree), `root` (the folder of the release) and `release`.

git_in() { git -c safe.directory='*' -C "$@"; } # the tree may belong to another user than root
fail() { echo "$(basename "$0"): $*" >&2; exit 1; }

need_root() {
  [ "$(id -u)" = 0 ] || fail "only the user root can install Debian in a folder"
  command -v mmdebstrap >/dev/null || fail "mmdebstrap is missing (package mmdebstrap)"
}

# install_release PACKAGES: installs the release with the packages, separated by commas.
install_release() {
  [ ! -e "$root.installed" ] || return 0
  echo "installing Debian $release in $root"
  if [ -e "$root" ]; then # left by an installation that failed
    [ -e "$root.begun" ] || fail "$root exists, and was not created by this script: remove it, or choose another FOLDER"
    rm -rf --one-file-system "$root"
  fi
  mkdir -p "$(dirname "$root")"
  touch "$root.begun"
  # In its own mount namespace, so that the mounts of mmdebstrap disappear when it ends. git is a part of every fresh machine on which
  # someone has cloned trainrt, and `make` is the first command that is then called.
  unshare --mount mmdebstrap --variant=apt --include="ca-certificates,git,make,mount${1:+,$1}" "$release" "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} \
    >"$root.install.log" 2>&1 || { tail -n 5 "$root.install.log" >&2; fail "Debian $release could not be installed ($root.install.log)"; }
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # packages must not start services
  chmod +x "$root/usr/sbin/policy-rc.d"
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
  mv "$root.begun" "$root.installed"
}

# Also copies the certificates that the administrator of this machine has added, without which PyPI may be unreachable.
copy_network_settings() {
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
  chroot "$root" update-ca-certificates >/dev/null 2>&1
}

# Checks out the committed and changed files in /trainrt, so that files that did not change since an earlier call are not compiled again.
copy_tree() {
  local state objects
  objects=$(git_in "$source" rev-parse --path-format=absolute --git-path objects)
  mkdir -p "$root/trainrt.objects"
  cp "$(git_in "$source" rev-parse --path-format=absolute --git-path index)" "$root/trainrt.index"
  # Nothing is written to .git of the source, because files of root there could stop the user's own commands.
  in_source() {
    GIT_OBJECT_DIRECTORY="$root/trainrt.objects" GIT_ALTERNATE_OBJECT_DIRECTORIES=$objects GIT_INDEX_FILE="$root/trainrt.index" \
      git_in "$source" "$@"
  }
  state=$(in_source stash create)
  [ -d "$root/trainrt/.git" ] || git init -q "$root/trainrt"
  in_source push -q -f "$root/trainrt" "${state:-HEAD}:refs/heads/tested"
  git_in "$root/trainrt" checkout -q -f --detach tested
}

# run_in_root COMMAND [UNSHARE_OPTION...]: runs a command in /trainrt. The processes have their own process IDs, so that all of them end with
# the first one.
run_in_root() {
  local command=$1 settings=("HOME=/root" "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "LANG=C.UTF-8" "TERM=dumb") name
  shift
  for name in http_proxy https_proxy no_proxy JOBS; do [ -z "${!name:-}" ] || settings+=("$name=${!name}"); done
  unshare --mount --pid --ipc --fork --kill-child "$@" bash -euc '
    root=$1; shift
    mount --make-rprivate /
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    cd "$root" # not chroot(8), because nsenter, which starts the nodes of minicluster, leaves a changed root
    pivot_root . mnt
    umount -l /mnt
    exec nice env -i "$@"' bash "$root" "${settings[@]}" bash -c "cd /trainrt && $command"
}

# run_and_log COMMAND [UNSHARE_OPTION...]: as run_in_root, with the output also in ROOT.log, and ends this script with the exit code.
run_and_log() {
  local start code=0
  start=$(date +%s)
  run_in_root "$@" </dev/null 2>&1 | tee "$root.log" || code=$?
  echo "Debian $release: exit code $code after $(($(date +%s) - start)) s; log: $root.log"
  exit "$code"
}
