"""Searchers without a model: BasicVariantGenerator and HaltonSearch."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..._support import _notes
from .._domains import Domain
from .._domains._samplers import generator_of
from .._nested_values import as_domain, leaves, name_of
from ._base import Searcher, seed_setting
from ._variants import count_variants, generate_variants, merged_preset


class BasicVariantGenerator(Searcher):
    """Uses all values of grids, and draws the others at random, as without a search_alg.

    Parameters
    ----------
    points_to_evaluate : list of dict, optional
        Values of the first samples. Each replaces one sample: values that it lacks are those of the param_space.
    max_concurrent : int
        Maximum number of trials at the same time; 0: no maximum.
    constant_grid_search : bool
        Whether random values are drawn once for all combinations of the grids.
    random_state : int, numpy.random.Generator or numpy.random.RandomState, optional
        Seed of the random values, or a generator.

    Examples
    --------
    >>> from trainrt.tune.search import BasicVariantGenerator
    >>> BasicVariantGenerator(random_state=7).settings()
    {'seed': '7'}
    """

    def __init__(self, points_to_evaluate: Sequence[dict[str, Any]] | None = None, max_concurrent: int = 0, constant_grid_search: bool = False,
                 random_state: Any = None) -> None:
        super().__init__()
        self.max_concurrent = max_concurrent
        self._points, self._is_constant, self._state = list(points_to_evaluate or ()), constant_grid_search, random_state
        has_seed = random_state is None or (isinstance(random_state, int) and not isinstance(random_state, bool))
        self._needs_script = bool(self._points) or constant_grid_search or not has_seed
        self._seed = {} if self._needs_script else seed_setting(random_state)
        self._variants: Iterator[Any] = iter(())
        self._made: list[Any] = []

    def suggests(self) -> bool:
        return self._needs_script

    def settings(self) -> dict[str, str]:
        return {**self._seed, **({"max_concurrent_trials": str(self.max_concurrent)} if self.max_concurrent else {})}

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        self._variants, self._made = self._configs(config, spec.get("num_samples", 1)), []
        return True

    def total_samples(self, num_samples: int, param_space: dict[str, Any]) -> int:
        presets = sum(count_variants(merged_preset(param_space, point)) for point in self._points)
        return presets + max(0, num_samples - len(self._points)) * count_variants(param_space)

    def _configs(self, param_space: dict[str, Any], num_samples: int) -> Iterator[Any]:
        state = generator_of(self._state)
        for point in self._points:
            _check_point(point, param_space)
        presets = (merged_preset(param_space, point) for point in self._points)
        rest = itertools.repeat(param_space, max(0, num_samples - len(self._points)))
        for space in itertools.chain(presets, rest):
            for _, config in generate_variants(space, self._is_constant, state):
                yield config

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """Returns the variant with the number at the end of `trial_id`, or the next variant if `trial_id` does not end with a number."""
        found = re.search(r"(\d+)$", trial_id)
        number = int(found[1]) if found else len(self._made)
        self._made += itertools.islice(self._variants, max(0, number + 1 - len(self._made)))
        return self._made[number] if number < len(self._made) else Searcher.FINISHED

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Does nothing: the values do not depend on results."""


def _check_point(point: dict[str, Any], param_space: dict[str, Any]) -> None:
    """Prints a note for each value of the point that its domain does not contain. Raises ValueError for a name that the param_space lacks."""
    for path, value in leaves(point, lambda _: False):
        inner: Any = param_space
        for key in path:
            if as_domain(inner) is not None or not isinstance(inner, (dict, list, tuple)) or (isinstance(inner, dict) and key not in inner):
                raise ValueError(f"points_to_evaluate contains '{name_of(path)}', which the param_space does not have; add it to the param_space")
            inner = inner[key]
        domain: Domain | None = as_domain(inner)
        if domain is not None and not domain.is_valid(value):
            _notes.say(f"points_to_evaluate: {name_of(path)}={value!r} is not in its domain {domain.domain_str}")


class HaltonSearch(Searcher):
    """Draws values that fill the space more evenly than random ones. Ray Tune has no such searcher.

    Examples
    --------
    >>> from trainrt.tune.search import HaltonSearch
    >>> HaltonSearch(random_state=7).settings()
    {'searcher': 'halton', 'seed': '7'}
    """

    def __init__(self, random_state: int | None = None) -> None:
        super().__init__()
        self._settings = {"searcher": "halton", **seed_setting(random_state)}

    def suggests(self) -> bool:
        return False

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        return True

    def settings(self) -> dict[str, str]:
        return self._settings
