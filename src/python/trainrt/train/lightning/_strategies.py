"""Lightning's strategies on the device of the rank. They take Lightning's arguments and use the process group of TorchTrainer."""

import importlib
from typing import Any

from ..torch import get_device
from ._library import pl

__doctest_requires__ = {"RayDeepSpeedStrategy": ["deepspeed"]}
strategies: Any = importlib.import_module(f"{pl.__name__}.strategies")


class _OnRankDevice:
    world_size: int
    global_rank: int

    @property
    def root_device(self):
        return get_device()

    @property
    def distributed_sampler_kwargs(self):
        return {"num_replicas": self.world_size, "rank": self.global_rank}


class RayDDPStrategy(_OnRankDevice, strategies.DDPStrategy):
    """DDPStrategy on the device of the rank, with the same arguments.

    Examples
    --------
    >>> from trainrt.train.lightning import RayDDPStrategy
    >>> strategy = RayDDPStrategy(find_unused_parameters=True)
    """


class RayFSDPStrategy(_OnRankDevice, strategies.FSDPStrategy):
    """FSDPStrategy on the device of the rank, with the same arguments.

    Examples
    --------
    >>> from trainrt.train.lightning import RayFSDPStrategy
    >>> strategy = RayFSDPStrategy()
    """


class RayDeepSpeedStrategy(_OnRankDevice, strategies.DeepSpeedStrategy):
    """DeepSpeedStrategy on the device of the rank, with the same arguments. Needs DeepSpeed.

    Examples
    --------
    >>> from trainrt.train.lightning import RayDeepSpeedStrategy
    >>> strategy = RayDeepSpeedStrategy(stage=2)
    """
