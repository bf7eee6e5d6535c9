"""Names of ray.air.config."""

from ..train import CheckpointConfig, DataConfig, FailureConfig, RunConfig, ScalingConfig, SyncConfig

__all__ = ["CheckpointConfig", "DataConfig", "FailureConfig", "RunConfig", "ScalingConfig", "SyncConfig"]
