"""Ray AIR's names, for scripts of that time: all of them are trainrt.train's."""

from ..train import Checkpoint, CheckpointConfig, DataConfig, FailureConfig, Result, RunConfig, ScalingConfig
from . import config, session

__all__ = ["Checkpoint", "CheckpointConfig", "DataConfig", "FailureConfig", "Result", "RunConfig", "ScalingConfig", "config", "session"]
