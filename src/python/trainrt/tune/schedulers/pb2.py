"""PB2: population based bandits (Parker-Holder et al., Provably Efficient Online Hyperparameter Optimization with Population-Based Bandits, 2020)."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

from .._spaces import uniform
from ..error import TuneError
from ._bandit import BanditExplore
from ._pbt import PopulationBasedTraining


class PB2(PopulationBasedTraining):
    """Population based training whose clones get the values that a Gaussian process expects to improve the metric most.

    Needs NumPy. The other rules are those of PopulationBasedTraining.

    Parameters
    ----------
    hyperparam_bounds : dict
        {name: [low, high]}, nested as the param_space. Values that the param_space lacks are drawn.
    custom_explore_fn : function, optional
        Called after the Gaussian process, as by PopulationBasedTraining.

    Raises
    ------
    RuntimeError
        NumPy is not installed.
    TuneError
        `hyperparam_bounds` is missing.
    ValueError
        A value of `hyperparam_bounds` is not [low, high].

    Examples
    --------
    >>> from trainrt.tune.schedulers.pb2 import PB2
    >>> PB2(time_attr="training_iteration", perturbation_interval=2, hyperparam_bounds={"lr": [1e-4, 1e-1]}).mutations()
    {('lr',): tune.uniform(0.0001, 0.1)}
    """

    def __init__(self, time_attr: str = "time_total_s", metric: str | None = None, mode: str | None = None, perturbation_interval: float = 60.0,
                 hyperparam_bounds: Mapping[str, Any] | None = None, quantile_fraction: float = 0.25, log_config: bool = True,
                 require_attrs: bool = True, synch: bool = False, custom_explore_fn: Callable[..., Any] | None = None) -> None:
        if importlib.util.find_spec("numpy") is None:
            raise RuntimeError("PB2 needs NumPy (pip install numpy, or Debian's python3-numpy)")
        if not hyperparam_bounds:
            raise TuneError("PB2 needs hyperparam_bounds, such as {'lr': [1e-4, 1e-1]}")
        bounds = dict(_bounds(hyperparam_bounds))
        super().__init__(time_attr=time_attr, metric=metric, mode=mode, perturbation_interval=perturbation_interval,
                         hyperparam_mutations=_domains(hyperparam_bounds), quantile_fraction=quantile_fraction, resample_probability=0,
                         custom_explore_fn=custom_explore_fn, log_config=log_config, require_attrs=require_attrs, synch=synch)
        self._bandit = BanditExplore(bounds, custom_explore_fn)
        self.explore = self._bandit

    def set_search_properties(self, metric: str | None, mode: str | None, **spec: Any) -> bool:
        is_set = super().set_search_properties(metric, mode, **spec)
        self._bandit.metric, self._bandit.mode = self._metric, self._mode
        return is_set


def _bounds(given: Mapping[str, Any], path: tuple = ()) -> Any:
    """Yields (path, (low, high)) of each value."""
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _bounds(value, (*path, name))
            continue
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            raise ValueError(f"PB2(hyperparam_bounds={{{name!r}: {value!r}}}): it must be a list [low, high]")
        if value[0] > value[1]:
            raise ValueError(f"PB2(hyperparam_bounds={{{name!r}: {value!r}}}): low must be at most high")
        yield (*path, name), (float(value[0]), float(value[1]))


def _domains(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _domains(value) if isinstance(value, Mapping) else uniform(float(value[0]), float(value[1])) for name, value in given.items()}


__all__ = ["PB2"]
