"""generate_variants(): all configs of a param_space, by the rules of Ray Tune."""

from __future__ import annotations

import copy
import itertools
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .._domains import Categorical, Function
from .._domains._config_view import Unresolved
from .._domains._samplers import generator_of
from .._nested_values import Path, as_domain, domains_in, name_of, replaced


def generate_variants(unresolved_spec: dict[str, Any], constant_grid_search: bool = False, random_state: Any = None) -> Iterator[tuple[dict[Path, Any], Any]]:
    """Yields ({path: value}, resolved tree) for each combination of the grids of a tree of dicts and lists. Other domains are drawn for each combination.

    Parameters
    ----------
    unresolved_spec : dict
    constant_grid_search : bool
        Whether domains are drawn once, so that all combinations have the same values.
    random_state : int, numpy.random.Generator or numpy.random.RandomState, optional

    Raises
    ------
    ValueError
        Functions of sample_from() need each other's results.

    Examples
    --------
    >>> from trainrt import tune
    >>> from trainrt.tune.search.variant_generator import generate_variants
    >>> [tree for _, tree in generate_variants({"b": tune.grid_search([1, 2]), "a": tune.grid_search([3, 4])})]
    [{'b': 1, 'a': 3}, {'b': 1, 'a': 4}, {'b': 2, 'a': 3}, {'b': 2, 'a': 4}]
    """
    spec = copy.deepcopy(unresolved_spec)
    state = generator_of(random_state) if any(True for _ in domains_in(spec)) else None
    grids = sorted(((path, domain) for path, domain in domains_in(spec) if domain.is_grid()), key=lambda each: tuple(map(str, each[0])))
    found, tree = _drawn(spec, state, allows_missing=True) if constant_grid_search else ({}, spec)
    for values in itertools.product(*(domain.categories for _, domain in reversed(grids))):  # type: ignore[attr-defined]
        chosen, made = dict(found), tree
        for (path, _), value in zip(grids, reversed(values)):
            chosen[path], made = value, replaced(made, path, value)
        drawn, made = _drawn(made, state)
        yield from _resolved({**chosen, **drawn}, made, state)


def _resolved(found: dict[Path, Any], tree: Any, state: Any) -> Iterator[tuple[dict[Path, Any], Any]]:
    """Yields the variants of a tree whose values may contain further domains."""
    if not any(True for _ in domains_in(tree)):
        yield found, tree
        return
    for inner, made in generate_variants(tree, random_state=state):
        yield {**found, **inner}, made


def _drawn(tree: Any, state: Any, allows_missing: bool = False) -> tuple[dict[Path, Any], Any]:
    """Draws the values of the domains, except grids. Returns ({path: value}, tree with them). A function that reads the value of another domain is called
    after that domain is drawn; with `allows_missing`, it is left out if it reads a grid."""
    found: dict[Path, Any] = {}
    waiting = [(path, domain) for path, domain in domains_in(tree) if not domain.is_grid()]
    while waiting:
        before, waiting = waiting, []
        for path, domain in before:
            try:
                value = domain.called(_config_in(tree)) if isinstance(domain, Function) else domain.sample(random_state=state)
            except Unresolved:
                waiting.append((path, domain))
                continue
            found[path], tree = value, replaced(tree, path, value)
        if len(waiting) == len(before) and allows_missing:
            break
        if len(waiting) == len(before):
            raise ValueError(f"sample_from(): the functions of {', '.join(name_of(path) for path, _ in waiting)} need each other's results")
    return found, tree


def _config_in(tree: Any) -> Any:
    """Returns the config that a function gets: the tree, or the entry `config` of an experiment's specification."""
    return tree["config"] if isinstance(tree, dict) and isinstance(tree.get("config"), dict) else tree


def count_variants(param_space: Any) -> int:
    """Returns the number of combinations of the values of all grids."""
    grids = [domain for _, domain in domains_in(param_space) if isinstance(domain, Categorical) and domain.is_grid()]
    return math.prod([len(grid) for grid in grids])


def merged_preset(param_space: Any, preset: Mapping[str, Any]) -> Any:
    """Returns the param_space with the values of a point of points_to_evaluate. Nested dicts are merged, except grids."""
    made = dict(param_space)
    for key, value in preset.items():
        inner = made.get(key)
        is_tree = isinstance(inner, dict) and as_domain(inner) is None and isinstance(value, Mapping)
        made[key] = merged_preset(inner, value) if is_tree else value
    return made


def format_vars(resolved_vars: Mapping[Path, Any]) -> str:
    """Returns the values as "name=value", separated by commas, for use in names of files.

    Examples
    --------
    >>> from trainrt.tune.search.variant_generator import format_vars
    >>> format_vars({("config", "lr"): 0.125, ("config", "act"): "re lu"})
    'act=re_lu,lr=0.1250'
    """
    shown = {path: value for path, value in resolved_vars.items() if path not in ("run", "env", "resources_per_trial")}
    return ",".join(f"{_clean(path[-1])}={_clean(value)}" for path, value in sorted(shown.items(), key=lambda each: tuple(map(str, each[0]))))


def _clean(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else re.sub(r"[^a-zA-Z0-9_-]+", "_", str(value)).strip("_")
