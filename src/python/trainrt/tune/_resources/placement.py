"""PlacementGroupFactory: the resources of one trial, by the names of Ray Tune."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

_STRATEGIES = ("PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD")


class PlacementGroupFactory:
    """The resources of one trial as a list of bundles. A trial of trainrt gets the sum of all bundles: Slurm allocates them.

    Parameters
    ----------
    bundles : list of dict
        Resources of the trainable itself, and of each worker that it starts: [{"CPU": 1}, {"CPU": 2}]. An empty first dict is for a trainable that needs no
        resources itself. Resources of 0 are left out.
    strategy : {"PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD"}
        Ignored: options of Slurm place the ranks.
    *args, **kwargs
        Further arguments of Ray's placement_group(), which are compared and otherwise ignored.

    Raises
    ------
    ValueError
        There are no bundles, or only an empty one.

    Examples
    --------
    >>> from trainrt import tune
    >>> factory = tune.PlacementGroupFactory([{"CPU": 1}, {"CPU": 2, "GPU": 1}])
    >>> factory.required_resources, factory.head_cpus
    ({'CPU': 3.0, 'GPU': 1.0}, 1.0)
    """

    def __init__(self, bundles: Sequence[Mapping[str, float]], strategy: str = "PACK", *args: Any, **kwargs: Any) -> None:
        if not bundles:
            raise ValueError("PlacementGroupFactory([]): it needs at least one bundle, such as {'CPU': 1}")
        made = [{name: float(amount) for name, amount in bundle.items() if amount != 0} for bundle in bundles]
        self._head_is_empty = not made[0]
        self._bundles = made[1:] if self._head_is_empty else made
        if not self._bundles:
            raise ValueError("PlacementGroupFactory([{}]): with an empty first bundle, it needs at least one bundle for workers")
        if strategy not in _STRATEGIES:
            raise ValueError(f"PlacementGroupFactory(strategy={strategy!r}): it must be one of {', '.join(_STRATEGIES)}")
        self._strategy, self._args, self._kwargs = strategy, args, kwargs

    @property
    def bundles(self) -> list[dict[str, float]]:
        """A copy of the bundles, without an empty first one."""
        return copy.deepcopy(self._bundles)

    @property
    def strategy(self) -> str:
        return self._strategy

    @property
    def head_bundle_is_empty(self) -> bool:
        """Whether the trainable itself needs no resources."""
        return self._head_is_empty

    @property
    def head_cpus(self) -> float:
        """CPUs of the trainable itself."""
        return 0.0 if self._head_is_empty else self._bundles[0].get("CPU", 0.0)

    @property
    def required_resources(self) -> dict[str, float]:
        """The sums of all bundles."""
        found: dict[str, float] = {}
        for bundle in self._bundles:
            for name, amount in bundle.items():
                found[name] = found.get(name, 0) + amount
        return found

    def _key(self) -> str:
        return json.dumps([self._bundles, self._head_is_empty, self._strategy, self._args, self._kwargs], sort_keys=True, default=str)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlacementGroupFactory) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"PlacementGroupFactory({[*([{}] if self._head_is_empty else []), *self._bundles]!r}, strategy={self._strategy!r})"


def resource_dict_to_pg_factory(spec: Mapping[str, Any] | None = None) -> PlacementGroupFactory:
    """Returns the PlacementGroupFactory of a dict such as {"cpu": 2, "gpu": 1, "custom_resources": {"license": 1}}; the default is one CPU.

    Examples
    --------
    >>> from trainrt.tune.execution.placement_groups import resource_dict_to_pg_factory
    >>> resource_dict_to_pg_factory({"cpu": 2}).bundles
    [{'CPU': 2.0}]
    """
    left = dict(spec or {"cpu": 1})
    named = {"CPU": left.pop("cpu", left.pop("CPU", 0)), "GPU": left.pop("gpu", left.pop("GPU", 0)), "memory": left.pop("memory", 0)}
    custom = left.pop("custom_resources", None)
    return PlacementGroupFactory([{**(custom or left), **named}])
