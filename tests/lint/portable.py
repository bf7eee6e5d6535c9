#!/usr/bin/python3
"""Checks the tarball and the wheel of `make dist`: their size, and that a system with glibc 2.28 and GCC 8's libraries can load their programs
and modules. Prints the newest glibc that each file needs. Both must have the licences of the libraries that they contain."""
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
# The source packages in Debian, without versions, of the libraries that are linked statically; and Arrow.
LIBRARIES = set("acl arrow-LICENSE arrow-NOTICE boost bzip expat fast-float fmtlib gcc glibc hdf libaec libarchive libdeflate libjpeg-turbo libspng liburing "
                "libwebp libzstd lz minizip nettle nlohmann-json protobuf simdjson sqlite xxhash xz-utils zlib".split())
PROGRAMS = ["trainrt", "h5_examiner", "trees.so", "arrow.so"]


def package(pattern):
    found = sorted((BUILD / "dist").glob(pattern))
    if not found:
        skip("make dist was not run")
    return found[-1]


def unpacked(pattern):
    """Unpacks a package, and returns the paths of its files."""
    path, folder = package(pattern), scratch(pattern[-3:])
    if path.suffix == ".whl":
        zipfile.ZipFile(path).extractall(folder)
    else:
        options = {"filter": "tar"} if hasattr(tarfile, "data_filter") else {}  # Python 3.11.2 of Debian 12 has no filters
        tarfile.open(path).extractall(folder, **options)
    return sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def readelf(option, path):
    return subprocess.run(["readelf", option, "--wide", path], check=True, capture_output=True, text=True).stdout


def newest_versions(path):
    """Returns the newest version that `path` needs, for each prefix such as GLIBC."""
    newest = {}
    needs = readelf("--version-info", path).partition("Version needs section")[2]
    for name in re.findall(r"Name: (\S+)", needs):
        numbered = re.fullmatch(r"([A-Z]+)_([0-9.]+)", name)  # GLIBC_ABI_DT_RELR and GLIBC_PRIVATE have no numbers, and are too new
        prefix, numbers = (numbered[1], tuple(map(int, numbered[2].split(".")))) if numbered else (name, (1,))
        newest[prefix] = max(newest.get(prefix, ()), numbers)
    return newest


def check_licences(files):
    """Checks that the package has the licence of each library that its programs contain, and the licences to which these refer."""
    licences = {file.name: file for file in files if "doc/trainrt/licences" in str(file)}
    names = {re.sub(r"[0-9.-]*$", "", name) for name in licences}
    equal(sorted(LIBRARIES - names), [], "libraries without a licence")
    texts = "".join(file.read_text(errors="replace") for file in licences.values())
    referred = {name for name in re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", texts) if Path("/usr/share/common-licenses", name).exists()}
    equal(sorted(referred - set(licences)), [], "licences that the package refers to, and lacks")
    program = next(file for file in files if file.parent.name in ("bin", "scripts") and file.name == "trainrt").read_bytes()
    contains_cuda = b"cudaErrorInvalidValue" in program
    check(not contains_cuda or "cuda" in names, "the licence of the CUDA runtime is missing")


def check_package(pattern):
    all_files = unpacked(pattern)
    check_licences(all_files)
    archives = [file.name for file in all_files if file.open("rb").read(7) == b"!<arch>"]
    equal(archives, [], "archives, whose symbols this test does not check")
    files = [file for file in all_files if file.open("rb").read(4) == b"\x7fELF"]
    names = {file.name for file in files}
    equal(sorted(set(PROGRAMS) - names), [], "missing programs and modules")
    for file in files:
        newest = newest_versions(file)
        print(f"    {file.name}: glibc {'.'.join(map(str, newest.get('GLIBC', ())))}")
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
