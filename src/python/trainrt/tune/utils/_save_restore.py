"""validate_save_restore(): checks that a Trainable class continues from its checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def validate_save_restore(trainable_cls: Callable[..., Any], config: dict[str, Any] | None = None, num_gpus: int = 0) -> bool:
    """Trains an object of the class for three steps, restores another object from its checkpoint, and trains this one for two steps, in this process.
    Returns True.

    Parameters
    ----------
    trainable_cls : class derived from tune.Trainable
    config : dict, optional
    num_gpus : int
        Ignored.

    Raises
    ------
    AssertionError
        `training_iteration` is missing in the results, or does not continue.

    Examples
    --------
    >>> from trainrt import tune
    >>> from trainrt.tune.utils import validate_save_restore
    >>> class Counts(tune.Trainable):
    ...     def setup(self, config):
    ...         self.count = 0
    ...     def step(self):
    ...         self.count += 1
    ...         return {"count": self.count}
    ...     def save_checkpoint(self, checkpoint_dir):
    ...         return {"count": self.count}
    ...     def load_checkpoint(self, checkpoint):
    ...         self.count = checkpoint["count"]
    >>> validate_save_restore(Counts)
    True
    """
    del num_gpus
    first, second = trainable_cls(config=dict(config or {})), trainable_cls(config=dict(config or {}))
    try:
        result: dict[str, Any] = {}
        for _ in range(3):
            result = first.train()
        assert result.get("training_iteration"), "validate_save_restore(): the results have no training_iteration; step() must not remove it"
        second.restore(first.save())
        for expected in (4, 5):
            found = second.train()["training_iteration"]
            assert found == expected, f"validate_save_restore(): after restore(), training_iteration is {found}, and it must be {expected}"
    finally:
        first.stop()
        second.stop()
    return True
