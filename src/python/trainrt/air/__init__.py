"""Ray AIR's names for classes of trainrt.train, for older scripts."""

from .._ray_names import names_of
from ..train import Checkpoint, DataConfig, Result
from ..train._config._resources import ResourceRequest
from . import config, session
from .config import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig

__all__ = ["Checkpoint", "CheckpointConfig", "DataConfig", "FailureConfig", "ResourceRequest", "Result", "RunConfig", "ScalingConfig", "config", "session"]
__getattr__ = names_of(__name__)
