"""A shard as a torch IterableDataset."""


def pairs_of(iterator, label, features, batch_size, label_dtype, feature_dtypes, unsqueeze_label, unsqueeze_features, others):
    """Of (features, labels) tensors; only features, if no label is named."""
    import torch

    def side_by_side(batch):
        names = [name for name in batch if name != label] if features is None else [features] if isinstance(features, str) else list(features)
        parts = [torch.as_tensor(batch[name]) for name in names]
        parts = [part.to(_of(feature_dtypes, number, name)) if _of(feature_dtypes, number, name) else part
                 for number, (name, part) in enumerate(zip(names, parts))]
        if unsqueeze_features:
            parts = [part.unsqueeze(1) if part.ndim == 1 else part for part in parts]
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)

    def labels_in(batch):
        values = torch.as_tensor(batch[label])
        values = values.to(label_dtype) if label_dtype else values
        return values.unsqueeze(1) if unsqueeze_label and values.ndim == 1 else values

    class Pairs(torch.utils.data.IterableDataset):
        def __iter__(self):
            if torch.utils.data.get_worker_info() is not None:
                raise RuntimeError("to_torch() is walked in the process of the rank, which reads ahead by itself: DataLoader(..., num_workers=0)")
            for batch in iterator.iter_batches(batch_size=batch_size, **others):
                yield side_by_side(batch) if label is None else (side_by_side(batch), labels_in(batch))

    return Pairs()


def _of(dtypes, number, name):
    """One type, {name: type}, or a list in the order of the columns."""
    if isinstance(dtypes, dict):
        return dtypes.get(name)
    return dtypes[number] if isinstance(dtypes, (list, tuple)) else dtypes
