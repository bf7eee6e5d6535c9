#!/usr/bin/python3
"""Runs clang-tidy over src/ with the checks of `.clang-tidy`: clang_tidy.py FOLDER JOBS, with the compile commands of FOLDER. The files of a
layer are read as one (a unity build), so that equal names in anonymous namespaces of one layer are found as well."""
import json
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
PROGRAM = "clang-tidy-16"
FOR_GCC_ALONE = {"reduce.cpp": "its loops are steered by GCC's pragmas", "thrown.cpp": "it declares built-in functions of clang"}


def findings_of(folder, unit):
    """Returns the findings of a unit as lines "file:line: message [check]"."""
    done = subprocess.run([PROGRAM, "--quiet", "-p", str(folder), unit], capture_output=True, text=True, cwd=SOURCE)
    lines = re.findall(r"^(\S+:\d+):\d+: (?:warning|error): (.*)$", done.stdout, re.M)
    found = {f"{place.removeprefix(str(SOURCE) + '/')}: {text.replace(',-warnings-as-errors', '')}" for place, text in lines}
    return found or ({f"{unit}: {done.stderr[-500:]}"} if done.returncode != 0 else set())


def main():
    folder, jobs = Path(sys.argv[1]).resolve(), int(sys.argv[2])
    if shutil.which(PROGRAM) is None:
        sys.exit(f"{PROGRAM} not found: apt-get install {PROGRAM}")
    units = [entry["file"] for entry in json.loads((folder / "compile_commands.json").read_text()) if entry["file"].endswith((".cpp", ".cxx"))]
    units = [unit for unit in units if Path(unit).name not in FOR_GCC_ALONE]
    start = time.monotonic()
    found = set()
    with ThreadPoolExecutor(jobs) as pool:
        for findings in pool.map(lambda unit: findings_of(folder, unit), reversed(units)):  # the largest are the last
            for line in sorted(findings - found):
                print(line, flush=True)
            found |= findings
    print(f"{PROGRAM}: {len(found)} findings in {len(units)} batches of files ({time.monotonic() - start:.0f} s)")
    sys.exit(1 if found else 0)


main()
