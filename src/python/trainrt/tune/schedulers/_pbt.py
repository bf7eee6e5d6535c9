"""Population based training."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .._domains import Categorical, Domain, Function
from .._samples import sampled
from .._spec import function_in
from ..error import TuneError
from ._base import MetricScheduler


class PopulationBasedTraining(MetricScheduler):
    """Population based training: replaces bad trials with clones of good ones with slightly changed values.

    The train function must save checkpoints. Pass ``time_attr="training_iteration"``: a sweep does not support Ray Tune's default, seconds.

    Parameters
    ----------
    perturbation_interval, burn_in_period : float
        Number of reports between two changes, and before the first one.
    hyperparam_mutations : dict
        {name: list of values, a domain, or a function without arguments that draws a value}, nested as the param_space. Values stay in their domains.
        A function is called 64 times in the script, with the same seed at each start; a clone takes one of these numbers, or multiplies its own. Values
        that the param_space lacks are drawn.
    quantile_fraction : float
        Fraction of the trials that are bad, and that are good; at most 0.5.
    resample_probability : float
        Probability that a value is drawn again instead of changed by a factor.
    perturbation_factors : (float, float)
        The factors.
    custom_explore_fn : function, optional
        Called in the processes of a clone with its config, in the form of the param_space. Returns the config that the train function gets. The next clone
        starts from the values before this call.
    synch : bool
        If False, a trial is compared at its own report with the last report of each other trial. If True, trials wait at each comparison until all
        trials have reached the same report or are done.
    log_config, require_attrs
        Ignored.

    Raises
    ------
    TuneError
        Both `hyperparam_mutations` and `custom_explore_fn` are missing.
    TypeError, ValueError, AssertionError
        For other invalid arguments.

    Examples
    --------
    >>> from trainrt import tune
    >>> from trainrt.tune.schedulers import PopulationBasedTraining
    >>> scheduler = PopulationBasedTraining(time_attr="training_iteration", perturbation_interval=2,
    ...                                     hyperparam_mutations={"lr": tune.loguniform(1e-4, 1e-1)})
    >>> scheduler.mutations()
    {('lr',): tune.loguniform(0.0001, 0.1)}
    """

    needs_pauses = True  # so that it cannot decide in the script, which cannot clone trials

    def __init__(self, time_attr: str = "time_total_s", metric: str | None = None, mode: str | None = None, perturbation_interval: float = 60.0,
                 burn_in_period: float = 0.0, hyperparam_mutations: dict[str, Any] | None = None, quantile_fraction: float = 0.25,
                 resample_probability: float = 0.25, perturbation_factors: Sequence[float] = (1.2, 0.8),
                 custom_explore_fn: Callable[..., Any] | None = None, log_config: bool = True, require_attrs: bool = True,
                 synch: bool = False) -> None:
        del log_config, require_attrs  # the journal logs the config; a report without the metric is an error
        super().__init__("pbt", time_attr, metric, mode)
        self._check_mutations(hyperparam_mutations or {}, custom_explore_fn)
        if not 0 <= quantile_fraction <= 0.5:
            raise ValueError(f"{self._title}(quantile_fraction={quantile_fraction!r}): it must be from 0 to 0.5")
        if perturbation_interval <= 0:
            raise ValueError(f"{self._title}(perturbation_interval={perturbation_interval!r}): it must be above 0")
        self._mutations = {path: _domain_of(path, value, number) for number, (path, value) in enumerate(_paths(hyperparam_mutations or {}))}
        self.explore = custom_explore_fn
        self._settings = {"perturbation_interval": max(1, int(perturbation_interval)), "burn_in_period": int(burn_in_period),
                          "quantile_fraction": quantile_fraction, "resample_probability": resample_probability,
                          "perturbation_factors": ", ".join(map(str, perturbation_factors)), **({"synch": "true"} if synch else {})}

    @property
    def _title(self) -> str:
        return type(self).__name__

    def _check_mutations(self, mutations: Any, explore: Any) -> None:
        if explore is not None and not callable(explore):
            raise ValueError(f"{self._title}(custom_explore_fn={explore!r}): it must be a function of a config")
        if not mutations and explore is None:
            raise TuneError(f"{self._title} needs hyperparam_mutations, such as {{'lr': tune.loguniform(1e-4, 1e-1)}}, or a custom_explore_fn")
        for name, value in mutations.items():
            if not (isinstance(value, (dict, list, tuple, Domain)) or callable(value)):
                raise TypeError(f"hyperparam_mutations[{name!r}] is {value!r}: it must be a list of values, a function that draws one, or a domain, such as "
                                f"tune.loguniform(1e-4, 1e-1)")
            if isinstance(value, Function):
                raise ValueError(f"hyperparam_mutations[{name!r}] is {value!r}: use the function itself, without arguments, or a domain, such as "
                                 f"tune.uniform(0, 1)")

    def settings(self) -> dict[str, str]:
        return {key: str(value) for key, value in self._settings.items()}

    def mutations(self) -> dict[tuple, Domain]:
        if not self._mutations:
            raise ValueError(f"{self._title}(hyperparam_mutations={{}}): a sweep needs at least one value that clones change")
        return self._mutations

    def debug_string(self) -> str:
        return f"{self._title}: every {self._settings['perturbation_interval']} reports"


def _paths(mutations: dict[str, Any], path: tuple = ()) -> Iterator[tuple[tuple, Any]]:
    for key, value in mutations.items():
        if isinstance(value, dict):
            yield from _paths(value, (*path, key))
        else:
            yield (*path, key), value


def _domain_of(path: tuple, value: Any, number: int) -> Domain:
    """Returns the domain of a value of hyperparam_mutations. `number` is the seed of a function."""
    if isinstance(value, Domain):
        value = function_in(value) or value
    if isinstance(value, Domain):
        return value
    if isinstance(value, (list, tuple)):
        return Categorical(value)
    if not callable(value):
        raise ValueError(f"hyperparam_mutations[{path[-1]!r}] is {value!r}: it must be a list of values, a function that draws one, or a domain, such as "
                         f"tune.loguniform(1e-4, 1e-1)")
    if _needs_arguments(value):
        raise ValueError(f"hyperparam_mutations[{path[-1]!r}] is a function with parameters; it must draw a value without arguments")
    return sampled(value, number)


def _needs_arguments(function: Callable[..., Any]) -> bool:
    try:
        return any(each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
                   for each in inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a built-in function without a signature
        return False
