"""ValidationConfig and ValidationTaskConfig: how checkpoints are evaluated beside the training."""

import json
from dataclasses import dataclass, field
from typing import Any, Dict, Optional


@dataclass
class ValidationTaskConfig:
    """Of one validation. fn_kwargs: given to the function behind the checkpoint; they are kept with the checkpoint, so they can be JSON.
    timeout_s: it is ended if it takes longer; None is no limit."""

    fn_kwargs: Optional[Dict[str, Any]] = field(default_factory=dict)
    timeout_s: Optional[float] = None

    def __post_init__(self):
        self.fn_kwargs = {} if self.fn_kwargs is None else self.fn_kwargs
        if not isinstance(self.fn_kwargs, dict):
            raise TypeError(f"ValidationTaskConfig(fn_kwargs={self.fn_kwargs!r}): it must be a dict")
        try:
            json.dumps(self.fn_kwargs)
        except (TypeError, ValueError) as error:
            raise ValueError(f"ValidationTaskConfig(fn_kwargs=...): {error}; it is kept with the checkpoint, as JSON") from None
        if self.timeout_s is not None and not self.timeout_s > 0:
            raise ValueError(f"ValidationTaskConfig(timeout_s={self.timeout_s!r}): it must be more than 0, or None")


class ValidationConfig:
    """fn(checkpoint, **fn_kwargs) returns a dict of metrics, which count as those of the checkpoint. It runs in a process of its own beside
    the training, on the node of rank 0 and with what is there, one checkpoint after the other, oldest first. task_config: what report(...,
    validation=True) means. ray_remote_kwargs changes nothing here."""

    def __init__(self, fn, task_config=None, ray_remote_kwargs=None):
        if not callable(fn):
            raise TypeError(f"ValidationConfig(fn=...) takes a function, not {fn!r}")
        if task_config is not None and not isinstance(task_config, ValidationTaskConfig):
            raise TypeError(f"ValidationConfig(task_config=...) takes a ValidationTaskConfig, not a {type(task_config).__name__}")
        self.fn = fn
        self.task_config = task_config or ValidationTaskConfig()
        self.ray_remote_kwargs = ray_remote_kwargs or {}

    def request(self, validation):
        """What the manifest of a checkpoint keeps; `validation`: True, or a ValidationTaskConfig over the default one."""
        task, given = self.task_config, validation
        if given is True:
            given = ValidationTaskConfig()
        if not isinstance(given, ValidationTaskConfig):
            raise TypeError(f"report(validation=...) takes True, False or a ValidationTaskConfig, not a {type(given).__name__}")
        return {"fn_kwargs": {**task.fn_kwargs, **given.fn_kwargs},
                "timeout_s": given.timeout_s if given.timeout_s is not None else task.timeout_s}

    def notes(self):
        if self.ray_remote_kwargs:
            yield ("ValidationConfig(ray_remote_kwargs=...) changes nothing: the function runs in a process beside rank 0, with the CPUs and "
                   "GPUs of that rank")
