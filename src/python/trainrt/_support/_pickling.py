"""A Trainer on its way to the ranks.

What is in a module, or at the top level of the script, travels by its name; what is not (a lambda, a function in a function, all of a
notebook) by cloudpickle, if that is installed.
"""

import importlib
import io
import json
import os
import pickle
import sys
import types

from . import _private_folder, _script

_CALL, _TRAINER = "call.json", "trainer.pickle"


class _HasNoName(Exception):
    """A function or a class that cannot be found by its name."""

    def __init__(self, thing, why):
        super().__init__(thing, why)
        self.thing, self.why = thing, why


class _ByName(pickle.Pickler):
    """Pickles by names only; notices whether the script is needed to find them."""

    def __init__(self, file, has_script):
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._has_script = has_script
        self.needs_script = False

    def reducer_override(self, thing):
        if isinstance(thing, (types.FunctionType, type)):
            name = getattr(thing, "__qualname__", "")
            if name.endswith("<lambda>"):
                raise _HasNoName(thing, "it is a lambda")
            if "<locals>" in name:
                raise _HasNoName(thing, "it is defined inside of a function")
            if thing.__module__ in ("__main__", "__mp_main__"):  # the second: in a process that has itself imported the script
                if not self._has_script:
                    raise _HasNoName(thing, "it is defined in a notebook, an interpreter or `python3 -c`")
                self.needs_script = True
        return NotImplemented


def pickled(trainer, script, what="the train function and its arguments"):
    """(bytes, whether who reads them needs the script). `what` it is, for errors."""
    buffer = io.BytesIO()
    pickler = _ByName(buffer, bool(script["path"]))
    try:
        pickler.dump(trainer)
        return buffer.getvalue(), pickler.needs_script
    except _HasNoName as error:
        return _by_cloudpickle(trainer, f"{_place(error.thing)}: {error.why}, so that other processes cannot find it by its name", what), False
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        return _by_cloudpickle(trainer, f"{type(trainer).__name__}: {error}", what), False


def _travels(what):
    return f"{what} cannot travel to the processes that are to run it"


def _place(thing):
    code = getattr(thing, "__code__", None)
    return f"{thing.__qualname__} ({os.path.basename(code.co_filename)}, line {code.co_firstlineno})" if code else thing.__qualname__


def _by_cloudpickle(trainer, why, what):
    try:
        cloudpickle = importlib.import_module("cloudpickle")
    except ImportError:
        raise ValueError(f"{_travels(what)}.\n{why}.\nDefine it by `def` at the top level of "
                         f"a script or a module, or install cloudpickle (pip install cloudpickle), or start the whole script on every "
                         f"rank: srun trainrt -- python3 train.py") from None
    try:
        return cloudpickle.dumps(trainer, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # as the objects' methods raise
        raise ValueError(f"{_travels(what)}, not even by cloudpickle: "
                         f"{type(error).__name__}: {error}. Make what it uses inside of the function") from error


def call_of(script):
    """How this process was started: what another one needs before it can read what pickled() gave."""
    return {"format": "trainrt call 1", "script": script, "sys_path": sys.path, "argv": sys.argv}


def send(trainer, folder, options):
    """Lays the trainer into the private folder. `options`: for the worker, as JSON."""
    script = _script.of_this_process()
    data, needs_script = pickled(trainer, script)
    call = {**call_of(script if needs_script else None), **options}
    _private_folder.write(folder, _TRAINER, data)
    _private_folder.write(folder, _CALL, json.dumps(call).encode())


def options_of(folder):
    """What send() was given as options, and how the script's process was; sets sys.path and sys.argv as they were there."""
    call = json.loads(_private_folder.read(folder, _CALL))
    _become(call)
    return call


def _become(call):
    sys.path[:] = ["" if path == "" else path for path in call["sys_path"]]
    sys.argv[:] = call["argv"]


def receive(folder, call):
    """The trainer, on a rank."""
    return _found(call, lambda: _private_folder.read_pickle(folder, _TRAINER), "train function")


def loaded(data, call):
    """What pickled() has made, of bytes that a process of this one's own has sent."""
    _become(call)
    return _found(call, lambda: pickle.loads(data), "function")


def _found(call, read, what):
    if call["script"]:
        _script.import_as_main(call["script"])
    try:
        return read()
    except AttributeError as error:
        if not call["script"]:
            raise
        script = os.path.basename(call["script"]["path"])
        raise RuntimeError(f"{error}. Other processes import {script}, and what it defines under `if __name__ == \"__main__\":` is not there: "
                           f"move the {what}, and what it uses, out of it") from None
