#!/usr/bin/env bash
# install_python_packages.sh FOLDER REQUIREMENTS TESTS: makes a virtual environment FOLDER with the pinned packages of the file REQUIREMENTS.
# TESTS is the name of the tests in messages. Does nothing if FOLDER has them. Without PyPI it removes FOLDER: the tests print "skipped: REASON".
set -u
folder=$1 requirements=$2 tests=$3
cmp -s "$requirements" "$folder/installed" && exit 0
echo "installing Python packages for the tests of $tests in $folder"
rm -rf "$folder"
if /usr/bin/python3 -m venv "$folder" &&
  "$folder/bin/pip" install -q --disable-pip-version-check --timeout 15 --retries 1 --only-binary :all: -r "$requirements"; then
  cp "$requirements" "$folder/installed"
else
  echo "PyPI cannot be reached: tests of $tests are skipped"
  rm -rf "$folder"
fi
