"""ResourceRequest and PlacementGroupFactory: resources of a trial or Trainer as a list of bundles, as Ray counts them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


class ResourceRequest:
    """Resources as a list of bundles, one for each process. Slurm allocates the resources of a job: a request only describes them.

    Parameters
    ----------
    bundles : list of dict
        `{"CPU": 4, "GPU": 1}` for each process. An empty first bundle is the one of a coordinating process without resources. Amounts of 0 are removed.
    strategy : str, default "PACK"
        How Ray would place the bundles. It is compared and otherwise ignored, as are the further arguments of Ray's placement_group() in `args` and `kwargs`.

    Raises
    ------
    ValueError
        If there are no bundles, or only an empty one.

    Examples
    --------
    >>> from trainrt.air import ResourceRequest
    >>> ResourceRequest([{}, {"CPU": 2}, {"CPU": 2}]).required_resources
    {'CPU': 4.0}
    """

    def __init__(self, bundles: Sequence[Mapping[str, float]], strategy: str = "PACK", *args: Any, **kwargs: Any) -> None:
        if not bundles:
            raise ValueError("Cannot initialize a ResourceRequest with zero bundles.")
        found = [{name: float(amount) for name, amount in bundle.items() if amount != 0} for bundle in bundles]
        self._head_bundle_is_empty = not found[0]
        self._bundles = found[1:] if self._head_bundle_is_empty else found
        if not self._bundles:
            raise ValueError("Cannot initialize a ResourceRequest with an empty head and zero worker bundles.")
        self._strategy, self._args, self._kwargs = strategy, args, kwargs

    @property
    def head_bundle_is_empty(self) -> bool:
        """Whether the first bundle was empty."""
        return self._head_bundle_is_empty

    @property
    def head_cpus(self) -> float:
        """Number of CPUs of the first bundle."""
        return 0.0 if self._head_bundle_is_empty else self._bundles[0].get("CPU", 0.0)

    @property
    def bundles(self) -> list[dict[str, float]]:
        """Copies of the bundles that are not empty."""
        return [dict(bundle) for bundle in self._bundles]

    @property
    def required_resources(self) -> dict[str, float]:
        """Sum of all bundles."""
        found: dict[str, float] = {}
        for bundle in self._bundles:
            for name, amount in bundle.items():
                found[name] = found.get(name, 0) + amount
        return found

    @property
    def strategy(self) -> str:
        """How Ray would place the bundles."""
        return self._strategy

    def to_placement_group(self) -> Any:
        """Raises NotImplementedError: Slurm places the processes."""
        raise NotImplementedError("ResourceRequest.to_placement_group() is not supported. Slurm allocates the resources: use ScalingConfig(num_workers=, "
                                  "resources_per_worker=) or options of sbatch.")

    def _key(self) -> str:
        return json.dumps([self._bundles, self._strategy, self._args, self._kwargs, self._head_bundle_is_empty], sort_keys=True, default=repr)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, ResourceRequest) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} (bundles={self._bundles}, strategy={self._strategy!r}, head_bundle_is_empty={self._head_bundle_is_empty})>"


class PlacementGroupFactory(ResourceRequest):
    """A ResourceRequest, as Ray Tune names it: the resources of one trial, for `tune.with_resources()`. A trial gets the sum of all bundles.

    Examples
    --------
    >>> from trainrt import tune
    >>> factory = tune.PlacementGroupFactory([{"CPU": 1}, {"CPU": 2, "GPU": 1}])
    >>> factory.required_resources, factory.head_cpus
    ({'CPU': 3.0, 'GPU': 1.0}, 1.0)
    >>> from trainrt.train import ScalingConfig
    >>> ScalingConfig(num_workers=2, resources_per_worker={"CPU": 3}).as_placement_group_factory().bundles
    [{'CPU': 3.0}, {'CPU': 3.0}]
    """


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
