"""CheckpointConfig: which checkpoints are kept."""

from dataclasses import dataclass
from typing import Optional


@dataclass
class CheckpointConfig:
    """The num_to_keep best by checkpoint_score_attribute, and always the latest; num_to_keep=None keeps all. checkpoint_frequency and
    checkpoint_at_end are for trainers without a train function of the user's."""

    num_to_keep: Optional[int] = None
    checkpoint_score_attribute: Optional[str] = None
    checkpoint_score_order: Optional[str] = "max"
    checkpoint_frequency: Optional[int] = 0
    checkpoint_at_end: Optional[bool] = None

    def __post_init__(self):
        if self.num_to_keep is not None and (not isinstance(self.num_to_keep, int) or self.num_to_keep <= 0):
            raise ValueError(f"CheckpointConfig(num_to_keep={self.num_to_keep!r}): it must be a whole number, 1 or more, or None to keep "
                             f"all")
        if self.checkpoint_score_order not in ("max", "min"):
            raise ValueError(f"CheckpointConfig(checkpoint_score_order={self.checkpoint_score_order!r}): it must be 'max' or 'min'")
        if self.checkpoint_frequency is not None and self.checkpoint_frequency < 0:
            raise ValueError(f"CheckpointConfig(checkpoint_frequency={self.checkpoint_frequency!r}): it must be 0 or more")
