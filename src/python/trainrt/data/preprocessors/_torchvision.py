"""TorchVisionPreprocessor: applies torchvision transforms to columns of images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._values._numpy import numpy
from ._preprocessor import Preprocessor, taken


class TorchVisionPreprocessor(Preprocessor):
    """Applies a transform of torchvision to each sample of some columns.

    Parameters
    ----------
    columns : list of str
        Columns with images, of shape (height, width, channels) or (height, width) per sample.
    transform : callable
        Called with an image as a tensor or, if it raises TypeError for a tensor (such as ToTensor), as a NumPy array. Returns a tensor or an array.
    output_columns : list of str, optional
        Names of the results, one for each column. By default, they replace the columns.
    batched : bool, default False
        Whether `transform` takes a batch of images, of shape (samples, height, width, channels).

    Raises
    ------
    ValueError
        If `output_columns` has another number of names than `columns`.

    Examples
    --------
    >>> import numpy
    >>> from trainrt.data.preprocessors import TorchVisionPreprocessor
    >>> halved = TorchVisionPreprocessor(columns=["image"], transform=lambda image: image / 2)
    >>> float(halved.transform_batch({"image": numpy.ones((3, 4, 4, 1), numpy.float32)})["image"].max())
    0.5
    """

    def __init__(self, columns: Sequence[str], transform: Callable[..., Any], output_columns: Sequence[str] | None = None, batched: bool = False) -> None:
        self._columns, self._names = list(columns), list(output_columns or columns)
        if len(self._names) != len(self._columns):
            raise ValueError(f"TorchVisionPreprocessor(columns={columns!r}, output_columns={output_columns!r}): there must be one output column for each "
                             "column")
        self._function, self._batched = transform, bool(batched)

    def transform_columns(self, columns: dict[str, Any]) -> dict[str, Any]:
        given = {column: taken("TorchVisionPreprocessor", column, columns) for column in self._columns}
        made = {name: self._transformed(given[column]) for column, name in zip(self._columns, self._names)}
        return {**columns, **made}

    def _transformed(self, images: Any) -> Any:
        if self._batched:
            return self._called(images)
        return numpy.stack([self._called(image) for image in images])

    def _called(self, images: Any) -> Any:
        import torch
        images = numpy.ascontiguousarray(images)
        try:
            result = self._function(torch.as_tensor(images))
        except TypeError:  # ToTensor takes arrays only
            result = self._function(images)
        return result.numpy() if isinstance(result, torch.Tensor) else numpy.asarray(result)

    def __repr__(self) -> str:
        return f"TorchVisionPreprocessor(columns={self._columns!r}, output_columns={self._names!r}, transform={self._function!r})"
