#!/usr/bin/env bash
# Checks that an unpacked folder needs no library that the target machine lacks. Each library that a packed file needs must be packed
# too, or every machine with Python and PyTorch must have it. Prints the first file that needs another library.
#   needed.sh UNPACKED
set -eu
. "$(dirname "$0")/target_libraries.sh"
cd "$1"

is_program() { [ "$(head -c 4 "$1" | tr -d '\0')" = $'\x7fELF' ]; } # also true for a library

checked=0
while IFS= read -r -d '' file; do
  is_program "$file" || continue
  for library in $(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    [ -e "lib/$library" ] || grep -qE "^($system_libraries|$torch_libraries)\.so" <<<"$library" ||
      { echo "FAILED: ${file#./} needs $library, which is not packed"; exit 1; }
  done
  checked=$((checked + 1))
done < <(find . -type f -print0 | sort -z)
[ "$checked" -gt 0 ] || { echo "FAILED: no program or library was found in $1"; exit 1; }
echo "$checked packed files need no library that the target lacks"
