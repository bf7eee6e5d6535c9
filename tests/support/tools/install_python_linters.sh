#!/usr/bin/env bash
# install_python_linters.sh BUILD: a virtual environment BUILD/python-linters with the pinned ruff and mypy (40 MB), which tests/lint/python_style.py
# runs. Without PyPI it leaves things as they are: the test prints "skipped: REASON".
set -u
build=$1
requirements=$(cd "$(dirname "$0")/../../lint/requirements" && pwd)/python.txt
python=$build/python-linters
cmp -s "$requirements" "$python/installed" && exit 0
echo "installing ruff and mypy for the tests of the Python package in $python"
rm -rf "$python"
if /usr/bin/python3 -m venv "$python" &&
  "$python/bin/pip" install -q --disable-pip-version-check --timeout 15 --retries 1 --only-binary :all: -r "$requirements"; then
  cp "$requirements" "$python/installed"
else
  echo "PyPI cannot be reached: tests of the style and types of the Python package are skipped"
  rm -rf "$python"
fi
