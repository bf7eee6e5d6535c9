"""Functions of ray.tune.utils that flatten, unflatten and merge nested dicts."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from ..._client.values import kind_of


def flatten_dict(dt: dict[str, Any], delimiter: str = "/", prevent_delimiter: bool = False, flatten_list: bool = False) -> dict[str, Any]:
    """Returns a dict without nested dicts: the key of a value is its path. Empty dicts are left out.

    Parameters
    ----------
    dt : dict
    delimiter : str
    prevent_delimiter : bool
        Whether a key that contains `delimiter` raises ValueError.
    flatten_list : bool
        Whether elements of lists become values with their index in the path.

    Examples
    --------
    >>> from trainrt.tune.utils import flatten_dict
    >>> flatten_dict({"a": {"b": 1, "c": {"d": 2}}})
    {'a/b': 1, 'a/c/d': 2}
    """
    found: dict[str, Any] = type(dt)()
    for key, value in dt.items():
        if prevent_delimiter and delimiter in str(key):
            raise ValueError(f"flatten_dict(): the key {key!r} contains {delimiter!r}; choose another delimiter")
        inner = dict(enumerate(value)) if flatten_list and isinstance(value, list) else value
        if isinstance(inner, dict):
            found.update({f"{key}{delimiter}{name}": each for name, each in flatten_dict(inner, delimiter, prevent_delimiter, flatten_list).items()})
        else:
            found[key] = value
    return found


def unflattened_lookup(flat_key: str, lookup: Any, delimiter: str = "/", **kwargs: Any) -> Any:
    """Returns the value at the path `flat_key` of nested dicts and lists; `default=` if a key is missing, else raises KeyError.

    Examples
    --------
    >>> from trainrt.tune.utils import unflattened_lookup
    >>> unflattened_lookup("a/0/b", {"a": [{"b": 1}]})
    1
    """
    if flat_key in lookup:
        return lookup[flat_key]
    found = lookup
    for key in flat_key.split(delimiter):
        try:
            if not isinstance(found, (Mapping, Sequence)):
                raise KeyError(flat_key)
            found = found[key] if isinstance(found, Mapping) else found[int(key)]
        except KeyError:
            if "default" in kwargs:
                return kwargs["default"]
            raise
    return found


def merge_dicts(d1: dict[Any, Any], d2: dict[Any, Any]) -> dict[Any, Any]:
    """Returns a copy of `d1` with the values of `d2`. Nested dicts are merged.

    Examples
    --------
    >>> from trainrt.tune.utils import merge_dicts
    >>> merge_dicts({"a": {"b": 1}}, {"a": {"c": 2}})
    {'a': {'b': 1, 'c': 2}}
    """
    return deep_update(copy.deepcopy(d1), d2, new_keys_allowed=True)


def deep_update(original: dict[Any, Any], new_dict: dict[Any, Any], new_keys_allowed: bool = False, allow_new_subkey_list: Sequence[str] | None = None,
                override_all_if_type_changes: Sequence[str] | None = None, override_all_key_list: Sequence[str] | None = None) -> dict[Any, Any]:
    """Merges `new_dict` into `original`, and returns `original`.

    Parameters
    ----------
    new_keys_allowed : bool
        False: a key that `original` lacks raises ValueError.
    allow_new_subkey_list : list of str, optional
        Keys of dicts that may get new keys.
    override_all_if_type_changes : list of str, optional
        Keys of dicts that are replaced if their entry `type` changes.
    override_all_key_list : list of str, optional
        Keys of dicts that are replaced.

    Examples
    --------
    >>> from trainrt.tune.utils import deep_update
    >>> deep_update({"a": {"b": 1}}, {"a": {"b": 2}})
    {'a': {'b': 2}}
    """
    subkeys, by_type, replaced = allow_new_subkey_list or (), override_all_if_type_changes or (), override_all_key_list or ()
    for key, value in new_dict.items():
        if key not in original and not new_keys_allowed:
            raise ValueError(f"deep_update(): unknown key {key!r}; known keys: {', '.join(map(str, original)) or 'none'}")
        before = original.get(key)
        has_other_type = key in by_type and isinstance(value, dict) and "type" in value and value["type"] != (before or {}).get("type")
        if isinstance(before, dict) and isinstance(value, dict) and key not in replaced and not has_other_type:
            deep_update(before, value, key in subkeys or new_keys_allowed, override_all_if_type_changes=by_type, override_all_key_list=replaced)
        else:
            original[key] = value
    return original


def unflatten_dict(dt: dict[str, Any], delimiter: str = "/") -> dict[str, Any]:
    """Returns the nested dicts of a flat one, the reverse of flatten_dict() without lists. Raises TypeError if a path leads through a value that is not a
    dict.

    Examples
    --------
    >>> from trainrt.tune.utils.util import unflatten_dict
    >>> unflatten_dict({"a/b": 1, "a/c/d": 2})
    {'a': {'b': 1, 'c': {'d': 2}}}
    """
    made = type(dt)()
    for key, value in dt.items():
        *path, last = key.split(delimiter)
        inner: Any = made
        for part in path:
            inner = inner.setdefault(part, type(dt)())
            if not isinstance(inner, dict):
                raise TypeError(f"unflatten_dict(): the key '{key}' has the parent '{part}', whose value is {kind_of(inner)}; rename one of them")
        inner[last] = value
    return made


def unflatten_list_dict(dt: dict[str, Any], delimiter: str = "/") -> Any:
    """Returns the nested dicts and lists of a flat dict. Parts of a path that are numbers are indices of lists, which must be in ascending order.

    Examples
    --------
    >>> from trainrt.tune.utils.util import unflatten_list_dict
    >>> unflatten_list_dict({"aaa/0/bb": 12, "aaa/1/cc": 56, "aaa/1/dd": 92})
    {'aaa': [{'bb': 12}, {'cc': 56, 'dd': 92}]}
    """
    is_list = bool(dt) and next(iter(dt)).split(delimiter, 1)[0].isdigit()
    made: Any = [] if is_list else type(dt)()
    for key, value in dt.items():
        path = key.split(delimiter)
        inner = made
        for part, following in zip(path, path[1:]):
            inner = _entered(inner, part, [] if following.isdigit() else {})
        _entered(inner, path[-1], value)
    return made


def _entered(container: Any, key: str, value: Any) -> Any:
    """Returns the element of a dict or a list, which is added as `value` if it is missing."""
    if isinstance(container, dict):
        return container.setdefault(key, value)
    if int(key) >= len(container):
        container.append(value)
        assert int(key) == len(container) - 1, f"unflatten_list_dict(): the index {key} is not the next one; indices must be in ascending order"
    return container[int(key)]
