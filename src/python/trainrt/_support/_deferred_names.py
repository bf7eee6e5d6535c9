"""Names of a package that are imported at their first use, since they need a library that may be missing."""

from __future__ import annotations

import importlib
from typing import Any


def found(package: str, name: str, deferred: dict[str, str], refused: dict[str, str] | None = None) -> Any:
    """Returns the object `name` of a package, for its __getattr__().

    `deferred` is {name: module of the package}, `refused` is {name: what to use instead}. Raises ImportError for a refused name, or if the library is
    missing, and AttributeError for an unknown name.
    """
    if name in deferred:
        return getattr(importlib.import_module(f"{package}.{deferred[name]}"), name)
    if refused and name in refused:
        raise ImportError(f"{package}.{name} is not supported: {refused[name]}")
    raise AttributeError(f"module '{package}' has no attribute '{name}'")
