"""StreamSplit, the result of Dataset.streaming_split()."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from ._iterator import DataIterator


@dataclass(eq=False)
class StreamSplit:
    """Divides a Dataset into `count` parts. Each part has an iterator. If `is_equal`, the parts have equally many samples."""
    dataset: Any
    count: int
    is_equal: bool

    def part(self, number: int) -> Any:
        """Returns part `number`, from 0, as a Dataset. Determines the number of samples of the dataset, for which files may be read."""
        return self.dataset.split(self.count, equal=self.is_equal)[number]

    def iterators(self) -> list[DataIterator]:
        found = [DataIterator.local(self.dataset, functools.partial(self.part, number)) for number in range(self.count)]
        for number, each in enumerate(found):
            each.dataset, each.split, each.number = self.dataset, self, number
        return found
