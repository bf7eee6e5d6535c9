"""Which trials end before their time, by Ray Tune's names and defaults; each is a plug-in of trainrt (`trainrt list`)."""

from .._spaces import Categorical, Domain


class TrialScheduler:
    """`name` and `settings()` are those of [tune]; time is counted in reports."""

    name = "fifo"

    def __init__(self, time_attr="training_iteration", metric=None, mode=None):
        if time_attr != "training_iteration":
            raise ValueError(f"{type(self).__name__}(time_attr={time_attr!r}): time is counted in reports here, so that a sweep comes out the "
                             f"same on any machine: give time_attr='training_iteration', and the other numbers in reports")
        if mode not in (None, "min", "max"):
            raise ValueError(f"{type(self).__name__}(mode={mode!r}): it must be 'min' or 'max'")
        self.metric, self.mode = metric, mode
        self._settings = {}

    def settings(self):
        """{key of [tune.NAME]: text}."""
        return {key: str(value) for key, value in self._settings.items()}

    def mutations(self):
        """{path: Domain} of the values that clones change."""
        return {}

    def _refuse(self, **given):
        for name, value in given.items():
            if value:
                raise ValueError(f"{type(self).__name__}({name}={value!r}) is not there; leave it out")


class FIFOScheduler(TrialScheduler):
    """Every trial runs to its end."""

    def __init__(self):
        super().__init__()


class AsyncHyperBandScheduler(TrialScheduler):
    """Asynchronous successive halving (ASHA)."""

    name = "asha"

    def __init__(self, time_attr="training_iteration", metric=None, mode=None, max_t=100, grace_period=1, reduction_factor=4, brackets=1,
                 stop_last_trials=True):
        super().__init__(time_attr, metric, mode)
        self._refuse(stop_last_trials=not stop_last_trials)
        self._settings = {"max_t": max_t, "grace_period": grace_period, "reduction_factor": reduction_factor, "brackets": brackets}


ASHAScheduler = AsyncHyperBandScheduler


class HyperBandScheduler(TrialScheduler):
    """Trials of a bracket wait for each other, and the best go on; the train function saves checkpoints."""

    name = "hyperband"

    def __init__(self, time_attr="training_iteration", metric=None, mode=None, max_t=81, reduction_factor=3, stop_last_trials=True):
        super().__init__(time_attr, metric, mode)
        self._refuse(stop_last_trials=not stop_last_trials)
        self._settings = {"max_t": max_t, "reduction_factor": reduction_factor}


class MedianStoppingRule(TrialScheduler):
    """A trial ends if its best report is below the median of the others' means. Ray Tune counts grace_period in seconds by default."""

    name = "median"

    def __init__(self, time_attr="time_total_s", metric=None, mode=None, grace_period=60.0, min_samples_required=3, min_time_slice=0,
                 hard_stop=True):
        super().__init__(time_attr, metric, mode)
        self._refuse(min_time_slice=min_time_slice, hard_stop=not hard_stop)
        self._settings = {"grace_period": int(grace_period), "min_samples_required": min_samples_required}


class PopulationBasedTraining(TrialScheduler):
    """Trials that do badly become clones of better ones, with values near theirs; the train function saves checkpoints. Ray Tune counts
    perturbation_interval in seconds by default. Values stay within their domains."""

    name = "pbt"

    def __init__(self, time_attr="time_total_s", metric=None, mode=None, perturbation_interval=60.0, burn_in_period=0.0,
                 hyperparam_mutations=None, quantile_fraction=0.25, resample_probability=0.25, perturbation_factors=(1.2, 0.8),
                 custom_explore_fn=None, log_config=True, require_attrs=True, synch=False):
        del log_config, require_attrs  # the journal has all of it; a report without the metric is an error
        super().__init__(time_attr, metric, mode)
        self._refuse(custom_explore_fn=custom_explore_fn, synch=synch)
        if not hyperparam_mutations:
            raise ValueError("PopulationBasedTraining needs hyperparam_mutations: {'lr': tune.loguniform(1e-4, 1e-1)}")
        self._mutations = dict(_paths(hyperparam_mutations))
        self._settings = {"perturbation_interval": int(perturbation_interval), "burn_in_period": int(burn_in_period),
                          "quantile_fraction": quantile_fraction, "resample_probability": resample_probability,
                          "perturbation_factors": ", ".join(map(str, perturbation_factors))}

    def mutations(self):
        return self._mutations


def _paths(mutations, path=()):
    for key, value in mutations.items():
        if isinstance(value, dict):
            yield from _paths(value, (*path, key))
        elif isinstance(value, (list, tuple)):
            yield (*path, key), Categorical(value)
        elif isinstance(value, Domain):
            yield (*path, key), value
        else:
            raise ValueError(f"hyperparam_mutations[{key!r}] is {value!r}: it must be a list of values, or a domain such as "
                             f"tune.loguniform(1e-4, 1e-1), of which trainrt knows the limits")


_SCHEDULERS = {"fifo": FIFOScheduler, "async_hyperband": AsyncHyperBandScheduler, "asynchyperband": AsyncHyperBandScheduler, "asha": ASHAScheduler,
               "hyperband": HyperBandScheduler, "median_stopping_rule": MedianStoppingRule, "medianstopping": MedianStoppingRule,
               "pbt": PopulationBasedTraining}


def create_scheduler(scheduler, **arguments):
    """By Ray Tune's name of it."""
    if scheduler not in _SCHEDULERS:
        raise ValueError(f"create_scheduler({scheduler!r}): there are {', '.join(sorted(_SCHEDULERS))}")
    return _SCHEDULERS[scheduler](**arguments)


__all__ = ["ASHAScheduler", "AsyncHyperBandScheduler", "FIFOScheduler", "HyperBandScheduler", "MedianStoppingRule", "PopulationBasedTraining",
           "TrialScheduler", "create_scheduler"]
