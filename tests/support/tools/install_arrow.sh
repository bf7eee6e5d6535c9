#!/usr/bin/env bash
# install_arrow.sh BUILD: a virtual environment BUILD/arrow-python with the pinned pyarrow (250 MB), which tests write Parquet and
# Arrow files with; and a build without Apache Arrow gets the module arrow.so from it. Without PyPI it leaves things as they are: the
# tests that need it print "skipped: REASON".
set -u
build=$1
requirements=$(cd "$(dirname "$0")/../../frameworks/requirements" && pwd)/arrow.txt
python=$build/arrow-python
if ! cmp -s "$requirements" "$python/installed"; then
  echo "installing pyarrow for the tests of Parquet files in $python"
  rm -rf "$python"
  if /usr/bin/python3 -m venv "$python" &&
    "$python/bin/pip" install -q --disable-pip-version-check --timeout 15 --retries 1 --only-binary :all: -r "$requirements"; then
    cp "$requirements" "$python/installed"
  else
    echo "PyPI cannot be reached: tests of Parquet files are skipped"
    rm -rf "$python"
    exit 0
  fi
fi
grep -q '^TRAINRT_ARROW_FOUND:INTERNAL=/' "$build/CMakeCache.txt" && exit 0
root=$("$python/bin/python" -c 'import pyarrow; print(pyarrow.__path__[0])') && exec cmake -S . -B "$build" -DARROW_ROOT="$root" >"$build/arrow.log"
