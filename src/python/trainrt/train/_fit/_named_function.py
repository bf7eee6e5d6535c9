"""A function by the name that a record has of it, among what the script of this process has loaded already."""

import os
import sys
import sysconfig

from .._results import _record
from ..._support import _script

_MAIN = ("__main__", "__mp_main__")  # the second: in a process that has itself imported the script
_INSTALLED = ("site-packages", "dist-packages")


def find(module, name, program):
    """The function `name` of `module`, if that is this script, or was imported from the script's own folder, and its file is `program`. None
    otherwise: nothing is imported, and no other module is looked into."""
    loaded = _loaded(module)
    if loaded is None or not program or _record.program_of(module) != program:
        return None
    found = loaded
    for part in name.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    is_it = callable(found) and _plain(getattr(found, "__module__", None)) == _plain(module) and getattr(found, "__qualname__", None) == name
    return found if is_it else None


def _loaded(module):
    script = _script.of_this_process()["path"]
    if script is None:
        return None
    if module in _MAIN:
        return sys.modules["__main__"]
    path = _record.program_of(module)
    return sys.modules[module] if path and _is_beside(path, os.path.realpath(script)) else None


def _is_beside(path, script):
    """Whether the file `path` is the user's own, below the folder of the script."""
    folder = os.path.dirname(script)
    below = os.path.relpath(path, folder).split(os.sep)
    if below[0] == os.pardir or any(part in _INSTALLED for part in below):
        return False
    places = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    return not any(os.path.commonpath([os.path.realpath(place), path]) == os.path.realpath(place) for place in places)


def _plain(module):
    return "__main__" if module in _MAIN else module
