"""`prepare_trainer()`: makes a transformers.Trainer take batches of dataset shards."""

from typing import Any

from ....data._batches._iterator import Epochs
from ._library import transformers


def prepare_trainer(trainer: "transformers.Trainer") -> "transformers.Trainer":
    """Lets `train_dataset` and `eval_dataset` be batches of `get_dataset_shard(...).iter_torch_batches()`.

    These batches of the rank are used as they are, without the Trainer's sampler and collator. A `train_dataset` of batches needs
    `TrainingArguments(max_steps=...)`; after a restart it continues after the last batch of the checkpoint.

    Parameters
    ----------
    trainer : transformers.Trainer

    Returns
    -------
    transformers.Trainer
        The same object.

    Raises
    ------
    TypeError
        If `trainer` has another type.

    Examples
    --------
    >>> from trainrt.train.huggingface.transformers import prepare_trainer
    >>> prepare_trainer(None)
    Traceback (most recent call last):
    TypeError: prepare_trainer(None): it must be a transformers.Trainer
    """
    if not isinstance(trainer, transformers.Trainer):
        raise TypeError(f"prepare_trainer({trainer!r}): it must be a transformers.Trainer")
    kind: Any = type(trainer)

    class TrainerOverShards(kind):
        def get_train_dataloader(self):
            loader = _loader_of(self.train_dataset)
            return super().get_train_dataloader() if loader is None else loader

        def get_eval_dataloader(self, eval_dataset=None):
            chosen = self.eval_dataset if eval_dataset is None else eval_dataset
            if isinstance(chosen, str) and isinstance(self.eval_dataset, dict):
                chosen = self.eval_dataset[chosen]
            loader = _loader_of(chosen)
            return super().get_eval_dataloader(eval_dataset) if loader is None else loader

    TrainerOverShards.__name__ = kind.__name__
    trainer.__class__ = TrainerOverShards
    if isinstance(trainer.train_dataset, Epochs):
        trainer.args.ignore_data_skip = True  # the runtime restores the position
    return trainer


def _loader_of(dataset):
    """Returns a DataLoader over batches of a dataset shard, or `None` for another dataset."""
    if not isinstance(dataset, Epochs):
        return None
    import torch
    from torch.utils.data import DataLoader, IterableDataset

    class Batches(IterableDataset):
        def __iter__(self):
            return iter(dataset)

    # A separate generator: otherwise the loader draws from the default one, whose state a checkpoint restores.
    return DataLoader(Batches(), batch_size=1, collate_fn=lambda batches: batches[0], generator=torch.Generator())
