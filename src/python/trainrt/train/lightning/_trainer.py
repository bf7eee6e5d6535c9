"""LightningTrainer of Ray 2.4 to 2.7."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import os
from typing import Any

from .._config._checkpoint import CheckpointConfig
from .._config._data import DataConfig
from .._config._run import RunConfig
from .._results._result import Result
from ..torch import TorchTrainer
from ._checkpoint import LightningCheckpoint

_DATA = ("datamodule", "train_dataloaders", "val_dataloaders")


class LightningTrainer(TorchTrainer):
    """Trains a LightningModule on every rank, with a Trainer of Lightning.

    At the end of each training epoch, Lightning's metrics are reported with a checkpoint. A restarted run continues from its newest checkpoint.

    Parameters
    ----------
    lightning_config : dict
        Result of LightningConfigBuilder.build().
    datasets : dict of str to trainrt.data.Dataset, optional
        "train", which is split between the ranks, and "val", which each rank reads. They replace the loaders in `fit_params()`.
    datasets_iter_config : dict, optional
        Arguments of iter_torch_batches() for the datasets, such as `batch_size`.
    **arguments
        Arguments of TorchTrainer, except the train function and its config.

    Raises
    ------
    ImportError
        If Lightning is not installed.
    TypeError, ValueError
        If an argument is invalid.

    Examples
    --------
    >>> from trainrt.train import ScalingConfig
    >>> from trainrt.train.lightning import LightningConfigBuilder, LightningTrainer
    >>> config = LightningConfigBuilder().module(cls=Model, lr=0.1).trainer(max_epochs=3).fit_params(datamodule=data).build()  # doctest: +SKIP
    >>> trainer = LightningTrainer(lightning_config=config, scaling_config=ScalingConfig(num_workers=2))  # doctest: +SKIP
    """

    def __init__(self, lightning_config: dict[str, Any], *, datasets: dict[str, Any] | None = None, datasets_iter_config: dict[str, Any] | None = None,
                 dataset_config: DataConfig | None = None, run_config: RunConfig | None = None, train_loop_config: None = None, **arguments: Any) -> None:
        importlib.import_module("._library", __package__)
        from . import _fit
        _check_config(lightning_config)
        _check_data(lightning_config["fit_params"], datasets, datasets_iter_config)
        super().__init__(functools.partial(_fit.fit, lightning_config=lightning_config, iter_config=datasets_iter_config, names=sorted(datasets or {})),
                         datasets=datasets, dataset_config=dataset_config or DataConfig(datasets_to_split=["train"]),
                         run_config=_with_checkpoint_config(run_config, lightning_config["checkpointing"]), **arguments)

    @classmethod
    def restore(cls, path: str | os.PathLike[str], lightning_config: dict[str, Any] | None = None, **arguments: Any) -> LightningTrainer:  # type: ignore[override]
        """Returns a LightningTrainer that continues the run in a directory; see DataParallelTrainer.restore(). `lightning_config` is needed."""
        if lightning_config is None:
            raise ValueError(f"LightningTrainer.restore({os.fspath(path)!r}): the run's record cannot hold the lightning_config; give it again: "
                             f"restore(..., lightning_config=builder.build())")
        found = super().restore(path, lightning_config, {}, **arguments)  # type: ignore[arg-type]
        assert isinstance(found, cls)
        return found

    def fit(self) -> Result:
        """Runs the training; see DataParallelTrainer.fit(). The checkpoints of the Result are LightningCheckpoints."""
        return super().fit()._with_checkpoints_of(LightningCheckpoint)


def _check_config(config: Any) -> None:
    if not isinstance(config, dict) or "class" not in config or "fit_params" not in config:
        raise TypeError(f"LightningTrainer(lightning_config={config!r:.100}): must be the result of LightningConfigBuilder().module(...).build()")


def _check_data(fit_params: dict[str, Any], datasets: Any, iter_config: Any) -> None:
    given = [name for name in _DATA if fit_params.get(name) is not None]
    if datasets and given:
        raise ValueError(f"LightningTrainer(datasets=...): fit_params({given[0]}=...) is given, too; leave out one of them")
    if datasets and not iter_config:
        raise ValueError("LightningTrainer(datasets=...): datasets_iter_config is missing, for example {'batch_size': 32}")
    unknown = sorted(set(datasets or {}) - {"train", "val"})
    if unknown:
        raise ValueError(f"LightningTrainer(datasets={{{unknown[0]!r}: ...}}): unknown name; valid are 'train' and 'val'")


def _with_checkpoint_config(run: RunConfig | None, options: dict[str, Any]) -> RunConfig | None:
    """Returns the RunConfig. If it has no CheckpointConfig, adds one that keeps the checkpoints that `options` choose."""
    count, monitor = options.get("save_top_k"), options.get("monitor")
    if (run is not None and getattr(run, "checkpoint_config", options) is not None) or (monitor is None and count is None):
        return run
    kept = CheckpointConfig(num_to_keep=count if count is not None and count > 0 else None, checkpoint_score_attribute=monitor,
                            checkpoint_score_order=options.get("mode", "min"))
    return dataclasses.replace(run or RunConfig(), checkpoint_config=kept)
