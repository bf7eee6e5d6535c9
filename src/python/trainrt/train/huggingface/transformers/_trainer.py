"""TransformersTrainer of Ray 2.1 to 2.7."""

from __future__ import annotations

import importlib
import inspect
import os
from typing import Any, Callable

from ...._client.values import kind_of
from ..._config._data import DataConfig
from ..._results._result import Result
from ..._sessions import _report
from ...torch import TorchTrainer
from ._checkpoint import TransformersCheckpoint


class TransformersTrainer(TorchTrainer):
    """Trains the transformers.Trainer that a function of the script returns on every rank.

    Each log is reported, and each save with its checkpoint; the last step is saved, too. A restarted run continues from its newest checkpoint, after the
    last batch of this checkpoint.

    Parameters
    ----------
    trainer_init_per_worker : callable
        `trainer_init_per_worker(train_dataset, eval_dataset, **trainer_init_config)` returns a transformers.Trainer.
    trainer_init_config : dict, optional
        Keyword arguments of the function.
    datasets : dict of str to trainrt.data.Dataset, optional
        "train" is split between the ranks and becomes `train_dataset`. "evaluation" becomes `eval_dataset`: each rank holds it in memory, and evaluates
        its part. Without a dataset, the argument is `None`.
    **arguments
        Arguments of TorchTrainer.

    Raises
    ------
    ImportError
        If Transformers is not installed.
    TypeError, ValueError
        If an argument is invalid.

    Examples
    --------
    >>> from trainrt.train import ScalingConfig
    >>> from trainrt.train.huggingface import TransformersTrainer
    >>> def trainer_init_per_worker(train_dataset, eval_dataset, **config):
    ...     return transformers.Trainer(model, TrainingArguments("out"), train_dataset=train_dataset, eval_dataset=eval_dataset)
    >>> trainer = TransformersTrainer(trainer_init_per_worker, scaling_config=ScalingConfig(num_workers=2))  # doctest: +SKIP
    """

    def __init__(self, trainer_init_per_worker: Callable[..., Any], *, trainer_init_config: dict[str, Any] | None = None,
                 datasets: dict[str, Any] | None = None, dataset_config: DataConfig | None = None, train_loop_config: dict[str, Any] | None = None,
                 **arguments: Any) -> None:
        importlib.import_module("._library", __package__)
        config = trainer_init_config if trainer_init_config is not None else train_loop_config
        _check_call(trainer_init_per_worker, config)
        if dataset_config is None:
            dataset_config = DataConfig(datasets_to_split=["train"])
        elif isinstance(dataset_config, DataConfig) and "evaluation" in (datasets or {}) and dataset_config.is_split("evaluation"):
            raise ValueError("TransformersTrainer(dataset_config=...): the dataset 'evaluation' must not be split, since Transformers divides it among the "
                             "ranks; pass DataConfig(datasets_to_split=['train'])")
        super().__init__(trainer_init_per_worker, train_loop_config=config, datasets=datasets, dataset_config=dataset_config, **arguments)

    @staticmethod
    def _checked_function(function: Any) -> Any:
        return function

    @classmethod
    def restore(cls, path: str | os.PathLike[str], trainer_init_per_worker: Callable[..., Any] | None = None,  # type: ignore[override]
                trainer_init_config: dict[str, Any] | None = None, **arguments: Any) -> TransformersTrainer:
        """Returns a TransformersTrainer that continues the run in a directory; see DataParallelTrainer.restore()."""
        found = super().restore(path, trainer_init_per_worker, trainer_init_config, **arguments)
        assert isinstance(found, cls)
        return found

    def fit(self) -> Result:
        """Runs the training; see DataParallelTrainer.fit(). The checkpoints of the Result are TransformersCheckpoints."""
        return super().fit()._with_checkpoints_of(TransformersCheckpoint)

    def call_train_function(self) -> Any:
        from . import _training
        shards = {name: _report.get_dataset_shard(name) if name in self.datasets else None for name in ("train", "evaluation")}
        _training.run(self.train_loop_per_worker, shards["train"], shards["evaluation"], self.train_loop_config or {})


def _check_call(function: Any, config: Any) -> None:
    if not callable(function):
        raise TypeError(f"trainer_init_per_worker={function!r}: must be a function of train_dataset, eval_dataset and the trainer_init_config")
    if config is not None and not isinstance(config, dict):
        raise TypeError(f"trainer_init_config={config!r}: must be a dict, not {kind_of(config)}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a built-in function without a signature
        return
    try:
        signature.bind(None, None, **(config or {}))
    except TypeError as error:
        raise ValueError(f"trainer_init_per_worker={getattr(function, '__qualname__', function)}: cannot be called with (train_dataset, eval_dataset, "
                         f"**trainer_init_config): {error}") from None
