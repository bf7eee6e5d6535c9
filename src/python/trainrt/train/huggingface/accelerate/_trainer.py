"""AccelerateTrainer of Ray 2.4 to 2.7."""

from __future__ import annotations

import importlib
import os
from typing import Any, Callable

from ...torch import TorchTrainer


class AccelerateTrainer(TorchTrainer):
    """TorchTrainer that applies a configuration of Accelerate on every rank, before the train function calls `Accelerator()`.

    Settings of the configuration that choose machines, processes, ports, GPUs or the CPU have no effect: the launch decides.

    Parameters
    ----------
    train_loop_per_worker : callable
        Train function, without arguments or of the config.
    accelerate_config : dict, str or path-like, optional
        The configuration, or a file that `accelerate config` has written. Default: Accelerate's default file, if it exists.
    **arguments
        Arguments of TorchTrainer.

    Raises
    ------
    ImportError
        If Accelerate is not installed.
    TypeError, ValueError
        If an argument is invalid.

    Examples
    --------
    >>> from trainrt.train import ScalingConfig
    >>> from trainrt.train.huggingface import AccelerateTrainer
    >>> trainer = AccelerateTrainer(lambda: None, accelerate_config={"mixed_precision": "bf16"},
    ...                             scaling_config=ScalingConfig(num_workers=2))  # doctest: +SKIP
    """

    def __init__(self, train_loop_per_worker: Callable[..., Any], *,
                 accelerate_config: dict[str, Any] | str | os.PathLike[str] | None = None, **arguments: Any) -> None:
        importlib.import_module("._library", __package__)
        from . import _configuration
        super().__init__(train_loop_per_worker, **arguments)
        self.accelerate_config = _configuration.read(accelerate_config)

    def config_record(self) -> dict[str, Any]:
        record = super().config_record()
        return {**record, "not_recorded": [*record["not_recorded"], "accelerate_config=..."]} if self.accelerate_config else record

    def call_train_function(self) -> Any:
        from . import _configuration
        os.environ.update(_configuration.variables(self.accelerate_config))
        return super().call_train_function()
