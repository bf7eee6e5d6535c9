#!/usr/bin/env python3
"""licences.py BUILD ARROW OUTPUT TARGET...: collects the licences of the libraries that link_portable.py links into the targets of BUILD.

OUTPUT/NAME is the copyright file of the Debian source package NAME. OUTPUT/common has the licences to which these files refer. ARROW is the path
of libarrow.so in a pyarrow of PyPI."""

import glob
import os
import re
import shutil
import subprocess
import sys

from link_portable import OTHERS, SYSTEM, command_of

# Libraries whose headers contain code: they are compiled into the program, and the linker does not see them.
HEADERS = ["boost/version.hpp", "nlohmann/json.hpp", "fast_float/fast_float.h", "fmt/format.h"]
RUNTIME = ["libstdc++.a", "libgcc.a", "libc_nonshared.a"]  # linked statically in part
COMMON = "/usr/share/common-licenses"


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def package_of(file):
    """Returns the Debian package that owns `file`. dpkg may know it by a path without /usr."""
    real = os.path.realpath(file)
    for path in (file, real, real.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "--search", path], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(": /")[0].split(",")[0]
    sys.exit(f"error: no Debian package owns {file}, so its licence is unknown. Add its licence in slurm/packaging/licences.py")


def linked_libraries(build, targets):
    """Returns the paths of the libraries of the system and of the CUDA toolkit that the targets contain."""
    words = {word for target in targets for word in command_of(build, target) if word.startswith("/")}
    libraries = {word for word in words if word.startswith(SYSTEM) and ".so" in word}
    for name in OTHERS:
        libraries.add(sorted(glob.glob(f"{SYSTEM}/lib{name}.so*"))[0])
    return libraries, {word for word in words if word.endswith("/libcudart_static.a")}


def write_licence(package, output):
    source = output_of("dpkg-query", "--show", "--showformat", "${source:Package}", package)
    shutil.copy(f"/usr/share/doc/{package.split(':')[0]}/copyright", os.path.join(output, source))


def write_licence_of_cuda(library, output):
    """Copies the licence of the CUDA runtime, which NVIDIA's installers, Debian packages and PyPI's packages store in different folders."""
    toolkit = os.path.realpath(library).split("/targets/")[0].split("/lib")[0]
    patterns = ["EULA.txt", "dist-info/nvidia_cuda_runtime-*/licenses/*", "dist-info/nvidia_cuda_runtime-*/License.txt",
                "dist-info/nvidia_cuda_culibos-*/licenses/*"]
    found = [path for pattern in patterns for path in glob.glob(os.path.join(toolkit, pattern))]
    if not found:
        sys.exit(f"error: the licence of {library} was not found in {toolkit} (EULA.txt). Build with -DTRAINRT_CUDA=OFF, or install the file")
    shutil.copy(found[0], os.path.join(output, "cuda"))


def write_licences_of_arrow(arrow, output):
    for name in ("LICENSE.txt", "NOTICE.txt"):
        found = glob.glob(os.path.join(os.path.dirname(arrow), "..", "pyarrow-*.dist-info", "**", name), recursive=True)
        if not found:
            sys.exit(f"error: {name} of pyarrow was not found beside {os.path.dirname(arrow)}. Use the pyarrow of PyPI")
        shutil.copy(found[0], os.path.join(output, f"arrow-{name.removesuffix('.txt')}"))


def write_common_licences(output):
    """Copies the texts of the licences to which Debian's copyright files refer by a path."""
    referred = set()
    for path in glob.glob(f"{output}/*"):
        with open(path, encoding="utf-8", errors="replace") as file:
            referred |= set(re.findall(COMMON + r"/([A-Z][A-Za-z0-9.-]*[A-Za-z0-9])", file.read()))
    os.makedirs(f"{output}/common")
    for name in referred:
        if os.path.exists(f"{COMMON}/{name}"):  # a sentence may name a file that does not exist
            shutil.copy(f"{COMMON}/{name}", f"{output}/common/{name}")


def main():
    build, arrow, output = map(os.path.abspath, sys.argv[1:4])
    libraries, cuda = linked_libraries(build, sys.argv[4:])
    libraries |= {f"/usr/include/{header}" for header in HEADERS}
    libraries |= {output_of("gcc", f"-print-file-name={name}") for name in RUNTIME}
    shutil.rmtree(output, ignore_errors=True)
    os.makedirs(output)
    for package in {package_of(library) for library in libraries}:
        write_licence(package, output)
    for library in cuda:
        write_licence_of_cuda(library, output)
    write_licences_of_arrow(arrow, output)
    write_common_licences(output)
    print(f"licences of {len(os.listdir(output)) - 1} libraries")


if __name__ == "__main__":
    main()
