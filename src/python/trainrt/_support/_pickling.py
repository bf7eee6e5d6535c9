"""Sends a Trainer or a function to other processes.

Functions and classes of modules are sent by name. Functions and classes of the script, lambdas and nested functions are sent by value with
cloudpickle, so that the other processes do not run the script.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import io
import json
import os
import pickle
import sys
import types
from typing import Any, BinaryIO

from . import _notes, _script, _unpicklable
from ._exchange import Exchange
from ._exchange_client import ExchangeClient

_CALL, _TRAINER = "call", "trainer"
_LARGE_BYTES = 100_000_000
_MAIN = ("__main__", "__mp_main__")  # __mp_main__ is the script in a child process of multiprocessing


class _NeedsValue(Exception):
    """Raised if a function or a class cannot be found by its name. `why` is the reason."""

    def __init__(self, thing: Any, why: str) -> None:
        super().__init__(thing, why)
        self.thing, self.why = thing, why


class _ByName(pickle.Pickler):
    """Pickles functions and classes by name only."""

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, (types.FunctionType, type)):
            name = getattr(thing, "__qualname__", "")
            if name.endswith("<lambda>"):
                raise _NeedsValue(thing, "it is a lambda")
            if "<locals>" in name:
                raise _NeedsValue(thing, "it is defined inside of a function")
            if thing.__module__ in _MAIN:
                raise _NeedsValue(thing, "it is defined in the script, which other processes do not run")
        return NotImplemented


def pickled(thing: Any, label: str = "the train function and its arguments") -> bytes:
    """Returns a message for loaded(). Raises ValueError if `thing` cannot be pickled; `label` names it in messages. Prints a warning if the message is
    larger than 100 MB."""
    buffer = io.BytesIO()
    try:
        _ByName(buffer, pickle.HIGHEST_PROTOCOL).dump(thing)
        pickle.dump({}, buffer)
        data = buffer.getvalue()
    except _NeedsValue as error:
        data = _by_value(thing, f"{_definition(error.thing)}: {error.why}", label)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        data = _by_value(thing, f"{type(thing).__name__}: {error}", label)
    if len(data) > _LARGE_BYTES:
        _notes.warn(f"{label} take {len(data) / 1e6:.0f} MB, which are sent to every process that runs them. Load large data inside of the "
                   f"function, or pass them as a dataset")
    return data


def _definition(thing: Any) -> str:
    code = getattr(thing, "__code__", None)
    return f"{thing.__qualname__} ({os.path.basename(code.co_filename)}, line {code.co_firstlineno})" if code else thing.__qualname__


def _by_value(thing: Any, why: str, label: str) -> bytes:
    """Returns two pickles, one after the other: `thing`, and {name: object} of the functions and classes that `thing` uses from the script."""
    failed = f"{label} cannot be sent to the processes that run it"
    try:
        cloudpickle = importlib.import_module("cloudpickle")
    except ImportError:
        raise ValueError(f"{failed}.\n{why}.\nInstall cloudpickle (pip install cloudpickle), or move the function to a module that the script "
                         f"imports, or start the script on every rank: srun trainrt -- python3 train.py") from None
    buffer = io.BytesIO()
    pickler = _pickler_of(cloudpickle, buffer)
    try:
        pickler.dump(thing)
        pickler.dump(pickler.of_script)
    except Exception as error:  # any exception of an object's method
        raise ValueError(f"{failed}: {_unpicklable.explained(thing, error, cloudpickle.dumps)}") from error
    return buffer.getvalue()


def _pickler_of(cloudpickle: Any, file: BinaryIO) -> Any:
    """Returns a pickler whose `of_script` contains the functions and classes of the script that it has pickled, by name."""

    class Pickler(cloudpickle.CloudPickler):
        def reducer_override(self, thing):
            if isinstance(thing, (types.FunctionType, type)) and thing.__module__ in _MAIN:
                name = thing.__qualname__
                if getattr(sys.modules["__main__"], name, None) is thing:
                    self.of_script[name] = thing
            return super().reducer_override(thing)

    pickler = Pickler(file, pickle.HIGHEST_PROTOCOL)
    pickler.of_script = {}
    return pickler


def call_of() -> dict[str, Any]:
    """Returns script, module path and arguments of this process. A process that calls loaded() needs them to find functions of the script."""
    return {"script": _script.of_this_process(), "sys_path": sys.path, "argv": sys.argv}


def send(trainer: Any, exchange: Exchange, options: dict[str, Any]) -> None:
    """Stores the trainer, and `options` for the worker (JSON), where the ranks can fetch them. Raises the exceptions of pickled()."""
    exchange.put(_TRAINER, pickled(trainer))
    exchange.put(_CALL, json.dumps({**call_of(), **options}).encode())


def fetched(client: ExchangeClient) -> tuple[bytes, bytes]:
    """Returns the messages of send(), for received(). Raises ScriptUnreachable."""
    call, data = client.get(_CALL), client.get(_TRAINER)
    assert call is not None and data is not None, "send() precedes the launch of the ranks"
    return data, call


def received(data: bytes, call: bytes) -> tuple[Any, dict[str, Any]]:
    """Returns the trainer and the options of send(), from the messages of fetched()."""
    options = json.loads(call)
    return loaded(data, options), options


def loaded(data: bytes, call: dict[str, Any]) -> Any:
    """Returns the object of pickled(), which a process of this user has sent. Sets sys.path and sys.argv to those of the sender, and makes the
    module `__main__` contain the functions and classes of the script that the object contains. `call`: call_of() of the sender."""
    sys.path[:] = call["sys_path"]
    sys.argv[:] = call["argv"]
    main = _replaced_main(call["script"])
    unpickler = pickle.Unpickler(io.BytesIO(data))
    thing = unpickler.load()
    vars(main).update(unpickler.load())
    if "pyarrow._s3fs" in sys.modules:  # pickle imports only this module for an S3FileSystem, which makes the process crash at its exit
        importlib.import_module("pyarrow.fs")  # registers the function that ends Arrow's threads at the exit
    return thing


def _replaced_main(script: dict[str, Any]) -> types.ModuleType:
    """Replaces the module `__main__` by an empty module with the script's name and file, and returns the new module. Code that looks up the module of a
    function of the script, such as pickle, then finds this module."""
    main = types.ModuleType("__main__")
    if script["path"]:
        main.__file__ = script["path"]
    if script["module"]:
        main.__spec__ = importlib.machinery.ModuleSpec(script["module"], None)
    sys.modules["__main__"] = main
    return main
