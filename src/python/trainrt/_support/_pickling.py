"""Sends a Trainer or a function to other processes.

Functions and classes of a module, or of the top level of the script, are sent by name; others (lambdas, functions in functions, everything in a
notebook) by cloudpickle, if it is installed.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import pickle
import sys
import types
from collections.abc import Callable
from typing import Any, BinaryIO

from . import _private_folder, _script

_CALL, _TRAINER = "call.json", "trainer.pickle"


class _HasNoName(Exception):
    """Raised if a function or a class cannot be found by its name. `why` is the reason."""

    def __init__(self, thing: Any, why: str) -> None:
        super().__init__(thing, why)
        self.thing, self.why = thing, why


class _ByName(pickle.Pickler):
    """Pickles functions and classes by name only. After pickling, `needs_script` is whether the reader must import the script first."""

    def __init__(self, file: BinaryIO, has_script: bool) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._has_script = has_script
        self.needs_script = False

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, (types.FunctionType, type)):
            name = getattr(thing, "__qualname__", "")
            if name.endswith("<lambda>"):
                raise _HasNoName(thing, "it is a lambda")
            if "<locals>" in name:
                raise _HasNoName(thing, "it is defined inside of a function")
            if thing.__module__ in ("__main__", "__mp_main__"):  # the second in a process that has imported the script itself
                if not self._has_script:
                    raise _HasNoName(thing, "it is defined in a notebook, an interpreter or `python3 -c`")
                self.needs_script = True
        return NotImplemented


def pickled(thing: Any, script: dict[str, Any], label: str = "the train function and its arguments") -> tuple[bytes, bool]:
    """Returns the pickle of `thing`, and whether its reader must import `script` first. Raises ValueError if it cannot be pickled; `label` names
    it in the message."""
    buffer = io.BytesIO()
    pickler = _ByName(buffer, bool(script["path"]))
    try:
        pickler.dump(thing)
        return buffer.getvalue(), pickler.needs_script
    except _HasNoName as error:
        return _by_cloudpickle(thing, f"{_definition(error.thing)}: {error.why}, so that other processes cannot find it by its name", label), False
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        return _by_cloudpickle(thing, f"{type(thing).__name__}: {error}", label), False


def _failure(label: str) -> str:
    return f"{label} cannot be sent to the processes that run it"


def _definition(thing: Any) -> str:
    code = getattr(thing, "__code__", None)
    return f"{thing.__qualname__} ({os.path.basename(code.co_filename)}, line {code.co_firstlineno})" if code else thing.__qualname__


def _by_cloudpickle(thing: Any, why: str, label: str) -> bytes:
    try:
        cloudpickle = importlib.import_module("cloudpickle")
    except ImportError:
        raise ValueError(f"{_failure(label)}.\n{why}.\nDefine it by `def` at the top level of "
                         f"a script or a module, or install cloudpickle (pip install cloudpickle), or start the script on every "
                         f"rank: srun trainrt -- python3 train.py") from None
    try:
        return cloudpickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # any exception of an object's method
        raise ValueError(f"{_failure(label)}, not even by cloudpickle: "
                         f"{type(error).__name__}: {error}. Create the objects that it uses inside of the function") from error


def call_of(script: dict[str, Any] | None) -> dict[str, Any]:
    """Returns a description of how this process was started. Processes that read a result of pickled() need it."""
    return {"format": "trainrt call 1", "script": script, "sys_path": sys.path, "argv": sys.argv}


def send(trainer: Any, folder: str, options: dict[str, Any]) -> None:
    """Writes the trainer into the private folder, with `options` for the worker (JSON). Raises as pickled() does."""
    script = _script.of_this_process()
    data, needs_script = pickled(trainer, script)
    call = {**call_of(script if needs_script else None), **options}
    _private_folder.write(folder, _TRAINER, data)
    _private_folder.write(folder, _CALL, json.dumps(call).encode())


def options_of(folder: str) -> dict[str, Any]:
    """Returns the options of send() with those of call_of(), and sets sys.path and sys.argv to the values of the sender."""
    call = json.loads(_private_folder.read(folder, _CALL) or b"")
    _apply(call)
    return call


def _apply(call: dict[str, Any]) -> None:
    sys.path[:] = ["" if path == "" else path for path in call["sys_path"]]
    sys.argv[:] = call["argv"]


def receive(folder: str, call: dict[str, Any]) -> Any:
    """Returns the trainer that send() has written. `call` is the result of options_of()."""
    return _found(call, lambda: _private_folder.read_pickle(folder, _TRAINER), "train function")


def loaded(data: bytes, call: dict[str, Any]) -> Any:
    """Unpickles and returns an object that the parent process has sent."""
    _apply(call)
    return _found(call, lambda: pickle.loads(data), "function")


def _found(call: dict[str, Any], read: Callable[[], Any], label: str) -> Any:
    """Imports the script, if the pickle needs it, and returns `read()`."""
    if call["script"]:
        _script.import_as_main(call["script"])
    try:
        return read()
    except AttributeError as error:
        if not call["script"]:
            raise
        script = os.path.basename(call["script"]["path"])
        raise RuntimeError(f"{error}. Other processes import {script}, where code under `if __name__ == \"__main__\":` does not run: move the "
                           f"{label}, and everything that it uses, out of it") from None
