"""The train function of TransformersTrainer."""

from typing import Any

from ...._client.values import kind_of
from ..._sessions import _report
from ..._sessions._context import get_context
from ._datasets import EvaluationRows, TrainRows
from ._library import transformers
from ._reports import LogReports


def run(init, train_shard, evaluation_shard, config):
    """Trains the Trainer that `init` returns, from the newest checkpoint. A shard may be `None`."""
    rows = None if train_shard is None else TrainRows(train_shard, get_context().get_world_size())
    trainer = init(rows, None if evaluation_shard is None else EvaluationRows(evaluation_shard), **config)
    if not isinstance(trainer, transformers.Trainer):
        raise TypeError(f"trainer_init_per_worker returned {kind_of(trainer)}; it must return a transformers.Trainer")
    if rows is not None:
        _read_rows(trainer)
    trainer.add_callback(LogReports())
    found = _report.get_checkpoint()
    if found is None:
        trainer.train()
        return
    with found.as_directory() as folder:
        trainer.train(resume_from_checkpoint=folder)


def _read_rows(trainer):
    """Makes the Trainer read the batches of TrainRows without a sampler of its own, since the shards of the ranks are already disjoint."""
    kind: Any = type(trainer)

    class TrainerOverShards(kind):
        def get_train_dataloader(self):
            rows = self.train_dataset
            if not isinstance(rows, TrainRows):
                return super().get_train_dataloader()
            collate = self._get_collator_with_removed_columns(self.data_collator, description="training")
            loader = rows.loader(self._train_batch_size, self.args.dataloader_drop_last, collate)
            if len(loader) % self.args.gradient_accumulation_steps:
                self.args.ignore_data_skip = True  # versions of Transformers count the steps of such an epoch differently
            return loader

    TrainerOverShards.__name__ = kind.__name__
    trainer.__class__ = TrainerOverShards
    trainer.add_callback(_StartsEpochs(trainer))


class _StartsEpochs(transformers.TrainerCallback):
    """Sets the epoch with which the rows begin, and how many batches of this epoch a resumed Trainer skips."""

    def __init__(self, trainer):
        self._trainer = trainer

    def on_train_begin(self, args, state, control, train_dataloader=None, **others):
        rows = self._trainer.train_dataset
        if isinstance(rows, TrainRows):
            accumulated = args.gradient_accumulation_steps
            steps = max(-(-len(train_dataloader) // accumulated), 1)
            epoch, step = divmod(state.global_step, steps)
            rows.start_at(epoch, 0 if args.ignore_data_skip else step * accumulated)
