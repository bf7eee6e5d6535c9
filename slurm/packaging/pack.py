#!/usr/bin/env python3
"""pack.py BUILD PORTABLE VERSION OUTPUT: packs a build for systems without its libraries, as a tarball and as a wheel.

PORTABLE has the program and the modules that link_portable.py linked, and the licences of their libraries. The tarball and the wheel contain the same
files below their prefix. The prefix of the wheel is the virtual environment into which pip installs it."""

import base64
import csv
import glob
import hashlib
import io
import os
import shutil
import stat
import subprocess
import sys
import zipfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TAG = "py3-none-manylinux_2_28_x86_64"
PYTHON = "lib/trainrt/python"  # where the program looks for the Python package; in the wheel, it is an ordinary package instead


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_tree(build, portable, version, tree):
    """Installs the build in `tree`, with the portable program and modules."""
    shutil.rmtree(tree, ignore_errors=True)
    prefix = f"/opt/trainrt-{version}"  # written to the module file
    subprocess.run(["cmake", "--install", build, "--prefix", prefix, "--component", "Unspecified"], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "DESTDIR": tree + ".root"})
    os.rename(tree + ".root" + prefix, tree)
    shutil.rmtree(tree + ".root")
    modules = os.path.join(tree, "lib/trainrt/modules")
    for module in glob.glob(f"{modules}/torch.*"):
        os.remove(module)
    shutil.copy(os.path.join(portable, "trainrt"), os.path.join(tree, "bin"))
    for name in ("h5_examiner", "trees.so", "arrow.so"):
        shutil.copy(os.path.join(portable, name), modules)
    os.makedirs(os.path.join(tree, "lib/trainrt/lib"))
    for library in glob.glob(f"{portable}/lib*.so.*"):
        shutil.copy(library, os.path.join(tree, "lib/trainrt/lib"))
    shutil.copytree(os.path.join(SOURCE, "include/trainrt"), os.path.join(tree, "include/trainrt"))
    shutil.copytree(os.path.join(portable, "licences"), os.path.join(tree, "share/doc/trainrt/licences"))
    lines = read("src/trainrt.pc.in").replace("@PROJECT_VERSION@", version).splitlines()
    write(os.path.join(tree, "lib/pkgconfig/trainrt.pc"), "".join(line + "\n" for line in lines if not line.startswith("Libs")))


def files_of(tree):
    """Returns the paths of the files below `tree`, sorted."""
    return sorted(os.path.relpath(os.path.join(folder, name), tree) for folder, _, names in os.walk(tree) for name in names)


def write_tarball(tree, path, version):
    subprocess.run(["tar", "--use-compress-program=xz -T0 -6", "--sort=name", "--mtime=@0", "--owner=root:0", "--group=root:0", "-cf", os.path.abspath(path),
                    f"trainrt-{version}"], cwd=os.path.dirname(tree), check=True)


class Wheel:
    """Writes a wheel to `path`. close() adds RECORD, the list of all files with their digests."""

    def __init__(self, path, version):
        self._info = f"trainrt-{version}.dist-info"
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self._record = []

    def add(self, name, content, is_program=False):
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (stat.S_IFREG | (0o755 if is_program else 0o644)) << 16
        self._zip.writestr(entry, content, compresslevel=9)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self._record.append((name, f"sha256={digest}", len(content)))

    def add_information(self, name, text):
        self.add(f"{self._info}/{name}", text.encode())

    def close(self):
        rows = io.StringIO()
        csv.writer(rows, lineterminator="\n").writerows([*self._record, (f"{self._info}/RECORD", "", "")])
        self._zip.writestr(f"{self._info}/RECORD", rows.getvalue())
        self._zip.close()


def place_in_wheel(file, version):
    """Returns the name that a file of the tree gets in the wheel."""
    data = f"trainrt-{version}.data"
    if file.startswith(PYTHON + "/"):
        return file[len(PYTHON) + 1:]
    if file.startswith("bin/"):
        return f"{data}/scripts/{file[4:]}"
    return f"{data}/data/{file}"


def write_wheel(build, tree, path, version):
    """Writes the wheel. Its name, description and optional dependencies are those of `make wheel`."""
    python_only = sorted(glob.glob(os.path.join(build, "wheel", "trainrt-*.whl")))[-1]
    with zipfile.ZipFile(python_only) as other:
        metadata = other.read(f"trainrt-{version}.dist-info/METADATA").decode()
    wheel = Wheel(path, version)
    for file in files_of(tree):
        full = os.path.join(tree, file)
        with open(full, "rb") as content:
            wheel.add(place_in_wheel(file, version), content.read(), os.access(full, os.X_OK))
    wheel.add_information("METADATA", metadata)
    wheel.add_information("WHEEL", f"Wheel-Version: 1.0\nGenerator: trainrt\nRoot-Is-Purelib: false\nTag: {TAG}\n")
    wheel.close()


def main():
    build, portable, version, output = sys.argv[1:5]
    os.makedirs(output, exist_ok=True)
    tree = os.path.join(os.path.abspath(output), f"trainrt-{version}")
    tarball = os.path.join(output, f"trainrt-{version}-linux-x86_64.tar.xz")
    wheel = os.path.join(output, f"trainrt-{version}-{TAG}.whl")
    make_tree(build, os.path.abspath(portable), version, tree)
    write_tarball(tree, tarball, version)
    write_wheel(build, tree, wheel, version)
    shutil.rmtree(tree)
    for path in (tarball, wheel):
        print(f"{path} {os.path.getsize(path) / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
