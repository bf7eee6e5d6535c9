"""The train function of LightningTrainer."""

import os
from typing import Any

from .._sessions import _report
from .._sessions._context import get_context
from . import _strategies
from ._callback import RayTrainReportCallback
from ._environment import RayLightningEnvironment
from ._library import pl


def fit(config, *, lightning_config, iter_config, names):
    """Makes the model and the Trainer, and calls Trainer.fit(), from the newest checkpoint. `names`: the datasets that replace loaders. `config`, the
    train_loop_config, is empty."""
    del config
    model = lightning_config["class"](**lightning_config["module"])
    trainer = _trainer(lightning_config)
    params = dict(lightning_config["fit_params"])
    if "train" in names:
        params["train_dataloaders"] = _Batches("train", iter_config, lambda: trainer.current_epoch)
    if "val" in names:
        params["val_dataloaders"] = _Batches("val", iter_config, lambda: trainer.global_step)  # several validations may be in one epoch
    found = _report.get_checkpoint()
    if found is None:
        trainer.fit(model, **params)
        return
    with found.as_directory() as folder:
        trainer.fit(model, **{**params, "ckpt_path": os.path.join(folder, RayTrainReportCallback.CHECKPOINT_NAME)})


def _trainer(config):
    options = dict(config["trainer"])
    callbacks, plugins = (_list_of(options.pop(name, None)) for name in ("callbacks", "plugins"))
    if not any(isinstance(each, pl.callbacks.ModelCheckpoint) for each in callbacks):
        options.setdefault("enable_checkpointing", False)
    name, arguments = config["strategy"]
    return pl.Trainer(**{"devices": "auto", "accelerator": "auto", **options}, strategy=getattr(_strategies, name)(**arguments),
                      callbacks=[*callbacks, _ReportCallback(config["checkpointing"])], plugins=[*plugins, RayLightningEnvironment()])


def _list_of(value):
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


class _ReportCallback(RayTrainReportCallback):
    """Reports after every n-th training epoch; `options` are those of LightningConfigBuilder.checkpointing()."""

    def __init__(self, options):
        super().__init__(every_n_train_steps=options.get("every_n_train_steps"))
        self._every_n_epochs = options.get("every_n_epochs") or 1

    def on_train_epoch_end(self, trainer, pl_module):
        if (trainer.current_epoch + 1) % self._every_n_epochs == 0:
            super().on_train_epoch_end(trainer, pl_module)


class _Batches:
    """An iterable with a length, over the batches of a dataset shard. `epoch_of()` returns the number of the epoch that the next loop reads."""

    def __init__(self, name, arguments, epoch_of):
        shard: Any = _report.get_dataset_shard(name)
        self._shard, self._arguments, self._epoch_of = shard, {"remainder": "pad", **arguments}, epoch_of
        self._ranks = get_context().get_world_size() if name == "train" else 1
        self._loop: Any = None  # the newest loop: a shard saves the position of one loop only

    def __len__(self):
        samples = self._shard.count()
        size = (self._arguments.get("batch_size", 256) or samples) * self._ranks
        is_dropped = self._arguments.get("drop_last") or self._arguments["remainder"] == "drop"
        return samples // size if is_dropped else -(-samples // size)

    def __iter__(self):
        if self._loop is not None:
            self._loop.close()
        self._loop = self._batches()
        return self._loop

    def _batches(self):
        epoch = self._epoch_of()  # not called before the first batch: after a restart, Lightning makes the iterator before it has advanced its epoch
        yield from self._shard.iter_torch_batches(**self._arguments, epoch=epoch)
