"""ValidationConfig and ValidationTaskConfig: how checkpoints are evaluated during the training."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Callable, Optional, Union

from ..._client.values import kind_of

ValidationFn = Callable[..., dict[str, Any]]  # fn(checkpoint, **fn_kwargs) returns metrics


@dataclass
class ValidationTaskConfig:
    """Options of a validation.

    Parameters
    ----------
    fn_kwargs : dict, optional
        Keyword arguments of the function. They are stored with the checkpoint, so that JSON must be able to hold them.
    timeout_s : float, optional
        Maximum duration in seconds; a longer validation is ended and fails. Default: no limit.

    Raises
    ------
    TypeError, ValueError
        If a value is invalid.

    Examples
    --------
    >>> from trainrt.train import ValidationTaskConfig
    >>> ValidationTaskConfig(fn_kwargs={"split": "test"}, timeout_s=600).timeout_s
    600
    """

    fn_kwargs: Optional[dict[str, Any]] = field(default_factory=dict)
    timeout_s: Optional[float] = None

    def __post_init__(self):
        self.fn_kwargs = {} if self.fn_kwargs is None else self.fn_kwargs
        if not isinstance(self.fn_kwargs, dict):
            raise TypeError(f"ValidationTaskConfig(fn_kwargs={self.fn_kwargs!r}): it must be a dict")
        try:
            json.dumps(self.fn_kwargs)
        except (TypeError, ValueError) as error:
            raise ValueError(f"ValidationTaskConfig(fn_kwargs={self.fn_kwargs!r}): JSON cannot hold it: {error}. It is stored with the checkpoint as "
                             f"JSON") from None
        if self.timeout_s is not None and not self.timeout_s > 0:
            raise ValueError(f"ValidationTaskConfig(timeout_s={self.timeout_s!r}): it must be more than 0, or None for no limit")


class ValidationConfig:
    """Evaluates checkpoints during the training.

    For each checkpoint reported with `report(..., validation=True)`, `fn(checkpoint, **fn_kwargs)` is called in a separate process on the node of rank 0,
    which uses the CPUs and GPUs of that rank. Checkpoints are evaluated one at a time, oldest first. A checkpoint is kept until it is evaluated.

    Parameters
    ----------
    fn : callable
        Returns a dict of metrics, which are added to the metrics of the checkpoint.
    task_config : ValidationTaskConfig, optional
        Default options of `report(..., validation=True)`.
    ray_remote_kwargs : dict, optional
        Has no effect except a note.

    Raises
    ------
    TypeError
        If an argument has the wrong type.

    Examples
    --------
    >>> from trainrt.train import ValidationConfig
    >>> def evaluate(checkpoint, split="valid"):
    ...     with checkpoint.as_directory() as path:
    ...         return {"accuracy": 0.9}
    >>> config = ValidationConfig(evaluate)
    """

    def __init__(self, fn: ValidationFn, task_config: Optional[ValidationTaskConfig] = None,
                 ray_remote_kwargs: Optional[dict[str, Any]] = None):
        if not callable(fn):
            raise TypeError(f"ValidationConfig(fn={fn!r}): it must be a function")
        if task_config is not None and not isinstance(task_config, ValidationTaskConfig):
            raise TypeError(f"ValidationConfig(task_config={task_config!r}): it must be a ValidationTaskConfig, not {kind_of(task_config)}")
        self.fn = fn
        self.task_config = task_config or ValidationTaskConfig()
        self.ray_remote_kwargs = ray_remote_kwargs or {}

    def request(self, validation: Union[bool, ValidationTaskConfig]) -> dict[str, Any]:
        """Returns the validation request that a checkpoint's manifest stores.

        Parameters
        ----------
        validation : True or ValidationTaskConfig
            Argument of `report()`. Its options take precedence over `task_config`.
        """
        given = ValidationTaskConfig() if validation is True else validation
        if not isinstance(given, ValidationTaskConfig):
            raise TypeError(f"report(validation={validation!r}): it must be True, False or a ValidationTaskConfig")
        default = self.task_config
        return {"fn_kwargs": {**(default.fn_kwargs or {}), **(given.fn_kwargs or {})},
                "timeout_s": given.timeout_s if given.timeout_s is not None else default.timeout_s}

    def notes(self) -> Iterator[str]:
        """Yields a note for each argument that has no effect."""
        if self.ray_remote_kwargs:
            yield ("ValidationConfig(ray_remote_kwargs=...) changes nothing: the function runs in a process on the node of rank 0, with the CPUs and GPUs "
                   "of that rank")
