"""Schedulers, which stop trials early, by Ray Tune's names and defaults. Each is a plug-in of trainrt (`trainrt list`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..._ray_names import names_of
from ..._support import _notes
from .._samples import sampled
from .._spaces import Categorical, Domain, Function


class TrialScheduler:
    """Base class of the schedulers. Time is counted in reports.

    Parameters
    ----------
    time_attr : {"training_iteration"}
        Other units raise ValueError.
    metric, mode : str, optional
        As of TuneConfig.

    Examples
    --------
    >>> from trainrt import tune
    >>> isinstance(tune.schedulers.ASHAScheduler(), tune.schedulers.TrialScheduler)
    True
    """

    name = "fifo"  # the key tune.scheduler
    explore: Callable[[dict[str, Any]], Any] | None = None  # adjusts the config of a clone

    def __init__(self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None) -> None:
        if time_attr != "training_iteration":
            raise ValueError(f"{type(self).__name__}(time_attr={time_attr!r}): time is counted in reports, so that a sweep has the same result "
                             f"on any machine: use time_attr='training_iteration', and give the other numbers in reports")
        if mode not in (None, "min", "max"):
            raise ValueError(f"{type(self).__name__}(mode={mode!r}): it must be 'min' or 'max'")
        self.metric, self.mode = metric, mode
        self._settings: dict[str, Any] = {}

    def settings(self) -> dict[str, str]:
        """Returns the keys of the section [tune.NAME]."""
        return {key: str(value) for key, value in self._settings.items()}

    def mutations(self) -> dict[tuple, Domain]:
        """Returns {path: Domain} for the values that change during a trial."""
        return {}

    def _refuse(self, **given: Any) -> None:
        for name, value in given.items():
            if value:
                raise ValueError(f"{type(self).__name__}({name}={value!r}) is not supported")


class FIFOScheduler(TrialScheduler):
    """Runs every trial to its end.

    Examples
    --------
    >>> from trainrt.tune.schedulers import FIFOScheduler
    >>> FIFOScheduler().name
    'fifo'
    """

    def __init__(self) -> None:
        super().__init__()


class AsyncHyperBandScheduler(TrialScheduler):
    """Asynchronous successive halving (ASHA): continues the best of the trials that have reached a rung.

    Parameters
    ----------
    max_t : int
        Maximum number of reports of a trial.
    grace_period : int
        Minimum number of reports before a trial may stop.
    reduction_factor : float
        One of `reduction_factor` trials continues at each rung.
    brackets : int
        Number of brackets, each with another first rung.

    Examples
    --------
    >>> from trainrt.tune.schedulers import ASHAScheduler
    >>> ASHAScheduler(max_t=10).settings()["max_t"]
    '10'
    """

    name = "asha"

    def __init__(self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None, max_t: int = 100,
                 grace_period: int = 1, reduction_factor: float = 4, brackets: int = 1, stop_last_trials: bool = True) -> None:
        super().__init__(time_attr, metric, mode)
        self._refuse(stop_last_trials=not stop_last_trials)
        self._settings = {"max_t": max_t, "grace_period": grace_period, "reduction_factor": reduction_factor, "brackets": brackets}


ASHAScheduler = AsyncHyperBandScheduler


class HyperBandScheduler(TrialScheduler):
    """HyperBand: the trials of a bracket wait for each other, and the best continue. The train function must save checkpoints.

    Examples
    --------
    >>> from trainrt.tune.schedulers import HyperBandScheduler
    >>> HyperBandScheduler(max_t=27).settings()
    {'max_t': '27', 'reduction_factor': '3'}
    """

    name = "hyperband"

    def __init__(self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None, max_t: int = 81,
                 reduction_factor: float = 3, stop_last_trials: bool = True) -> None:
        super().__init__(time_attr, metric, mode)
        self._refuse(stop_last_trials=not stop_last_trials)
        self._settings = {"max_t": max_t, "reduction_factor": reduction_factor}


class MedianStoppingRule(TrialScheduler):
    """Stops a trial if its best report is worse than the median of the means of the other trials.

    Pass ``time_attr="training_iteration"``: Ray Tune's default, seconds, is not supported.

    Examples
    --------
    >>> from trainrt.tune.schedulers import MedianStoppingRule
    >>> MedianStoppingRule(time_attr="training_iteration", grace_period=5).settings()
    {'grace_period': '5', 'min_samples_required': '3'}
    """

    name = "median"

    def __init__(self, time_attr: str = "time_total_s", metric: str | None = None, mode: str | None = None, grace_period: float = 60.0,
                 min_samples_required: int = 3, min_time_slice: float = 0, hard_stop: bool = True) -> None:
        super().__init__(time_attr, metric, mode)
        self._refuse(min_time_slice=min_time_slice, hard_stop=not hard_stop)
        self._settings = {"grace_period": int(grace_period), "min_samples_required": min_samples_required}


class PopulationBasedTraining(TrialScheduler):
    """Population based training: replaces bad trials with clones of good ones with slightly changed values.

    The train function must save checkpoints. Pass ``time_attr="training_iteration"``: Ray Tune's default, seconds, is not supported.

    Parameters
    ----------
    perturbation_interval, burn_in_period : float
        Number of reports between two changes, and before the first one.
    hyperparam_mutations : dict
        {name: list of values, a domain, or a function without arguments that draws a value}, nested as the param_space. Values stay in their domains.
        A function is called 64 times in the script, with the same seed at each start; a clone takes one of these numbers, or multiplies its own. Values
        that the param_space lacks are drawn.
    quantile_fraction : float
        Fraction of the trials that are bad, and that are good.
    resample_probability : float
        Probability that a value is drawn again instead of changed by a factor.
    perturbation_factors : (float, float)
        The factors.
    custom_explore_fn : function, optional
        Called in the processes of a clone with its config, in the form of the param_space. Returns the config that the train function gets. The next clone
        starts from the values before this call.
    synch : bool
        Has no effect except a note: a trial is compared at its own report with the last report of each other trial, and does not wait for them.
    log_config, require_attrs
        Ignored.

    Examples
    --------
    >>> from trainrt import tune
    >>> from trainrt.tune.schedulers import PopulationBasedTraining
    >>> scheduler = PopulationBasedTraining(time_attr="training_iteration", perturbation_interval=2,
    ...                                     hyperparam_mutations={"lr": tune.loguniform(1e-4, 1e-1)})
    >>> scheduler.mutations()
    {('lr',): tune.loguniform(0.0001, 0.1)}
    """

    name = "pbt"

    def __init__(self, time_attr: str = "time_total_s", metric: str | None = None, mode: str | None = None, perturbation_interval: float = 60.0,
                 burn_in_period: float = 0.0, hyperparam_mutations: dict[str, Any] | None = None, quantile_fraction: float = 0.25,
                 resample_probability: float = 0.25, perturbation_factors: Sequence[float] = (1.2, 0.8),
                 custom_explore_fn: Callable[..., Any] | None = None, log_config: bool = True, require_attrs: bool = True,
                 synch: bool = False) -> None:
        del log_config, require_attrs  # the journal logs the config; a report without the metric is an error
        super().__init__(time_attr, metric, mode)
        if not hyperparam_mutations:
            raise ValueError("PopulationBasedTraining needs hyperparam_mutations: {'lr': tune.loguniform(1e-4, 1e-1)}")
        if custom_explore_fn is not None and not callable(custom_explore_fn):
            raise ValueError(f"PopulationBasedTraining(custom_explore_fn={custom_explore_fn!r}): it must be a function of a config")
        if synch:
            _notes.say("PopulationBasedTraining(synch=True) has no effect: trials do not wait for each other. At every perturbation_interval, a trial is "
                       "compared with the last report of each other trial")
        self._mutations = {path: _domain_of(path, value, number) for number, (path, value) in enumerate(_paths(hyperparam_mutations))}
        self.explore = custom_explore_fn
        self._settings = {"perturbation_interval": int(perturbation_interval), "burn_in_period": int(burn_in_period),
                          "quantile_fraction": quantile_fraction, "resample_probability": resample_probability,
                          "perturbation_factors": ", ".join(map(str, perturbation_factors))}

    def mutations(self) -> dict[tuple, Domain]:
        return self._mutations


def _paths(mutations: dict[str, Any], path: tuple = ()) -> Iterator[tuple[tuple, Any]]:
    for key, value in mutations.items():
        if isinstance(value, dict):
            yield from _paths(value, (*path, key))
        else:
            yield (*path, key), value


def _domain_of(path: tuple, value: Any, number: int) -> Domain:
    """Returns the domain of a value of hyperparam_mutations. `number` is the seed of a function."""
    if isinstance(value, Function):
        value = value.function
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


_SCHEDULERS: dict[str, type[Any]] = {"fifo": FIFOScheduler, "async_hyperband": AsyncHyperBandScheduler, "asynchyperband": AsyncHyperBandScheduler,
                                     "asha": ASHAScheduler,
               "hyperband": HyperBandScheduler, "median_stopping_rule": MedianStoppingRule, "medianstopping": MedianStoppingRule,
               "pbt": PopulationBasedTraining}


def create_scheduler(scheduler: str, **arguments: Any) -> TrialScheduler:
    """Returns the scheduler of that name, such as 'asha', 'hyperband', 'median_stopping_rule' or 'pbt'. Raises ValueError for other names.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.create_scheduler("asha", max_t=10)  # doctest: +ELLIPSIS
    <trainrt.tune.schedulers.AsyncHyperBandScheduler object at ...>
    """
    if scheduler not in _SCHEDULERS:
        raise ValueError(f"create_scheduler({scheduler!r}): it must be one of {', '.join(sorted(_SCHEDULERS))}")
    return _SCHEDULERS[scheduler](**arguments)


__getattr__ = names_of(__name__)
__all__ = ["ASHAScheduler", "AsyncHyperBandScheduler", "FIFOScheduler", "HyperBandScheduler", "MedianStoppingRule", "PopulationBasedTraining",
           "TrialScheduler", "create_scheduler"]
