"""A param_space as a tree of dicts, lists and tuples: where its domains are, and the same tree with other values there."""

import copy

from ._spaces import Categorical, Domain


def as_domain(value):
    """The domain that `value` is; None if it is a value that is the same for all trials."""
    if isinstance(value, Domain):
        return value
    if isinstance(value, dict) and set(value) == {"grid_search"}:
        if not isinstance(value["grid_search"], (list, tuple)):
            raise ValueError(f"{{'grid_search': {value['grid_search']!r}}}: it must be a list of values")
        return Categorical(value["grid_search"], "grid")
    return None


def domains_in(value, path=()):
    """(path, domain) of each domain in the tree, from the first to the last. ValueError for one in a container that no value can be put into."""
    found = as_domain(value)
    if found is not None:
        yield path, found
    elif isinstance(value, (set, frozenset)) and any(isinstance(each, Domain) for each in value):
        raise ValueError(f"param_space: '{name_of(path)}' is a {type(value).__name__} with a domain in it; put it into a list")
    else:
        for key, inner in _items(value):
            yield from domains_in(inner, (*path, key))


def _items(value):
    return value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()


def leaves(value, is_leaf, path=()):
    """(path, value) of all that is no dict, is empty or a domain, or of which `is_leaf(path)` holds."""
    if isinstance(value, dict) and value and as_domain(value) is None and not is_leaf(path):
        for key, inner in value.items():
            yield from leaves(inner, is_leaf, (*path, key))
    else:
        yield path, value


def name_of(path):
    return "/".join(map(str, path))


def replaced(tree, path, value):
    """A copy of the tree with `value` at `path`; dicts that are missing on the way are made."""
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
