#!/usr/bin/env python3
"""old_libraries.py FOLDER: writes link-time copies of the system's shared libraries to FOLDER, which offer only what RHEL 8 has.

A program that is linked with these copies runs on all systems with glibc 2.28 and GCC 8's libstdc++, or newer ones. The copies have the symbols
of the system's libraries with their versions, but no code: the linker needs no more. If a symbol has several versions, the copies have the newest one
that is old enough. A newer symbol is missing: the linker takes it from libstdc++.a, libgcc.a or replaced_functions.c, or reports it."""

import os
import re
import subprocess
import sys

# The newest versions of symbols that RHEL 8 has, by prefix. Other prefixes, such as GLIBC_PRIVATE, are left out.
LIMITS = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 25), "CXXABI": (1, 3, 11), "GCC": (8,)}
LIBRARIES = ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"]
SECTIONS = {"OBJECT": ".data", "TLS": ".tbss", "NOTYPE": ".data"}  # section by the type of a symbol, for symbols that are not functions


def numbers(version):
    """Returns the prefix of `version` and its numbers: ("GLIBC", (2, 14)) for GLIBC_2.14; None if it has no numbers."""
    found = re.fullmatch(r"([A-Z]+)_([0-9.]+)", version)
    return found and (found[1], tuple(int(number) for number in found[2].split(".")))


def is_old_enough(version):
    found = numbers(version)
    return found is not None and found[0] in LIMITS and found[1] <= LIMITS[found[0]]


def path_of(library):
    """Returns the path of the library that the compiler links."""
    return subprocess.run(["gcc", f"-print-file-name={library}"], check=True, capture_output=True, text=True).stdout.strip()


def symbols_of(path):
    """Returns {name: (version, type, size)} of the exported symbols that are old enough."""
    listing = subprocess.run(["readelf", "--dyn-syms", "--wide", path], check=True, capture_output=True, text=True).stdout
    newest = {}
    for line in listing.splitlines():
        words = line.split()
        if len(words) < 8 or not words[0].rstrip(":").isdigit() or words[6] in ("UND", "ABS"):
            continue
        name, _, version = words[7].replace("@@", "@").partition("@")
        if not is_old_enough(version):
            continue
        if name not in newest or numbers(version) > numbers(newest[name][0]):
            newest[name] = (version, words[3], int(words[2], 0))
    return newest


def assembly(symbols):
    """Returns assembly code that defines `symbols`."""
    lines = []
    for name, (_, kind, size) in symbols.items():
        types = {"OBJECT": "object", "TLS": "tls_object"}
        section = SECTIONS.get(kind)
        flags = ',"awT",@nobits' if kind == "TLS" else ""
        lines.append(f".section {section}{flags}" if section else ".text")
        lines.append(f'.globl "{name}"\n.type "{name}", @{types.get(kind, "function")}\n.size "{name}", {size}\n"{name}": .zero {size if section else 1}')
    return "\n".join(lines) + "\n"


def version_script(symbols):
    nodes = {}
    for name, (version, _, _) in symbols.items():
        nodes.setdefault(version, []).append(f'"{name}";')
    blocks = [f"{version} {{ global: {' '.join(names)} }};" for version, names in nodes.items()]
    return "\n".join(blocks) + "\nNOTHING_ELSE { local: *; };\n"


def write_copy(folder, library):
    """Writes the copy of `library` for the linker into `folder`, and returns the path of the copy."""
    symbols = symbols_of(path_of(library))
    source, script, copy = (os.path.join(folder, library + ending) for ending in (".s", ".map", ""))
    for path, text in ((source, assembly(symbols)), (script, version_script(symbols))):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    subprocess.run(["gcc", "-shared", "-nostdlib", "-o", copy, source, f"-Wl,-soname,{library}", f"-Wl,--version-script={script}"], check=True)
    return copy


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder, exist_ok=True)
    for library in LIBRARIES:
        copy = write_copy(folder, library)
        link = os.path.join(folder, library.split(".so")[0] + ".so")
        # libc.so is a linker script, like the system's libc.so, because some functions of libc are in an archive.
        group = [copy, path_of("libc_nonshared.a"), "AS_NEEDED", "(", path_of("ld-linux-x86-64.so.2"), ")"] if library == "libc.so.6" else [copy]
        with open(link, "w", encoding="utf-8") as file:
            file.write(f"GROUP ( {' '.join(group)} )\n")


if __name__ == "__main__":
    main()
