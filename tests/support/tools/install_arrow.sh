#!/usr/bin/env bash
# install_arrow.sh BUILD: makes a virtual environment BUILD/arrow-python with the pinned pyarrow (250 MB), with which tests write Parquet
# and Arrow files. A build without Apache Arrow also gets the module arrow.so from it. Without PyPI it changes nothing, and the tests
# that need it print "skipped: REASON".
set -u
build=$1
tools=$(cd "$(dirname "$0")" && pwd)
python=$build/arrow-python
"$tools/install_python_packages.sh" "$python" "$tools/../../frameworks/requirements/arrow.txt" "Parquet files"
[ -x "$python/bin/python" ] || exit 0
grep -q '^TRAINRT_ARROW_FOUND:INTERNAL=/' "$build/CMakeCache.txt" && exit 0
root=$("$python/bin/python" -c 'import pyarrow; print(pyarrow.__path__[0])') && exec cmake -S . -B "$build" -DARROW_ROOT="$root" >"$build/arrow.log"
