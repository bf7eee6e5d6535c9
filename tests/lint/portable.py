#!/usr/bin/python3
"""Checks the tarball and the wheel of `make dist`: their size, and that a system with glibc 2.28 and GCC 8's libraries can load their programs
and modules. Prints the newest glibc that each file needs."""
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import BUILD, check, equal, main, scratch, skip, test  # noqa: E402

MAX_MIB = 30
LIMITS = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 25), "CXXABI": (1, 3, 11), "GCC": (8,)}
# Libraries of every system with glibc and C++, and of the package itself.
SYSTEM = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2", "libgcc_s.so.1", "libstdc++.so.6"}
PROGRAMS = ["trainrt", "h5_examiner", "trees.so", "arrow.so"]


def package(pattern):
    found = sorted((BUILD / "dist").glob(pattern))
    if not found:
        skip("make dist was not run")
    return found[-1]


def unpacked(pattern):
    """Unpacks a package, and returns the paths of its ELF files."""
    path, folder = package(pattern), scratch(pattern[-3:])
    if path.suffix == ".whl":
        zipfile.ZipFile(path).extractall(folder)
    else:
        options = {"filter": "tar"} if hasattr(tarfile, "data_filter") else {}  # Python 3.11.2 of Debian 12 has no filters
        tarfile.open(path).extractall(folder, **options)
    return sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink() and file.open("rb").read(4) == b"\x7fELF")


def readelf(option, path):
    return subprocess.run(["readelf", option, "--wide", path], check=True, capture_output=True, text=True).stdout


def newest_versions(path):
    """Returns the newest version that `path` needs, for each prefix such as GLIBC."""
    newest = {}
    needs = readelf("--version-info", path).partition("Version needs section")[2]
    for prefix, version in re.findall(r"Name: ([A-Z]+)_([0-9.]+)", needs):
        numbers = tuple(map(int, version.split(".")))
        newest[prefix] = max(newest.get(prefix, ()), numbers)
    return newest


def check_package(pattern):
    files = unpacked(pattern)
    names = {file.name for file in files}
    equal(sorted(set(PROGRAMS) - names), [], "missing programs and modules")
    for file in files:
        newest = newest_versions(file)
        print(f"    {file.name}: glibc {'.'.join(map(str, newest['GLIBC']))}")
        too_new = {prefix: numbers for prefix, numbers in newest.items() if numbers > LIMITS.get(prefix, ())}
        equal(too_new, {}, f"symbols of {file.name} that RHEL 8 lacks")
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("--dynamic", file)))
        equal(sorted(needed - SYSTEM - names), [], f"libraries that {file.name} needs and a bare system lacks")
    mib = package(pattern).stat().st_size / 2**20
    check(mib <= MAX_MIB, f"{package(pattern).name} has {mib:.1f} MiB, {MAX_MIB} at most")


@test
def the_wheel_runs_with_glibc_2_28():
    check_package("trainrt-*.whl")


@test
def the_tarball_runs_with_glibc_2_28():
    check_package("trainrt-*.tar.xz")


main()
