"""Converts batches of a DataIterator into torch tensors. The functions import torch, so that trainrt.data does not require torch."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Callable

from .._values._columns import require_one_shape

if TYPE_CHECKING:
    from ._iterator import DataIterator


def converter(dtypes: Any, device: Any, collate_fn: Callable[[Any], Any] | None, pin_memory: bool) -> Callable[[Mapping[str, Any]], Any]:
    """Returns a function that converts a batch, {name: array}, into tensors. For the arguments see DataIterator.iter_torch_batches()."""
    import torch
    target = _device_of(torch, device)

    def tensors_of(batch: Mapping[str, Any]) -> Any:
        if collate_fn is not None:
            return _moved(torch, collate_fn(batch), target)
        return {name: _tensor_of_column(torch, name, column, dtype_of(dtypes, name), target, pin_memory) for name, column in batch.items()}

    return tensors_of


def _device_of(torch: Any, device: Any) -> Any:
    if device != "auto":
        return torch.device(device)
    of_train: Any = sys.modules.get("trainrt.train.torch")
    if of_train is not None and torch.cuda.is_available():
        return of_train.get_device()
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def dtype_of(dtypes: Any, name: str) -> Any:
    """Returns the dtype of a column, or `None` for the default. `dtypes` is one dtype for all columns, or {name: dtype}."""
    return dtypes.get(name) if isinstance(dtypes, dict) else dtypes


def _tensor_of_column(torch: Any, name: str, column: Any, dtype: Any, device: Any, pin_memory: bool) -> Any:
    require_one_shape(name, column)
    if column.dtype == object:
        raise TypeError(f"the column '{name}' has strings or arrays of several lengths, which do not make one tensor: remove it by "
                        f"drop_columns(['{name}']), or convert it by collate_fn, map or map_batches")
    tensor = torch.from_numpy(column)
    if pin_memory and device.type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device=device, dtype=dtype, non_blocking=pin_memory)


def _moved(torch: Any, value: Any, device: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {name: _moved(torch, part, device) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(torch, part, device) for part in value)
    return value


def pairs_of(iterator: DataIterator, label: str | None, features: Any, batch_size: int | None, label_dtype: Any, feature_dtypes: Any,
             unsqueeze_label: bool, unsqueeze_features: bool, others: Mapping[str, Any]) -> Iterable[Any]:
    """Returns a torch IterableDataset of batches (features, label), or of features if `label` is `None`. For the arguments see
    DataIterator.to_torch()."""
    import torch

    def features_of(batch: Mapping[str, Any]) -> Any:
        names = [name for name in batch if name != label] if features is None else [features] if isinstance(features, str) else list(features)
        parts = [_tensor(torch, name, batch[name], _dtype_at(feature_dtypes, number, name), unsqueeze_features) for number, name in enumerate(names)]
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)

    class Pairs(torch.utils.data.IterableDataset):
        def __iter__(self):
            if torch.utils.data.get_worker_info() is not None:
                raise RuntimeError("to_torch() must be iterated in the process of the rank, which reads ahead in threads: DataLoader(..., "
                                   "num_workers=0)")
            for batch in iterator.iter_batches(batch_size=batch_size, **others):
                found = features_of(batch)
                yield found if label is None else (found, _tensor(torch, label, batch[label], label_dtype, unsqueeze_label))

    return Pairs()


def _tensor(torch: Any, name: str, values: Any, dtype: Any, unsqueeze: bool) -> Any:
    require_one_shape(name, values)
    tensor = torch.as_tensor(values)
    tensor = tensor.to(dtype) if dtype else tensor
    return tensor.unsqueeze(1) if unsqueeze and tensor.ndim == 1 else tensor


def _dtype_at(dtypes: Any, number: int, name: str) -> Any:
    """Returns the dtype of a column. `dtypes` is one dtype for all columns, {name: dtype}, or a list in the order of the columns."""
    return dtypes[number] if isinstance(dtypes, (list, tuple)) else dtype_of(dtypes, name)
