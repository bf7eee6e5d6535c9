#!/usr/bin/python3
"""torch.json, which `trainrt list` shows without loading the module, says what the module does: functions, keys, defaults."""
import json
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "src/frameworks/torch"


def keys_read(source):
    """The [loop] keys of a train function with their defaults, as the code reads them."""
    return dict(re.findall(r'ctx\.config<[^>]+>\("(\w+)", "?([^")]*)"?\)', source))


def main():
    index = json.loads((FOLDER / "torch.json").read_text())
    wrong = []
    for function in index["functions"]:
        name = function["name"]
        told = {key["key"]: key["default"] for key in function["loop"]}
        read = keys_read((FOLDER / f"{name}.cpp").read_text())
        if told != read:
            wrong.append(f"{name}: torch.json says {told}, {name}.cpp reads {read}")
    listed = re.findall(r'^\s*\{"(\w+)",', (FOLDER / "module.cpp").read_text(), re.M)
    if listed != [function["name"] for function in index["functions"]]:
        wrong.append(f"module.cpp lists {listed}")
    print("\n".join(f"FAILED: {line}" for line in wrong) or "ok: torch.json says what the module does")
    sys.exit(1 if wrong else 0)


main()
