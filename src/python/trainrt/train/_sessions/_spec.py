"""TrainSpec: the arguments of a Trainer that its session needs."""

from dataclasses import dataclass, field
from typing import Any, Optional


@dataclass
class TrainSpec:
    """Arguments of a Trainer. `get_context()`, `report()` and callbacks read them."""

    trainer: str = "DataParallelTrainer"
    train_loop_config: Any = None
    scaling_config: Any = None
    run_config: Any = None
    metadata: dict = field(default_factory=dict)
    datasets: dict = field(default_factory=dict)
    worker_datasets: Optional[list] = None  # per worker {name: (section [data.NAME], dataset)}, if DataConfig.configure() of a subclass assigned them
    callbacks: list = field(default_factory=list)
    first_checkpoint: Optional[Any] = None  # Checkpoint that get_checkpoint() returns before the first report (resume_from_checkpoint)
    validation: Any = None  # ValidationConfig, if any
    copies_to: Optional[tuple] = None  # (filesystem of pyarrow.fs, path) to which rank 0 copies checkpoints
