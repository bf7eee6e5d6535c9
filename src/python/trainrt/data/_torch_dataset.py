"""DataIterator.to_torch(): a shard as a torch IterableDataset."""


def pairs_of(iterator, label, features, batch_size, label_dtype, feature_dtypes, unsqueeze_label, unsqueeze_features, others):
    """Returns the dataset of (features, label) tensors, or of features only if `label` is None. Arguments as of DataIterator.to_torch()."""
    import torch

    def features_of(batch):
        names = [name for name in batch if name != label] if features is None else [features] if isinstance(features, str) else list(features)
        parts = [_tensor(torch, batch[name], _dtype_of(feature_dtypes, number, name), unsqueeze_features) for number, name in enumerate(names)]
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)

    class Pairs(torch.utils.data.IterableDataset):
        def __iter__(self):
            if torch.utils.data.get_worker_info() is not None:
                raise RuntimeError("to_torch() must be iterated in the process of the rank, which reads ahead in threads: DataLoader(..., num_workers=0)")
            for batch in iterator.iter_batches(batch_size=batch_size, **others):
                found = features_of(batch)
                yield found if label is None else (found, _tensor(torch, batch[label], label_dtype, unsqueeze_label))

    return Pairs()


def _tensor(torch, values, dtype, unsqueeze):
    tensor = torch.as_tensor(values)
    tensor = tensor.to(dtype) if dtype else tensor
    return tensor.unsqueeze(1) if unsqueeze and tensor.ndim == 1 else tensor


def _dtype_of(dtypes, number, name):
    """`dtypes` is one type for all columns, {name: type}, or a list in the order of the columns."""
    if isinstance(dtypes, dict):
        return dtypes.get(name)
    return dtypes[number] if isinstance(dtypes, (list, tuple)) else dtypes
