#!/usr/bin/env bash
# Packs all files that the parts need into a folder. The folder runs on a machine with a GPU and PyTorch, without an installed trainrt.
#   pack.sh BUILD FOLDER
#   pack.sh BUILD --check    collects the same files except the torch module, and only checks which libraries they need
# BUILD must contain the program and test_gpu. torch_module.sh builds the torch module. Needs patchelf.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../../.." && pwd)
. "$here/target_libraries.sh"
build=$(cd "$1" && pwd)
max_mib=48

copy_programs() { # copy_programs TO: copies the programs and scripts
  mkdir -p "$1/build/modules" "$1/build/tests" "$1/build/bench" "$1/data"
  cp "$build/trainrt" "$1/build/"
  cp "$build/modules/h5_examiner" "$1/build/modules/"
  cp "$build/tests/test_gpu" "$1/build/tests/"
  cp "$build/tests/kernel_trace.so" "$1/build/tests/" 2>/dev/null || echo "without traces of kernels: the CUDA toolkit has no CUPTI" >&2
  [ "$check_only" = yes ] || cp "$torch_module/torch.so" "$torch_module/torch.json" "$1/build/modules/"
  cp -r "$build/python" "$1/build/"
  mkdir -p "$1/tests/gpu"
  cp -r "$here/../parts" "$here/../scripts" "$1/tests/gpu/"
  (cd "$source" && find tests/bench tests/support -name '*.py' -exec cp --parents {} "$1" \;)
  find "$1" -name __pycache__ -prune -exec rm -rf {} +
}

copy_data() { # copy_data TO: copies the 10,000 test images of FashionMNIST, for training and for evaluation
  local from=/usr/share/datasets/fashion-mnist part
  [ -d "$from" ] || { echo "FashionMNIST is not installed (package dataset-fashion-mnist)" >&2; return 1; }
  for part in images-idx3 labels-idx1; do
    cp "$from/t10k-$part-ubyte.gz" "$1/data/"
    ln -s "t10k-$part-ubyte.gz" "$1/data/train-$part-ubyte.gz"
  done
}

copy_libraries() { # copy_libraries TO: copies the linked libraries that the target lacks, and lets the programs find them in the packed folder
  local program library
  mkdir -p "$1/lib"
  for program in "$1/build/trainrt" "$1/build/modules/h5_examiner" "$1/build/tests/test_gpu"; do
    ldd "$program" | awk '$3 ~ /^\// { print $3 }' | grep -vE "/($system_libraries)\.so" | while read -r library; do
      [ -e "$1/lib/${library##*/}" ] || cp -L "$library" "$1/lib/"
    done
  done
  chmod u+w "$1"/lib/*
  strip --strip-unneeded "$1"/lib/*.so* "$1"/build/trainrt "$1"/build/modules/h5_examiner "$1"/build/tests/*
  for library in "$1"/lib/*.so*; do patchelf --set-rpath '$ORIGIN' "$library"; done
  # DT_RUNPATH would not apply to libraries that other libraries need, so these files get DT_RPATH.
  patchelf --force-rpath --set-rpath '$ORIGIN/../lib' "$1/build/trainrt"
  patchelf --force-rpath --set-rpath '$ORIGIN/../../lib' "$1/build/tests/test_gpu" "$1/build/modules/h5_examiner"
  [ "$check_only" = yes ] && return
  strip --strip-unneeded "$1/build/modules/torch.so"
  patchelf --set-rpath '$ORIGIN/../../lib' "$1/build/modules/torch.so" # it finds PyTorch's libraries by LD_LIBRARY_PATH
}

command -v patchelf >/dev/null || { echo "patchelf is missing (package patchelf)" >&2; exit 1; }
check_only=no
[ "$2" != --check ] || check_only=yes
[ "$check_only" = yes ] || torch_module=$("$here/torch_module.sh" "$build")
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
copy_programs "$staging"
[ "$check_only" = yes ] || copy_data "$staging"
copy_libraries "$staging"
"$here/needed.sh" "$staging"
[ "$check_only" = no ] || exit 0
mkdir -p "$2"
folder=$(cd "$2" && pwd)
tar -C "$staging" -c . | xz -4 -T0 >"$folder/packed.tar.xz.new"
mv "$folder/packed.tar.xz.new" "$folder/packed.tar.xz"
cp "$here/there.sh" "$folder/run.sh"
mib=$(($(du -sk "$folder" | cut -f 1) / 1024 + 1))
echo "$folder: $mib MiB"
[ "$mib" -le "$max_mib" ] || { echo "the folder has $mib MiB, $max_mib MiB are allowed" >&2; exit 1; }
