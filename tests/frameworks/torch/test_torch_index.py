#!/usr/bin/python3
"""torch.json declares the train functions of the torch module, with defaults and valid values, so that `trainrt list` and `check` need not
load the module. The code must read the declared keys with the declared types."""
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

FOLDER = SOURCE / "src/frameworks/torch"
TYPES = {"int": "integer", "double": "real", "bool": "boolean", "std::string": "text"}


def keys_read(name):
    """Returns the [loop] keys that a train function reads, with their types. training.cpp reads the keys that all models share."""
    found = {}
    for file in ("training.cpp", f"{name}.cpp"):
        text = (FOLDER / file).read_text()
        found.update({key: TYPES[kind] for kind, key in re.findall(r'ctx\.config<([^>]+)>\("(\w+)"\)', text)})
        check(not re.findall(r'ctx\.config<[^>]+>\("\w+",', text), f"{file} has its own default; defaults belong in torch.json")
    check(len(found) > 8, f"only {found} were found for {name}")
    return found


def index():
    return json.loads((FOLDER / "torch.json").read_text())


@test
def the_index_lists_the_functions_of_the_module():
    listed = re.findall(r'\.name = "(\w+)"', (FOLDER / "module.cpp").read_text())
    equal([function["name"] for function in index()["functions"]], listed, "functions in torch.json")


@test
def the_index_declares_the_loop_keys_of_the_code_with_their_types():
    for function in index()["functions"]:
        equal({key["key"]: key["type"].replace("path", "text") for key in function["loop"]}, keys_read(function["name"]), f"keys of {function['name']} in torch.json")
        for key in function["loop"]:
            check((key.get("required") or key["default"] != "") and len(key["help"]) > 3, f"{function['name']}: {key}")


@test
def the_index_declares_the_required_datasets():
    for function in index()["functions"]:
        text = "".join((FOLDER / name).read_text() for name in ("training.cpp", f"{function['name']}.cpp")) + \
            ((FOLDER / "classifier.cpp").read_text() if "classifier.hpp" in (FOLDER / f"{function['name']}.cpp").read_text() else "")
        needed = set(re.findall(r'ctx\.dataset\("(\w+)"\)', text)) - set(re.findall(r'ctx\.has_dataset\("(\w+)"\)', text))
        equal(set(function["datasets"]), needed, f"datasets of {function['name']} in torch.json")


main()
