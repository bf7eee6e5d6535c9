"""The parts of a RunConfig that a Tuner applies itself: the stopper and the callbacks."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from ..train import RunConfig
from ._callback import Callback
from .stopper import CombinedStopper, FunctionStopper, Stopper


def run_config_of(trainable: Any, given: RunConfig | None) -> RunConfig:
    """Returns `given`, the RunConfig of the Tuner. If it is `None`, returns the RunConfig of `trainable`, a Trainer, or a default RunConfig."""
    own = getattr(trainable, "run_config", None)
    if own is not None and given is None:
        return own
    return given or RunConfig()


def divided(run_config: RunConfig) -> tuple[RunConfig, Stopper | None, list[Callback]]:
    """Returns the RunConfig of the trials, the stopper or `None`, and the callbacks of Ray Tune, which the RunConfig of the trials lacks. TrialSession
    applies the rule `done`. Raises ValueError for another type of `stop`."""
    stopper, rules = stop_of(run_config.stop)
    callbacks = [each for each in run_config.callbacks or () if isinstance(each, Callback)]
    made = copy.copy(run_config)
    made.stop = rules
    made.callbacks = [each for each in run_config.callbacks or () if each not in callbacks] or None
    return made, stopper, callbacks


def stop_of(stop: Any) -> tuple[Stopper | None, dict[str, Any] | None]:
    """Returns the stopper and the limits {metric: value} of RunConfig(stop=stop)."""
    if isinstance(stop, (list, tuple)) and all(isinstance(each, Stopper) for each in stop):
        return CombinedStopper(*stop), None
    if isinstance(stop, Mapping):
        return None, {name: value for name, value in stop.items() if name != "done"} or None
    if stop is not None and not callable(stop):
        raise ValueError(f"RunConfig(stop={stop!r}): it must be a dict such as {{'training_iteration': 10}}, a function of (trial_id, result), or a "
                         f"trainrt.tune.Stopper or list of these")
    if stop is None or isinstance(stop, Stopper):
        return stop, None
    if isinstance(stop, type) or hasattr(stop, "stop_all"):
        raise ValueError(f"RunConfig(stop={stop!r}): it must be an object of a class that is derived from trainrt.tune.Stopper")
    return FunctionStopper(stop), None
