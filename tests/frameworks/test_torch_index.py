#!/usr/bin/python3
"""torch.json, which `trainrt list` shows without loading the module, says what the module does: functions, keys, defaults."""
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

FOLDER = SOURCE / "src/frameworks/torch"


def shared_keys(source):
    """The keys that all models share, with the defaults that this one gives."""
    read = re.findall(r's\.(\w+) = ctx\.config<[^>]+>\("\1", defaults\.\1\)', (FOLDER / "training.cpp").read_text())
    check(len(read) > 5, f"only {read} were found in training.cpp")
    members = dict(re.findall(r"^  (?:int|double|std::string) (\w+)(?: = ([^;]+))?;", (FOLDER / "training.hpp").read_text(), re.M))
    given = re.search(r"TrainingSettings defaults\{(.*?)\};", source, re.S)[1]
    return {key: re.search(rf'\.{key} = "?([^",}}]+)', given + ",")[1] if f".{key} =" in given else members[key] for key in read}


def keys_read(source):
    """The [loop] keys of a train function with their defaults, as the code reads them."""
    return {**shared_keys(source), **dict(re.findall(r'ctx\.config<[^>]+>\("(\w+)", "?([^")]*)"?\)', source))}


def index():
    return json.loads((FOLDER / "torch.json").read_text())


@test
def the_index_lists_the_functions_of_the_module():
    listed = re.findall(r'^\s*\{"(\w+)",', (FOLDER / "module.cpp").read_text(), re.M)
    equal([function["name"] for function in index()["functions"]], listed, "functions in torch.json")


@test
def the_index_tells_the_loop_keys_and_defaults_that_the_code_reads():
    for function in index()["functions"]:
        told = {key["key"]: key["default"] for key in function["loop"]}
        equal(told, keys_read((FOLDER / f"{function['name']}.cpp").read_text()), f"keys of {function['name']} in torch.json")


main()
