"""Checks arguments of the functions and methods of trainrt.data."""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from typing import Any

# Arguments with which Ray Data places tasks on a cluster. trainrt accepts and ignores these arguments.
OF_CLUSTERS = frozenset(("concurrency", "compute", "num_cpus", "num_gpus", "memory", "parallelism", "ray_remote_args", "ray_remote_args_fn",
                         "override_num_blocks", "num_blocks"))


def check_ignored(function: str, given: dict[str, Any], ignored: Collection[str] = OF_CLUSTERS, refused: Collection[str] = (),
                  hint: str = "") -> None:
    """Raises TypeError if a name in `given`, {argument: value}, is neither in `ignored` nor in `refused`. Raises ValueError if an argument in `refused`
    is not `None`. `function` is the caller's name for messages; `hint` is appended to the message of the TypeError."""
    unknown = sorted(set(given) - set(ignored) - set(refused))
    if unknown:
        raise TypeError(f"{function}() got an unexpected argument: {', '.join(unknown)}{hint}")
    unsupported = [name for name in refused if given.get(name) is not None]
    if unsupported:
        raise ValueError(f"{function}({unsupported[0]}=...) is not supported: files are in a file system that all nodes see, or in an object store")


def names_of(columns: str | Sequence[str]) -> list[str]:
    """Returns `columns`, one column name or several, as a list."""
    return [columns] if isinstance(columns, str) else list(columns)


def checked_integer(argument: str, number: Any, min_value: int | None = None, max_value: int | None = None) -> int:
    """Returns `number` as an int. Raises TypeError if `number` is a bool or not an integer, ValueError if `number` is below `min_value` or above
    `max_value`. Messages begin with `argument`."""
    try:
        found = None if isinstance(number, bool) else operator.index(number)
    except TypeError:
        found = None
    if found is None:
        raise TypeError(f"{argument}: {number!r} is not an integer")
    if (min_value is not None and found < min_value) or (max_value is not None and found > max_value):
        valid = f"from {min_value} to {max_value}" if max_value is not None else f"{min_value} or more"
        raise ValueError(f"{argument}: {found} is not {valid}")
    return found
