"""made_by_name(), which makes a searcher or scheduler by its name."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any


def made_by_name(function: str, name: str, classes: Mapping[str, Any], package: str, modules: Mapping[str, str], arguments: Mapping[str, Any]) -> Any:
    """Returns an object of the class `name`, in upper or lower case. Leaves out `arguments` that the class does not have. Raises ValueError, which names
    `function`, for an unknown name.

    `classes`: {name: class}; `modules`: {name: class name} for modules of `package` that need a package of their own.
    """
    chosen: Any = classes.get(name.lower())
    if name.lower() in modules:
        chosen = getattr(importlib.import_module(f"{package}.{name.lower()}"), modules[name.lower()])
    if chosen is None:
        raise ValueError(f"{function}({name!r}): it must be one of {', '.join(sorted([*classes, *modules]))}")
    known = inspect.signature(chosen).parameters
    return chosen(**{key: value for key, value in arguments.items() if key in known})
