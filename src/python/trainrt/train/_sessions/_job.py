"""What a Trainer gives the session in which its train function runs."""

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional


@dataclass
class Job:
    """Read by get_context(), report() and the callbacks."""

    trainer: str = "DataParallelTrainer"
    train_loop_config: Any = None
    scaling_config: Any = None
    run_config: Any = None
    metadata: Dict = field(default_factory=dict)
    datasets: Dict = field(default_factory=dict)
    callbacks: List = field(default_factory=list)
    first_checkpoint: Optional[Any] = None  # resume_from_checkpoint
    validation: Optional[Any] = None  # ValidationConfig
