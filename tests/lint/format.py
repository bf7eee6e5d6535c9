#!/usr/bin/python3
"""Checks that `make format` would change no source. `.clang-format` also sorts the includes of a block."""
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

VERSION = "14"  # of Debian 12; other versions break lines differently


def formatter():
    for program in (f"clang-format-{VERSION}", "clang-format"):
        if shutil.which(program):
            found = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {VERSION}\.", found):
                return program
            skip(f"clang-format {VERSION} not found, only {found.strip()}")
    skip("clang-format not found (package clang-format)")


def findings_of(program, files):
    done = subprocess.run([program, "--dry-run", "-Werror", *map(str, files)], capture_output=True, text=True, cwd=SOURCE)
    lines = re.findall(r"^(\S+?:\d+):\d+: error: code should be clang-formatted", done.stderr, re.M)
    return lines or ([done.stderr[:500]] if done.returncode != 0 else [])


@test
def make_format_changes_nothing():
    program = formatter()
    files = [path.relative_to(SOURCE) for root in ("src", "include", "tests") for path in sorted((SOURCE / root).rglob("*"))
             if path.suffix in (".cpp", ".hpp", ".cu")]
    check(len(files) > 400, f"only {len(files)} files were found")
    with ThreadPoolExecutor(2) as pool:
        found = sum(pool.map(lambda start: findings_of(program, files[start::8]), range(8)), [])
    check(not found, "\n  " + "\n  ".join(sorted(set(found))[:40]))


@test
def wrong_order_and_indentation_are_found():
    """Otherwise the test above proves nothing."""
    program = formatter()
    folder = scratch()
    shutil.copy(SOURCE / ".clang-format", folder)
    for text in ("#include <vector>\n#include <array>\n", "int f() {\n    return 1;\n}\n"):
        (folder / "wrong.cpp").write_text(text)
        check(findings_of(program, [folder / "wrong.cpp"]), f"{text!r} passes")


main()
