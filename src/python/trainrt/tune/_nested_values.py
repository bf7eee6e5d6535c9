"""Finds the domains of a param_space, which is a tree of dicts, lists and tuples, and replaces its values."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .._client.values import kind_of
from ._domains import Categorical, Domain

Path = tuple  # keys of dicts and indices of lists that lead from the root to a value


def as_domain(value: Any) -> Domain | None:
    """Returns the Domain of a domain or a grid. Returns `None` for any other value, which is the same for all trials."""
    if isinstance(value, Domain):
        return value
    if isinstance(value, dict) and set(value) == {"grid_search"}:
        if not isinstance(value["grid_search"], (list, tuple)):
            raise ValueError(f"{{'grid_search': {value['grid_search']!r}}}: it must be a list of values")
        return Categorical(value["grid_search"], "grid")
    return None


def domains_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, Domain]]:
    """Yields (path, domain) for each domain in the tree, in order. Raises ValueError for a domain in a set, since its elements cannot be replaced."""
    found = as_domain(value)
    if found is not None:
        yield path, found
    elif isinstance(value, (set, frozenset)) and any(isinstance(each, Domain) for each in value):
        raise ValueError(f"param_space: '{name_of(path)}' is {kind_of(value)} that contains a domain; use a list")
    else:
        for key, inner in _items(value):
            yield from domains_in(inner, (*path, key))


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    return value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()


def leaves(value: Any, is_leaf: Callable[[Path], bool], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yields (path, value) for values that are not dicts, for empty dicts and domains, and where `is_leaf(path)` is true."""
    if isinstance(value, dict) and value and as_domain(value) is None and not is_leaf(path):
        for key, inner in value.items():
            yield from leaves(inner, is_leaf, (*path, key))
    else:
        yield path, value


def name_of(path: Path) -> str:
    """Returns the name of a value: its path with slashes."""
    return "/".join(map(str, path))


def replaced(tree: Any, path: Path, value: Any) -> Any:
    """Returns a copy of the tree with `value` at `path`. Missing dicts are added."""
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(tree, dict):
        made = copy.copy(tree)
        made[key] = replaced(tree.get(key, {}), rest, value)
        return made
    items = list(tree)
    items[key] = replaced(items[key], rest, value)
    return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)


def merged(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Returns the entries of both dicts. `over` takes precedence; nested dicts are merged."""
    found = dict(under)
    for key, value in over.items():
        found[key] = merged(found[key], value) if isinstance(value, dict) and isinstance(found.get(key), dict) else value
    return found
