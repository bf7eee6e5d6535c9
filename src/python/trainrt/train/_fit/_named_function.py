"""Finds a function by its recorded name among the modules that the script of this process has imported."""

import os
import sys
import sysconfig

from ..._support import _script
from .._results import _trainer_record

_MAIN = ("__main__", "__mp_main__")  # older records have __mp_main__
_INSTALLED = ("site-packages", "dist-packages")


def find(module, name, program):
    """Returns function `name` of `module` if the module is this script or was imported from the script's folder, and its file is `program`;
    else `None`. Imports nothing."""
    loaded = _loaded(module)
    if loaded is None or not program or _trainer_record.file_of_module(module) != program:
        return None
    found = loaded
    for part in name.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    is_match = callable(found) and _main_name(getattr(found, "__module__", None)) == _main_name(module) and getattr(found, "__qualname__", None) == name
    return found if is_match else None


def _loaded(module):
    script = _script.of_this_process()["path"]
    if script is None:
        return None
    if module in _MAIN:
        return sys.modules["__main__"]
    path = _trainer_record.file_of_module(module)
    return sys.modules[module] if path and _is_users_file(path, os.path.realpath(script)) else None


def _is_users_file(path, script):
    """Returns whether `path` is below the folder of the script, and not part of Python or of an installed package."""
    folder = os.path.dirname(script)
    below = os.path.relpath(path, folder).split(os.sep)
    if below[0] == os.pardir or any(part in _INSTALLED for part in below):
        return False
    libraries = (os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
    return not any(os.path.commonpath([library, path]) == library for library in libraries)


def _main_name(module):
    return "__main__" if module in _MAIN else module
