"""Names of Ray that no module of trainrt defines: further paths of objects, and names that trainrt does not support.

Each table of this package has three dicts. `HOMES` maps a module path of Ray to the module of trainrt that has its names: `tune.stopper.noop` has the
names of `tune.stopper`. `ALIASES` maps the path of one name to another path. `UNSUPPORTED` maps a name to a sentence that says what to write instead.
`import trainrt` adds RayModules to `sys.meta_path`, which finds the
module paths; modules of trainrt call attribute_of() for names that they do not have.
"""

import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
from typing import Any, Callable

from . import _air, _core, _data, _train, _tune

_TABLES = (_core, _air, _data, _train, _tune)
HOMES: dict[str, str] = {path: home for table in _TABLES for path, home in table.HOMES.items()}
ALIASES: dict[str, str] = {path: target for table in _TABLES for path, target in table.ALIASES.items()}
UNSUPPORTED: dict[str, dict[str, str]] = {path: names for table in _TABLES for path, names in table.UNSUPPORTED.items()}


class _StubType(type):
    """Type of a stub: an object that can be imported, and that raises an error when it is called, subclassed or otherwise used."""

    def __call__(cls, *_arguments: Any, **_options: Any) -> Any:
        raise NotImplementedError(cls.__doc__)

    def __getattr__(cls, name: str) -> Any:
        raise AttributeError(cls.__doc__ if not name.startswith("__") else name)


@functools.cache
def _stub(path: str, name: str) -> Any:
    """Returns the stub of the unsupported name `name` of module `trainrt.PATH`. Stubs of errors may be named in an `except` clause."""
    module = ".".join(filter(None, ("trainrt", path)))
    text = f"{module}.{name} is not supported. {UNSUPPORTED[path][name]}"

    def refuse_subclass(cls: type, **_options: Any) -> None:
        raise NotImplementedError(text)

    bases = (Exception,) if name.endswith("Error") else ()
    return _StubType(name, bases, {"__module__": module, "__doc__": text, "__init_subclass__": classmethod(refuse_subclass)})


def attribute_of(path: str, name: str) -> Any:
    """Returns the object `name` of module `trainrt.PATH`, which the module itself does not have; `path` is "" for the package trainrt.

    For an unsupported name of Ray, returns a stub, which raises NotImplementedError when it is called or subclassed. Raises AttributeError for
    any other name.
    """
    if name in UNSUPPORTED.get(path, {}):
        return _stub(path, name)
    if f"{path}.{name}" in ALIASES:
        module, _, name = ALIASES[f"{path}.{name}"].rpartition(".")
        return getattr(importlib.import_module(f"trainrt.{module}"), name)
    module = ".".join(filter(None, ("trainrt", path)))
    if path in HOMES and not name.startswith("__"):
        return getattr(importlib.import_module(f"trainrt.{HOMES[path]}"), name)
    raise AttributeError(f"module '{module}' has no attribute '{name}'")


def names_of(module: str) -> Callable[[str], Any]:
    """Returns a function for use as `__getattr__` of the module `module`, "trainrt.tune" for example, that calls attribute_of()."""
    return functools.partial(attribute_of, module.partition(".")[2])


class RayModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the module paths of Ray that have no file in trainrt, and loads them as modules that take their names from attribute_of()."""

    def __init__(self) -> None:
        paths = [*HOMES, *UNSUPPORTED, *(alias.rpartition(".")[0] for alias in ALIASES)]
        self._paths = {path.rsplit(".", depth)[0] for path in paths for depth in range(path.count(".") + 1)}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        package, _, rest = fullname.partition(".")
        if package != "trainrt" or rest not in self._paths:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def exec_module(self, module: Any) -> None:
        module.__doc__ = f"Names of the module {module.__name__.replace('trainrt', 'ray', 1)}."
        module.__getattr__ = names_of(module.__name__)


def add_ray_modules() -> None:
    """Adds RayModules to the end of `sys.meta_path`, so that modules with a file are found first. Does nothing if it was added before."""
    if not any(isinstance(finder, RayModules) for finder in sys.meta_path):
        sys.meta_path.append(RayModules())
