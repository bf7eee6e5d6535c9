"""What a Tuner runs: a function, or a Trainer; and how one trial of it runs on its ranks."""

import functools
import re

from ..train import Checkpoint, ScalingConfig
from ..train._results import _run_directory
from ..train._sessions import _current
from ..train._sessions._metrics import flat_metrics
from ..train._sessions._runtime import RuntimeSession
from ..train.data_parallel_trainer import DataParallelTrainer
from ._nested_values import domains_in, name_of


def with_parameters(trainable, **parameters):
    """The function with more arguments, which travel to the trials: with_parameters(train, data=data)."""
    if isinstance(trainable, DataParallelTrainer) or not callable(trainable):
        raise TypeError(f"tune.with_parameters({trainable!r}): it must be a function")
    return functools.partial(trainable, **parameters)


def with_resources(trainable, resources):
    """The function with what a trial of it takes: {"cpu": 2, "gpu": 1}, or a ScalingConfig, whose workers are the trial's ranks."""
    if isinstance(trainable, DataParallelTrainer):
        raise TypeError("tune.with_resources() of a Trainer: give the Trainer a scaling_config")
    made = functools.partial(trainable)
    made._trainrt_scaling = _scaling_of(resources)
    return made


def _scaling_of(resources):
    if isinstance(resources, ScalingConfig):
        return resources
    if not isinstance(resources, dict):
        raise TypeError(f"tune.with_resources(resources={resources!r}): it must be a dict such as {{'cpu': 2, 'gpu': 1}}, or a ScalingConfig")
    given = {name.upper(): amount for name, amount in resources.items()}
    if given.get("GPU", 0) != int(given.get("GPU", 0)):
        raise ValueError(f"tune.with_resources(gpu={given['GPU']}): a rank has whole GPUs")
    return ScalingConfig(num_workers=1, use_gpu=bool(given.get("GPU")), resources_per_worker={name: amount for name, amount in given.items() if amount})


class FunctionTrainer(DataParallelTrainer):
    """A function of Ray Tune may return its last report."""

    def call_train_function(self):
        returned = super().call_train_function()
        if isinstance(returned, dict):
            _current.session().report(flat_metrics(returned))
        return returned


class TrialSession(RuntimeSession):
    """A report with done=True, or one for which stop(trial_id, result) holds, ends the trial."""

    def __init__(self, runtime, job, stop):
        super().__init__(runtime, job)
        self._stop = stop
        self._iteration = None  # of the newest report, once it is known

    def report(self, metrics, *given, **named):
        if metrics.get("done") in (True, 1):
            self.runtime.request_stop("the train function reported done=True")
        elif self._stop is not None and self.world_rank == 0 and self._stop(self.run_name, {**metrics, **self._place()}):
            self.runtime.request_stop("the stop function of the RunConfig")
        super().report(metrics, *given, **named)

    def take_reports(self):
        """Of a clone that had nothing left to do, and made no report: those of its line are its own all the same. Collective."""
        self.restore_from_files()

    def _place(self):
        """What Ray Tune adds to a report."""
        if self._iteration is None:
            self.restore_from_files()
            newest = self.runtime.checkpoint()
            self._iteration = _run_directory.manifest_of(newest["path"])["iteration"] if newest else 0
        self._iteration += 1
        return {"training_iteration": self._iteration, "trial_id": self.run_name}


class Trainable:
    """What travels to the trials."""

    def __init__(self, trainable, space, stop, run_config):
        if isinstance(trainable, type) or isinstance(trainable, str):
            raise TypeError(f"Tuner({trainable!r}): it must be a function of a config, or a Trainer; of a class write a function that makes and "
                            f"trains it, and calls tune.report()")
        self.is_function = not isinstance(trainable, DataParallelTrainer)
        self.trainer = FunctionTrainer(trainable, scaling_config=getattr(trainable, "_trainrt_scaling", None), run_config=run_config) \
            if self.is_function else trainable
        for path, _ in domains_in(self.trainer.train_loop_config):
            raise ValueError(f"Tuner(a Trainer): its train_loop_config has a domain at '{name_of(path)}'; domains are in "
                             f"Tuner(param_space={{'train_loop_config': ...}})")
        self.space, self.stop = space, stop

    @property
    def scaling(self):
        return self.trainer.scaling_config or ScalingConfig()

    @property
    def under(self):
        """The Trainer's own train_loop_config, which trials complete; None of a function."""
        return None if self.is_function else self.trainer.train_loop_config

    def trainer_of(self, texts, run_name):
        """The Trainer of a trial, by the texts of its values."""
        config = self.space.config(texts, int(re.match(r"trial_(\d+)", run_name)[1]))
        if self.is_function:
            self.trainer.train_loop_config = config
        else:
            others = sorted(set(config) - {"train_loop_config"})
            if others:
                raise ValueError(f"Tuner(a Trainer, param_space=...): trials set train_loop_config, and not {', '.join(others)}")
            self.trainer.train_loop_config = merged(self.trainer.train_loop_config or {}, config.get("train_loop_config", {}))
        return self.trainer


def merged(under, over):
    """`over` counts before `under`; dicts in dicts are merged too."""
    found = dict(under)
    for key, value in over.items():
        found[key] = merged(found[key], value) if isinstance(value, dict) and isinstance(found.get(key), dict) else value
    return found
