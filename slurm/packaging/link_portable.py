#!/usr/bin/env python3
"""link_portable.py BUILD STATIC OLD OUTPUT TARGET...: links programs and modules of BUILD again, for systems with glibc 2.28 or newer.

The object files are those of the build. Each shared library of the system is replaced by its archive, which is in STATIC or beside the library;
the C and C++ runtime are linked through the copies in OLD that old_libraries.py wrote. Writes the stripped files to OUTPUT."""

import os
import shlex
import subprocess
import sys

# Libraries that the archives depend on. The link command of the build lacks them, because shared libraries name their own dependencies.
OTHERS = "sz aec nettle lzma zstd lz4 bz2 acl z".split()
SYSTEM = "/usr/lib/x86_64-linux-gnu"
# Libraries that were separate before glibc 2.34. Old systems find functions such as pthread_create() and dlopen() in them.
SEPARATE = ["libpthread.so.0", "libdl.so.2", "librt.so.1"]
BUILT_IN = ["-ldl", "-lrt", "-lpthread", "-lcudadevrt", "-lcudart_static"]  # left out: the compiler, SEPARATE or an archive provides these libraries


def command_of(build, target):
    """Returns the words of the command that links `target` in the build."""
    lines = subprocess.run(["ninja", "-C", build, "-t", "commands", target], check=True, capture_output=True, text=True).stdout.splitlines()
    return shlex.split(lines[-1].removeprefix(": && ").removesuffix(" && :"))


def archive_of(library, static):
    """Returns the archive that replaces a shared library: libz.a for libz.so."""
    name = os.path.basename(library).split(".so")[0] + ".a"
    for folder in (static, os.path.dirname(library)):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    sys.exit(f"error: {library} has no archive {name}. Name the Debian package that contains it, or its source, in static_packages.sh")


def portable(words, static, old, output):
    """Returns the command that links the same object files for old systems."""
    result, archives, skip = [], [], False
    for word in words:
        if skip or word.startswith("-Wl,-rpath,"):
            skip = False
        elif word == "-o":
            result += [f"{static}/replaced_functions.o", "-o", output]
            skip = True
        elif word in BUILT_IN or word.endswith("/librt.a"):
            pass
        elif word.startswith(SYSTEM) and ".so" in word:
            archives.append(archive_of(word, static))
            result.append(archives[-1])
        else:
            result.append(word)
    archives += [archive_of(f"{SYSTEM}/lib{name}.so", static) for name in OTHERS]
    # Modules of users may use other versions of these libraries: the program does not export their functions.
    hidden = ":".join(os.path.basename(archive) for archive in [*archives, "libstdc++.a", "libgcc.a"])
    start = [] if "-shared" in words else [f"{static}/program_start.o", "-Wl,--wrap=__libc_start_main"]
    return [*result, *start, "-s", "-Wl,-rpath,$ORIGIN/../lib", f"-L{old}", f"-Wl,--exclude-libs,{hidden}", "-Wl,--start-group", *archives, "-lstdc++", "-l:libstdc++.a", "-Wl,--end-group",
            "-Wl,--no-as-needed", *(os.path.join(old, library) for library in SEPARATE)]


def main():
    build, static, old, output = map(os.path.abspath, sys.argv[1:5])
    for target in sys.argv[5:]:
        file = os.path.join(output, os.path.basename(target))
        subprocess.run(portable(command_of(build, target), static, old, file), check=True, cwd=build)


if __name__ == "__main__":
    main()
