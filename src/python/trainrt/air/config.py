"""Names of ray.air.config. The configs are those of trainrt.train with the repr() and comparisons of Ray AIR."""

from dataclasses import MISSING, dataclass, fields
from typing import Any, Optional

from .. import train
from ..train import DataConfig, SyncConfig

__all__ = ["CheckpointConfig", "DataConfig", "FailureConfig", "RunConfig", "ScalingConfig", "SyncConfig"]


class _Shown:
    """Base class of configs whose repr() has only the arguments that differ from their defaults."""

    def __repr__(self) -> str:
        given = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        defaults = {each.name: each.default for each in fields(self) if each.default is not MISSING}  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items() if value != defaults.get(name, MISSING))})"


@dataclass(repr=False, eq=False)
class ScalingConfig(_Shown, train.ScalingConfig):
    """trainrt.train.ScalingConfig with the repr() of Ray AIR. Its resources also count the process that coordinates the ranks in Ray: `trainer_resources`,
    by default 1 CPU.

    Examples
    --------
    >>> from trainrt.air import ScalingConfig
    >>> ScalingConfig(num_workers=2), ScalingConfig(num_workers=2).total_resources
    (ScalingConfig(num_workers=2), {'CPU': 3.0})
    """

    def _resources_of_trainer(self) -> dict[str, float]:
        if self.trainer_resources is None:
            return {"CPU": 1}
        return {name: amount for name, amount in self.trainer_resources.items() if amount}

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, type(self)) and self.as_placement_group_factory() == other.as_placement_group_factory()

    __hash__ = None  # type: ignore[assignment]


@dataclass(repr=False)
class FailureConfig(_Shown, train.FailureConfig):
    """trainrt.train.FailureConfig with the repr() of Ray AIR.

    Examples
    --------
    >>> from trainrt.air import FailureConfig
    >>> FailureConfig(max_failures=2)
    FailureConfig(max_failures=2)
    """


@dataclass(repr=False)
class CheckpointConfig(_Shown, train.CheckpointConfig):
    """trainrt.train.CheckpointConfig with the repr() of Ray AIR.

    Examples
    --------
    >>> from trainrt.air import CheckpointConfig
    >>> CheckpointConfig(num_to_keep=2)
    CheckpointConfig(num_to_keep=2)
    """

    _checkpoint_keep_all_ranks: Optional[str] = "DEPRECATED"
    _checkpoint_upload_from_workers: Optional[str] = "DEPRECATED"

    def __post_init__(self) -> None:
        for name in ("_checkpoint_keep_all_ranks", "_checkpoint_upload_from_workers"):
            if getattr(self, name) != "DEPRECATED":
                raise DeprecationWarning(f"The experimental `{name}` config is deprecated. The files of all ranks that report a checkpoint become one "
                                         f"checkpoint; report checkpoint=None on the other ranks")
        super().__post_init__()


@dataclass(repr=False)
class RunConfig(_Shown, train.RunConfig):
    """trainrt.train.RunConfig with the repr() of Ray AIR.

    Examples
    --------
    >>> from trainrt.air import RunConfig
    >>> RunConfig(name="first").name
    'first'
    """
