"""Finds the train function of a run, by its recorded name, among the functions of this process's script and of the modules that the script has
imported. Nothing is imported."""

import os
import sys
import sysconfig
import types

from ..._support import _notes, _script
from .._results import _trainer_record

_MAIN = ("__main__", "__mp_main__")  # older records have __mp_main__
_INSTALLED = ("site-packages", "dist-packages")
_ADVICE = "Give the train function again: restore(..., train_loop_per_worker=...)"


def recorded(call, source):
    """Returns the train function of a RestoredRun. Prints a note if it is in another file than the recorded one.

    Raises ValueError, which begins with `call`, if the record has no train function or no valid code, or the function is not found. The message has the
    name of the function and where it was searched.
    """
    record = source.record
    place = record.get("function")
    module, name = (place.get("module"), place.get("qualname")) if isinstance(place, dict) else (None, None)
    if not isinstance(module, str) or not isinstance(name, str):
        raise ValueError(f"{call}: the run's record has no train function. {_ADVICE}")
    reason = _trainer_record.reason_against(record)
    if reason is not None:
        raise ValueError(f"{call}: {source.given}/trainer.json names the train function {module}.{name}, and is not trusted: {reason}. {_ADVICE}")
    found, file = _find(module, name, record.get("program"))
    if found is None:
        raise ValueError(f"{call}: the train function {module}.{name} of the run ({record.get('program') or 'without a file'}) "
                         f"{_why_not_found(module, name)}. {_ADVICE}")
    if record.get("program") and file != record["program"]:
        _notes.say(f"{call}: the run continues with the train function {name} of {file or 'this program'}; it was started with that of {record['program']}")
    return found


def _find(module, name, program):
    """Returns the function `name` and its file, or (None, None). Searches the module that was loaded from the file `program`, then the module `module`."""
    for candidate in (*_loaded_from(program), module):
        loaded = _loaded(candidate)
        found = _function_in(loaded, name) if loaded is not None else None
        if found is not None:
            return found, _trainer_record.file_of_module(candidate)
    return None, None


def _loaded_from(program):
    """Returns the names of the modules that were loaded from the file `program`. Reads no attributes of modules, since that may import a lazy module."""
    if not program:
        return []
    files = {name: object.__getattribute__(module, "__dict__").get("__file__") for name, module in list(sys.modules.items())
             if isinstance(module, types.ModuleType)}
    return [name for name, file in files.items()
            if isinstance(file, str) and os.path.basename(file) == os.path.basename(program) and os.path.realpath(file) == program]


def _loaded(name):
    """Returns a loaded module if it is this process's script or notebook, or was imported from the script's folder; else `None`."""
    if name in _MAIN:
        return sys.modules["__main__"]
    script, path = _script.of_this_process()["path"], _trainer_record.file_of_module(name)
    return sys.modules[name] if script and path and _is_users_file(path, os.path.realpath(script)) else None


def _function_in(module, name):
    """Returns the function with the qualified name `name` that the module defines, or `None`. Functions that the module only imports do not count."""
    found = module
    for part in name.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    is_own = _main_name(getattr(found, "__module__", None)) == _main_name(getattr(module, "__name__", None))
    return found if callable(found) and is_own and getattr(found, "__qualname__", None) == name else None


def _why_not_found(module, name):
    if "<lambda>" in name or "<locals>" in name:
        return "cannot be found by its name, since it is a lambda or is defined in a function"
    script = _script.of_this_process()["path"] or "this program"
    return f"is not in {script}, nor in a module that it has imported from its own folder"


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
