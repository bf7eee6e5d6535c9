"""BoostingTrainer: base class of XGBoostTrainer and LightGBMTrainer."""

import functools
from typing import Any, Callable, Optional

from .._config._run import RunConfig
from ..data_parallel_trainer import DataParallelTrainer


class BoostingTrainer(DataParallelTrainer):
    """Trains boosted trees by a train function of the user, or, in Ray Train's older form, by `params`, `label_column` and `datasets`.

    Parameters
    ----------
    train_loop_per_worker : callable, optional
        Train function.
    older : dict
        Arguments of the older form by name. An argument that is `None` was not given, and gets its value in `older_defaults`.
    arguments : dict
        Older form: further arguments of `train()` of the library.
    train_loop_config, run_config, datasets, **settings
        As in DataParallelTrainer.

    Attributes
    ----------
    boost : callable
        Train function of the older form. Its config is `params`. Its arguments are those of the older form, `names` (datasets, 'train' first), `frequency`
        (rounds per checkpoint, 0: no checkpoints), `at_end` (whether the last round saves a checkpoint), and `arguments`.
    older_defaults : dict
        Default values of arguments of the older form.

    Raises
    ------
    ValueError
        If arguments are missing or both forms are combined.
    """

    boost: Callable[..., None]
    older_defaults: dict[str, Any]

    def __init__(self, train_loop_per_worker: Optional[Callable[..., Any]], older: dict[str, Any], arguments: dict[str, Any], *,
                 train_loop_config: Optional[dict[str, Any]], run_config: Optional[RunConfig], datasets: Optional[dict[str, Any]], **settings: Any):
        given = {name: value for name, value in {**older, **arguments}.items() if value is not None}
        self._is_older = self._is_older_form(train_loop_per_worker, given)
        function: Any = train_loop_per_worker
        if self._is_older:
            if "train" not in (datasets or {}):
                raise ValueError(f"{type(self).__name__}(params=...): datasets={{'train': ...}} is missing; other datasets are evaluated after each round")
            own = {name: self.older_defaults.get(name) if value is None else value for name, value in older.items() if name != "params"}
            function = functools.partial(self.boost, **own, arguments=arguments, **_from_settings(datasets, run_config))
            train_loop_config, self.config_argument = older["params"], "params"
            self._own_form = {name: value for name, value in given.items() if name != "params"}
        super().__init__(function, train_loop_config=train_loop_config, run_config=run_config, datasets=datasets, **settings)

    def set_arguments(self, values):
        """Replaces arguments. In the older form, also adjusts the names of the datasets and the rules of the checkpoints to `datasets` and `run_config`,
        which a Tuner may have changed."""
        if not self._is_older:
            return super().set_arguments(values)
        function = self.train_loop_per_worker
        own = {name: value for name, value in values.items() if name in function.keywords}
        others = {name: value for name, value in values.items() if name not in own}
        self.train_loop_per_worker = functools.partial(function.func, **{
            **function.keywords, **own, **_from_settings(self.datasets, self.run_config), "arguments": {**function.keywords["arguments"], **others}})

    def notes(self):
        """Returns the notes on arguments without effect. In the older form, the frequency of a CheckpointConfig has an effect."""
        return [line for line in super().notes() if not (self._is_older and line.startswith("CheckpointConfig: checkpoint_frequency"))]

    def _is_older_form(self, function, given):
        """Returns whether the arguments are those of the older form. Raises ValueError if both forms were given, or an incomplete one."""
        trainer = type(self).__name__
        if "preprocessor" in given:
            raise ValueError(f"{trainer}: preprocessor= is not an argument; pass transformed datasets: "
                             "datasets={'train': preprocessor.fit_transform(dataset)}")
        if function is not None and given:
            raise ValueError(f"{trainer}: {', '.join(given)} cannot be combined with train_loop_per_worker; remove one of them")
        missing = [name for name in ("params", "label_column") if name not in given]
        if function is None and missing:
            raise ValueError(f"{trainer}: missing arguments: {' and '.join(missing)}. Pass train_loop_per_worker, or params and label_column")
        return function is None


def _from_settings(datasets, run_config):
    """Returns the arguments of the older form's train function that follow from the datasets and from the CheckpointConfig."""
    config = getattr(run_config, "checkpoint_config", None)
    frequency, at_end = (config.checkpoint_frequency, config.checkpoint_at_end) if config is not None else (0, None)
    return {"names": sorted(datasets or {}, key="train".__ne__), "frequency": frequency or 0, "at_end": True if at_end is None else bool(at_end)}
