"""CheckpointConfig: which checkpoints are kept."""

from dataclasses import dataclass
from typing import Optional


@dataclass
class CheckpointConfig:
    """Which checkpoints are kept, and, for trainers without a train function, how often they are saved.

    Parameters
    ----------
    num_to_keep : int, optional
        Number of best checkpoints to keep, plus the latest. Default: all are kept.
    checkpoint_score_attribute : str, optional
        Metric that ranks the checkpoints. Default: the newest are the best.
    checkpoint_score_order : {'max', 'min'}, default 'max'
        Whether the highest or the lowest value is the best.
    checkpoint_frequency : int, default 0
        For XGBoostTrainer and LightGBMTrainer without a train function: boosting rounds per checkpoint; 0 takes no checkpoint before the
        last round. Otherwise without effect.
    checkpoint_at_end : bool, optional
        For the same trainers: whether a checkpoint is taken after the last round. Default: True.

    Raises
    ------
    ValueError
        If a value is invalid.

    Examples
    --------
    >>> from trainrt.train import CheckpointConfig, RunConfig
    >>> checkpoint_config = CheckpointConfig(num_to_keep=2, checkpoint_score_attribute="loss", checkpoint_score_order="min")
    >>> config = RunConfig(checkpoint_config=checkpoint_config)
    """

    num_to_keep: Optional[int] = None
    checkpoint_score_attribute: Optional[str] = None
    checkpoint_score_order: Optional[str] = "max"
    checkpoint_frequency: Optional[int] = 0
    checkpoint_at_end: Optional[bool] = None

    def __post_init__(self):
        if self.num_to_keep is not None and (not isinstance(self.num_to_keep, int) or self.num_to_keep <= 0):
            raise ValueError(f"Received invalid num_to_keep: {self.num_to_keep!r}. Must be None or an integer >= 1. CheckpointConfig(num_to_keep=None) "
                             f"keeps all checkpoints")
        if self.checkpoint_score_order not in ("max", "min"):
            raise ValueError(f"Received invalid checkpoint_score_order: {self.checkpoint_score_order}. Must be 'max' or 'min'. It is an argument of "
                             f"CheckpointConfig")
        if self.checkpoint_frequency is not None and self.checkpoint_frequency < 0:
            raise ValueError(f"checkpoint_frequency must be >=0, got {self.checkpoint_frequency}: CheckpointConfig(checkpoint_frequency="
                             f"{self.checkpoint_frequency!r})")
