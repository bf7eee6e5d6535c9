#!/usr/bin/env bash
# dist.sh BUILD: makes BUILD/dist/trainrt-VERSION-linux-x86_64.tar.xz and a wheel from a build with the module arrow.so.
# Called by `make dist`.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "$here/../../src/python/trainrt/_version.py")
work=$build/dist/work
targets=(trainrt modules/h5_examiner modules/trees.so modules/arrow.so)
arrow=$(sed -n 's/^TRAINRT_ARROW_FOUND:INTERNAL=//p' "$build/CMakeCache.txt")
[ -f "$build/modules/arrow.so" ] && [ -n "$arrow" ] || {
  echo "error: $build has no module arrow.so, which reads Parquet files: build it with -DARROW_ROOT=FOLDER of PyPI's pyarrow" >&2
  exit 64
}
rm -rf "$work/portable"
mkdir -p "$work/portable"
"$here/static_packages.sh" "$work/static"
python3 "$here/old_libraries.py" "$work/old"
python3 "$here/link_portable.py" "$build" "$work/static" "$work/old" "$work/portable" "${targets[@]}"
python3 "$here/licences.py" "$build" "$arrow" "$work/portable/licences" "${targets[@]}"
for library in libarrow libparquet; do # the module arrow.so finds them in ../lib
  cp "$(dirname "$arrow")/$library".so.* "$work/portable"
  strip "$work/portable/$library".so.*
done
cmake --build "$build" --target python_wheel
python3 "$here/pack.py" "$build" "$work/portable" "$version" "$build/dist"
