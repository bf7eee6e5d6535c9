"""Ray AIR's names for classes of trainrt.train, for older scripts."""

from ..train import Checkpoint, CheckpointConfig, DataConfig, FailureConfig, Result, RunConfig, ScalingConfig
from . import config, session

__all__ = ["Checkpoint", "CheckpointConfig", "DataConfig", "FailureConfig", "Result", "RunConfig", "ScalingConfig", "config", "session"]
