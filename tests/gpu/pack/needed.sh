#!/usr/bin/env bash
# Checks that an unpacked folder needs no library that the target lacks: each one that a packed file needs is packed, too, or is
# among those that every machine with Python and PyTorch has. Names the first file that needs another.
#   needed.sh UNPACKED
set -eu
cd "$1"
theirs='^(ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libresolv|libstdc\+\+|libgcc_s|libtorch_cpu|libtorch_cuda|libc10|libc10_cuda|libcupti)\.so'
checked=0
for file in build/trainrt build/tests/* build/modules/*.so lib/*.so*; do
  [ -e "$file" ] || continue
  for library in $(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    [ -e "lib/$library" ] || grep -qE "$theirs" <<<"$library" || { echo "FAILED: $file needs $library, which is not packed"; exit 1; }
  done
  checked=$((checked + 1))
done
echo "$checked packed files need nothing that the target lacks"
