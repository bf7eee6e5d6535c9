"""DataContext and ExecutionOptions of Ray Data. Samples are always read in a defined order, and no option changes how they are read."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields
from typing import Any

from .._support import _notes


class NodeIdStr(str):
    """Type of the elements of `worker_node_ids` in `DataConfig.configure()`, for annotations. The runtime passes `None`, since it has no node ids.

    Examples
    --------
    >>> from trainrt.data import NodeIdStr
    >>> NodeIdStr("node-1") == "node-1"
    True
    """


@dataclass
class ExecutionResources:
    """Amounts of resources, as in Ray Data. Accepted without effect.

    Examples
    --------
    >>> from trainrt.data import ExecutionResources
    >>> ExecutionResources(cpu=4).cpu
    4
    """

    cpu: float | None = None
    gpu: float | None = None
    object_store_memory: float | None = None
    memory: float | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__dict__.get(name, value) != value:
            _notes.say(f"ExecutionResources.{name} = {value!r} changes nothing: {_OF_READING}")
        super().__setattr__(name, value)

    @classmethod
    def for_limits(cls, cpu: float | None = None, gpu: float | None = None, object_store_memory: float | None = None,
                   memory: float | None = None) -> ExecutionResources:
        """Returns ExecutionResources(cpu, gpu, object_store_memory, memory)."""
        return cls(cpu, gpu, object_store_memory, memory)


@dataclass
class ExecutionOptions:
    """Options of Ray Data's execution. No option has an effect: `preserve_order` is always fulfilled, and for each other option that is set to a value
    other than its default, a note is printed.

    Examples
    --------
    >>> from trainrt.data import ExecutionOptions
    >>> ExecutionOptions(preserve_order=True).preserve_order
    True
    """

    resource_limits: ExecutionResources = field(default_factory=ExecutionResources)
    exclude_resources: ExecutionResources = field(default_factory=ExecutionResources)
    locality_with_output: bool | list[str] = False
    preserve_order: bool = False
    actor_locality_enabled: bool = True
    verbose_progress: bool = True

    def __setattr__(self, name: str, value: Any) -> None:
        known = {each.name: each for each in fields(self)}
        if name not in known:
            raise AttributeError(f"ExecutionOptions has no option {name!r}; it has: {', '.join(known)}")
        if name != "preserve_order" and value != _DEFAULTS.get(name, value):
            _notes.say(f"ExecutionOptions({name}=...) changes nothing: {_REASONS[name]}")
        super().__setattr__(name, value)


_DEFAULTS = {"resource_limits": ExecutionResources(), "exclude_resources": ExecutionResources(), "locality_with_output": False,
             "actor_locality_enabled": True, "verbose_progress": True}
_OF_READING = "the ranks read their samples themselves; options(memory=..., threads=...) of a dataset limits the memory and the threads of reading"
_REASONS = {"resource_limits": _OF_READING, "exclude_resources": _OF_READING, "verbose_progress": "reading prints no progress",
            "locality_with_output": "each rank reads its samples on its own node", "actor_locality_enabled": "each rank reads on its own node"}


class DataContext:
    """Settings of Ray Data in this process. Only `execution_options` has a meaning; other settings are stored, and a note is printed for each.

    Examples
    --------
    >>> from trainrt.data import DataContext
    >>> DataContext.get_current().execution_options.preserve_order = True
    """

    execution_options: ExecutionOptions
    _current: DataContext | None = None

    def __init__(self) -> None:
        self.__dict__.update(execution_options=ExecutionOptions(), _config={})

    @classmethod
    def get_current(cls) -> DataContext:
        """Returns the settings of this process."""
        if DataContext._current is None:
            DataContext._current = cls()
        return DataContext._current

    def set_config(self, key: str, value: Any) -> None:
        """Stores a value for get_config()."""
        self._config[key] = value

    def get_config(self, key: str, default: Any = None) -> Any:
        """Returns the value that set_config() has stored, or `default`."""
        return self._config.get(key, default)

    def copy(self) -> DataContext:
        """Returns an independent copy of the settings."""
        made = DataContext()
        made.__dict__.update(copy.deepcopy(self.__dict__))
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "execution_options":
            if not isinstance(value, ExecutionOptions):
                raise TypeError(f"DataContext.execution_options = {value!r}: it must be an ExecutionOptions")
        else:
            _notes.say(f"DataContext.{name} changes nothing: it is a setting of Ray Data's tasks, which trainrt does not have")
        self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"DataContext has no setting {name!r} before a script sets it; only execution_options has a default")
