"""Lightning's strategies on the rank's own device. They take its arguments; the process group is TorchTrainer's."""

import importlib

from ..torch import get_device
from ._library import pl

strategies = importlib.import_module(f"{pl.__name__}.strategies")


class _OnOwnDevice:
    @property
    def root_device(self):
        return get_device()

    @property
    def distributed_sampler_kwargs(self):
        return {"num_replicas": self.world_size, "rank": self.global_rank}


class RayDDPStrategy(_OnOwnDevice, strategies.DDPStrategy):
    """DDPStrategy."""


class RayFSDPStrategy(_OnOwnDevice, strategies.FSDPStrategy):
    """FSDPStrategy."""


class RayDeepSpeedStrategy(_OnOwnDevice, strategies.DeepSpeedStrategy):
    """DeepSpeedStrategy."""
