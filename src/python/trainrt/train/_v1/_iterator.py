"""TrainingIterator: iterates over the reports of a run of the Trainer of Ray Train 1.x."""

from collections.abc import Iterator
from typing import Any

from ..._support import _notes


class TrainingIterator:
    """Iterates over the reports of a run. Each item is a list with the metrics of all ranks. Returned by `Trainer.run_iterator()`.

    Examples
    --------
    >>> iterator = trainer.run_iterator(train_func)  # doctest: +SKIP
    >>> for results in iterator:  # doctest: +SKIP
    ...     print(results[0]["loss"])
    >>> values = iterator.get_final_results()  # doctest: +SKIP
    """

    def __iter__(self) -> Iterator[list[dict[str, Any]]]:
        raise NotImplementedError

    def close(self) -> None:
        """Stops the ranks if they run, and waits until they have exited."""

    def is_finished(self) -> bool:
        """Returns whether the run has ended."""
        raise NotImplementedError

    def get_final_results(self, force: bool = False) -> list[Any]:
        """Returns the values that the function returned, by rank.

        Parameters
        ----------
        force : bool, default False
            Whether to wait for the end of the run.

        Raises
        ------
        RuntimeError
            If the run has not ended, and `force` is False.
        TrainingFailedError
            If the run failed.
        """
        raise NotImplementedError


def note_finished(run_dir):
    """Prints that the run has finished in an earlier start of the script."""
    _notes.say(f"the run {run_dir} has finished already; nothing is trained, and the values that the function returned are None. Choose another "
               f"Trainer(logdir=...) for new runs")
