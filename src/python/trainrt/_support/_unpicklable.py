"""Finds the object that makes a function, or the arguments of a Trainer, impossible to pickle."""

from __future__ import annotations

import functools
import inspect
import os
import types
from collections.abc import Callable, Iterator
from typing import Any

_MAX_DEPTH = 12


def explained(thing: Any, error: Exception, dumps: Callable[[Any], bytes]) -> str:
    """Returns a text that names the innermost object in `thing` for which `dumps` fails, and advice. `error` is the exception for `thing`."""
    name, found = "", thing
    for _ in range(_MAX_DEPTH):
        inner = next(((label, value) for label, value in _parts(found, name) if _fails(value, dumps)), None)
        if inner is None:
            break
        name, found = inner
    cause = f"{type(error).__name__}: {error}"
    if not name:
        return f"{cause}. Create the objects that it uses inside of the function"
    kind = type(found)
    return (f"{name} is a {kind.__name__ if kind.__module__ == 'builtins' else f'{kind.__module__}.{kind.__qualname__}'}, which cannot be sent to another "
            f"process ({cause}). Create it inside of the function")


def _fails(value: Any, dumps: Callable[[Any], bytes]) -> bool:
    try:
        dumps(value)
    except Exception:  # any exception of an object's method
        return True
    return False


def _parts(thing: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yields (description, value) for the objects that the pickle of `thing` contains. `name` is the description of `thing`, or ''."""
    if isinstance(thing, types.FunctionType):
        yield from _parts_of_function(thing)
    elif isinstance(thing, types.MethodType):
        yield f"the object of the method {thing.__qualname__}", thing.__self__
    elif isinstance(thing, functools.partial):
        yield name, thing.func
        yield from ((f"argument {number} of functools.partial()", value) for number, value in enumerate(thing.args, 1))
        yield from ((f"argument {key} of functools.partial()", value) for key, value in thing.keywords.items())
    elif isinstance(thing, dict):
        yield from ((f"{name}[{key!r}]", value) for key, value in thing.items())
    elif isinstance(thing, (list, tuple)):
        yield from ((f"{name}[{number}]", value) for number, value in enumerate(thing))
    elif isinstance(thing, type):
        yield from ((f"{thing.__qualname__}.{key}", getattr(value, "__func__", value)) for key, value in vars(thing).items() if not key.startswith("__") or
                    callable(value))
    elif isinstance(getattr(thing, "__dict__", None), dict):
        yield f"the class {type(thing).__qualname__}", type(thing)
        yield from ((f"{name}.{key}" if name else key, value) for key, value in vars(thing).items())


def _parts_of_function(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    label = f"{function.__qualname__} ({os.path.basename(function.__code__.co_filename)}, line {function.__code__.co_firstlineno})"
    try:
        used = inspect.getclosurevars(function)
    except (TypeError, ValueError):  # a closure variable has no value yet
        return
    yield from ((f"the variable '{key}', which {label} captures,", value) for key, value in used.nonlocals.items())
    yield from ((f"the global variable '{key}', which {label} uses,", value) for key, value in used.globals.items())
    yield from ((f"a default of a parameter of {label}", value) for value in function.__defaults__ or ())
