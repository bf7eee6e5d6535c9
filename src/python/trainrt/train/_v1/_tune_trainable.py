"""The train function of a Trainer of Ray Train 1.x, for a sweep."""

from ..data_parallel_trainer import DataParallelTrainer


class TuneTrainable(DataParallelTrainer):
    """Returned by `Trainer.to_tune_trainable()`: `tune.run()` and `Tuner` call its train function with the config of each trial.

    Examples
    --------
    >>> from trainrt import train
    >>> def train_func(config):
    ...     train.report(loss=config["lr"])
    >>> trainable = train.Trainer(train.BackendConfig(), num_workers=2).to_tune_trainable(train_func)
    >>> trainable.scaling_config.num_workers
    2
    """

    config_argument = ""

    def params(self):
        return self.train_loop_config or {}
