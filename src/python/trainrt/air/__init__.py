"""Ray AIR's names for classes of trainrt.train, for older scripts."""

from .._ray_names import names_of
from ..train import Checkpoint, CheckpointConfig, DataConfig, FailureConfig, Result, RunConfig, ScalingConfig
from . import config, session

__all__ = ["Checkpoint", "CheckpointConfig", "DataConfig", "FailureConfig", "Result", "RunConfig", "ScalingConfig", "config", "session"]
__getattr__ = names_of(__name__)
