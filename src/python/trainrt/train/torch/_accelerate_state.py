"""The state of Accelerate in this process: each fit() begins with a new one, and ranks without a GPU can use the DeepSpeed plugin.

On ranks without a GPU, trainrt sets ACCELERATE_USE_CPU=true; otherwise Accelerate would train a separate model on each rank. With this variable, however,
Accelerate ignores a DeepSpeed plugin without a message. This module therefore changes Accelerate's AcceleratorState: it first joins the ranks as on the CPU,
and then continues as if the variable was not set.
"""

import functools
import importlib.abc
import importlib.util
import os
import sys
from typing import Any

_MODULE, _VARIABLE = "accelerate.state", "ACCELERATE_USE_CPU"
_PREFIXES = ("ACCELERATE_", "FSDP_", "MEGATRON_LM_", "PARALLELISM_CONFIG_")  # prefixes of the environment variables that Accelerate reads
_before: dict[str, str] = {}  # Accelerate's variables when begin() was called


def begin() -> None:
    """Must be called before each train function. On a rank without a GPU, changes the module accelerate.state now, or as soon as it is imported."""
    _before.clear()
    _before.update(_variables())
    if not _is_true(_VARIABLE):
        return
    if _MODULE in sys.modules:
        _change(sys.modules[_MODULE])
    elif not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def end() -> None:
    """Must be called after each train function. Removes Accelerate's state, which refers to the process group, and restores the variables of begin()."""
    for name in _variables():
        if name not in _before:
            del os.environ[name]
    os.environ.update(_before)
    module: Any = sys.modules.get(_MODULE)
    if module is not None:
        module.AcceleratorState._reset_state(True)
        module.GradientState._reset_state()


def _variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(_PREFIXES)}


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the module accelerate.state when it is first imported. Its loader executes the module and then changes it."""

    def find_spec(self, fullname, path, target=None):
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        loader: Any = spec.loader if spec is not None else None
        if loader is not None:
            execute = loader.exec_module

            def exec_module(module):
                execute(module)
                _change(module)

            loader.exec_module = exec_module
        return spec


def _change(module):
    kind = module.AcceleratorState
    original = kind.__init__
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def init(self, *arguments, **keywords):
        if not _is_true("ACCELERATE_USE_DEEPSPEED") or not _is_true(_VARIABLE):
            original(self, *arguments, **keywords)
            return
        module.PartialState(cpu=True)
        value = os.environ.pop(_VARIABLE)
        try:
            original(self, *arguments, **keywords)
        finally:
            os.environ[_VARIABLE] = value

    kind.__init__ = init


def _is_true(name):
    return os.environ.get(name, "").lower() in ("1", "true", "yes", "y", "on", "t")
