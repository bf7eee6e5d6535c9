"""Calls DataConfig.configure() of a subclass, and translates its result into datasets of the run, which are sections [data.NAME]."""

import re
from typing import Any, NamedTuple

from ..._client.values import kind_of
from ._data import DataConfig

NAME = re.compile(r"[A-Za-z0-9_-]+")  # name of a dataset


class Section(NamedTuple):
    """A dataset of the run. If `is_split`, the runtime splits it between the workers; otherwise each worker reads all of its samples."""

    dataset: Any
    is_split: bool


class Assignment(NamedTuple):
    """Sections by name, and for each worker the names of its datasets as {name in the train function: name of the section}."""

    sections: dict[str, Section]
    workers: list[dict[str, str]]


def is_custom(config):
    """Returns whether the DataConfig is of a subclass that defines configure()."""
    return config is not None and type(config).configure is not DataConfig.configure


def configured(datasets, config, world_size, is_elastic):
    """Returns the Assignment of the result of `config.configure()`. `is_elastic`: whether another start of the run may have another number of
    workers. Raises TypeError or ValueError for an invalid result."""
    origin = f"{type(config).__name__}.configure()"
    found = config.configure(datasets=dict(datasets), world_size=world_size, worker_handles=None, worker_node_ids=None)
    iterators = [_checked(each, origin) for each in _as_workers(found, origin, world_size)]
    assignment = Assignment({}, [{} for _ in iterators])
    for name in dict.fromkeys(name for worker in iterators for name in worker):
        _assign(assignment, name, [worker.get(name) for worker in iterators], origin, is_elastic)
    return assignment


def _as_workers(found, origin, world_size):
    if not isinstance(found, (list, tuple)) or len(found) != world_size or not all(isinstance(each, dict) for each in found):
        size = f" of {len(found)}" if isinstance(found, (list, tuple)) else ""
        raise TypeError(f"{origin} returned {kind_of(found)}{size}; it must return a list of {world_size} dicts, one per worker: "
                        f"[{{'train': iterator}}, ...]")
    return found


def _checked(worker, origin):
    """Returns the datasets of one worker, as {name: DataIterator}. A Dataset instead of an iterator means that the worker reads all samples of this Dataset."""
    from ...data import DataIterator, Dataset
    made = {}
    for name, value in worker.items():
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise ValueError(f"{origin} returned the name {name!r}; a name consists of letters, digits, '_' and '-'")
        found = value.iterator() if isinstance(value, Dataset) else value
        if not isinstance(found, DataIterator) or found.dataset is None:
            raise TypeError(f"{origin} returned {kind_of(value)} for {name!r}; it must be a result of streaming_split() or iterator() of a "
                            f"dataset")
        made[name] = found
    return made


def _assign(assignment, name, iterators, origin, is_elastic):
    """Adds the sections of the dataset `name`. `iterators` has the iterator of each worker, or `None`."""
    shared = _shared_section(iterators)
    if shared is not None:
        assignment.sections[name] = shared
        for worker in assignment.workers:
            worker[name] = name
        return
    if is_elastic:
        raise ValueError(f"{origin} gives the workers separate datasets {name!r}, which needs a fixed number of workers: set "
                         f"ScalingConfig(num_workers=N), or return the parts of one streaming_split(world_size)")
    for number, iterator in enumerate(iterators):
        if iterator is not None:
            section = _free_name(f"{name}-{number}", assignment.sections)
            dataset = iterator.dataset if iterator.split is None else iterator.split.part(iterator.number)
            assignment.sections[section] = Section(dataset, False)
            assignment.workers[number][name] = section


def _shared_section(iterators):
    """Returns one Section if all workers read the same dataset, either its parts or all of its samples; otherwise `None`."""
    first = iterators[0]
    if any(each is None or each.dataset is not first.dataset or each.split is not first.split for each in iterators):
        return None
    if first.split is None:
        return Section(first.dataset, False)
    numbers = sorted(each.number for each in iterators)
    return Section(first.dataset, True) if numbers == list(range(first.split.count)) else None


def _free_name(name, sections):
    return name if name not in sections else _free_name(name + "-", sections)
