"""prepare_trainer(): a transformers.Trainer over shards of datasets."""

from ....data._iterator import Epochs
from ._library import transformers


def prepare_trainer(trainer):
    """Lets train_dataset and eval_dataset be what get_dataset_shard(...).iter_torch_batches() returns: the batches of this rank, as they
    come, without the Trainer's sampler and collator. Such a train_dataset needs TrainingArguments(max_steps=...)."""
    if not isinstance(trainer, transformers.Trainer):
        raise TypeError(f"prepare_trainer() takes a transformers.Trainer, not a {type(trainer).__name__}")
    kind = type(trainer)

    class TrainerOverShards(kind):
        def get_train_dataloader(self):
            own = _loader(self.train_dataset)
            return super().get_train_dataloader() if own is None else own

        def get_eval_dataloader(self, eval_dataset=None):
            chosen = self.eval_dataset if eval_dataset is None else eval_dataset
            if isinstance(chosen, str) and isinstance(self.eval_dataset, dict):
                chosen = self.eval_dataset[chosen]
            own = _loader(chosen)
            return super().get_eval_dataloader(eval_dataset) if own is None else own

    TrainerOverShards.__name__ = kind.__name__
    trainer.__class__ = TrainerOverShards
    if isinstance(trainer.train_dataset, Epochs):
        trainer.args.ignore_data_skip = True  # the runtime goes on behind what was seen
    return trainer


def _loader(dataset):
    """None if it is none of those."""
    if not isinstance(dataset, Epochs):
        return None
    import torch
    from torch.utils.data import DataLoader, IterableDataset

    class Batches(IterableDataset):
        def __iter__(self):
            return iter(dataset)

    # A generator of its own: it would draw from the one that a checkpoint has put back.
    return DataLoader(Batches(), batch_size=1, collate_fn=lambda batches: batches[0], generator=torch.Generator())
