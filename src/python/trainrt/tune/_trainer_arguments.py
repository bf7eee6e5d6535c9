"""The arguments of a Trainer in a param_space: the config of its train function, datasets, metadata, scaling_config and, for a tree trainer with params,
its other arguments."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._client.values import kind_of
from ..train import ScalingConfig
from ..train._config import _assignment
from ..train._config._datasets import checked
from ..train.data_parallel_trainer import DataParallelTrainer
from ._domains import Categorical, Domain, Integer
from ._nested_values import Path, as_domain, domains_in, merged, name_of

if TYPE_CHECKING:
    from ..data import Dataset

_WORKERS = ("scaling_config", "num_workers")
NAMES: dict[Path, str] = {_WORKERS: "scaling.num_workers"}  # key of [tune.space] by which the sweep starts as many ranks
_FIXED = {"run_config": "pass it as Tuner(run_config=...)", "train_loop_per_worker": "pass the function to the Trainer",
          "dataset_config": "pass it to the Trainer", "resume_from_checkpoint": "pass it to the Trainer", "validation_config": "pass it to the Trainer"}


class TrainerArguments:
    """The param_space of a Trainer. Raises TypeError or ValueError for arguments that trials cannot change.

    Parameters
    ----------
    trainer : DataParallelTrainer
        Is not modified.
    param_space : dict
    mutated : iterable of paths
        Values that a scheduler changes during a trial.
    """

    def __init__(self, trainer: DataParallelTrainer, param_space: dict[str, Any], mutated: Mapping[Path, Domain]) -> None:
        _require_tunable(trainer, param_space, mutated)
        self.choices: dict[str, list[Dataset]] = {}  # datasets of which each trial uses one
        self.param_space = dict(param_space)
        if "scaling_config" in param_space:
            self.param_space["scaling_config"] = _scaling_values(param_space["scaling_config"], trainer.scaling_config or ScalingConfig())
        self.trainer = self._common_trainer(copy.copy(trainer))

    def _common_trainer(self, trainer: DataParallelTrainer) -> DataParallelTrainer:
        """Returns the Trainer with all datasets of the sweep, and with the maximum number of ranks."""
        trainer.scaling_config = _scaling_with(trainer.scaling_config, _fixed_scaling(self.param_space.get("scaling_config", {})))
        given = self.param_space.get("datasets", {})
        if not isinstance(given, dict):
            raise TypeError(f"param_space['datasets'] must be a dict of datasets or grids, not {kind_of(given)}")
        for name, value in given.items():
            domain = as_domain(value)
            if domain is not None:
                self.choices[name] = _dataset_choices(name, domain)
        used = {name: self.choices[name][0] if name in self.choices else value for name, value in given.items()}
        trainer.datasets = checked({**trainer.datasets, **used}, "Tuner")
        if self.choices:
            trainer._assigned = _assignment.Assignment(self._sections(trainer), [])
        trainer.set_arguments({})
        return trainer

    def _sections(self, trainer: DataParallelTrainer) -> dict[str, _assignment.Section]:
        """Returns the sections of the datasets. All trials share one config, so the sections contain the datasets of every trial."""
        config = trainer.dataset_config
        if _assignment.is_custom(config):
            raise ValueError(f"param_space['datasets'] has a domain for the dataset '{next(iter(self.choices))}', but {type(config).__name__}.configure() "
                             f"cannot assign a dataset that differs between trials. Use a DataConfig without configure()")
        sections = {}
        for name, dataset in trainer.datasets.items():
            for number, each in enumerate(self.choices.get(name, [dataset])):
                section = f"{name}-{number}" if name in self.choices else name
                if section in sections:
                    raise ValueError(f"datasets: the name '{section}' is needed for a value of '{name}'; rename the other dataset")
                sections[section] = _assignment.Section(each, config is None or config.is_split(name))
        return sections

    def trainer_of(self, config: dict[str, Any], world_size: int) -> DataParallelTrainer:
        """Returns the Trainer of a trial. `config` has its values in the form of the param_space."""
        trainer, given = copy.copy(self.trainer), dict(config)
        trainer.train_loop_config = merged(trainer.train_loop_config or {}, given.pop(trainer.config_argument, {}))
        trainer.metadata = merged(trainer.metadata, given.pop("metadata", {}))
        trainer.scaling_config = _scaling_with(trainer.scaling_config, given.pop("scaling_config", {}))
        chosen = given.pop("datasets", {})
        if self.choices:
            trainer.datasets = {**trainer.datasets, **chosen}
            assert trainer._assigned is not None
            names = {name: self._section_of(name, dataset) for name, dataset in trainer.datasets.items()}
            trainer._assigned = _assignment.Assignment(trainer._assigned.sections, [names] * world_size)
        trainer.set_arguments(given)
        return trainer

    def _section_of(self, name: str, dataset: Any) -> str:
        number = next((number for number, each in enumerate(self.choices.get(name, ())) if each is dataset), None)
        return name if number is None else f"{name}-{number}"


def _require_tunable(trainer: DataParallelTrainer, param_space: dict[str, Any], mutated: Mapping[Path, Domain]) -> None:
    fixed = dict(_FIXED)
    if trainer.config_argument != "train_loop_config":
        fixed["train_loop_config"] = f"use {trainer.config_argument}"
    for name, instead in fixed.items():
        if name in param_space:
            raise ValueError(f"Tuner(a Trainer, param_space={{{name!r}: ...}}): trials cannot change {name}; {instead}")
    ours = {trainer.config_argument, "datasets", "metadata", "scaling_config"}
    others = {*param_space, *(path[0] for path in mutated)} - ours
    copy.copy(trainer).set_arguments(dict.fromkeys(others))
    for path, domain in domains_in(param_space.get("datasets", {}), ("datasets",)):
        if len(path) != 2 or not isinstance(domain, Categorical):
            raise ValueError(f"param_space: '{name_of(path)}' must be a dataset, or tune.grid_search() or tune.choice() of datasets")
    for path in mutated:
        if path[0] in ("datasets", "scaling_config"):
            raise ValueError(f"hyperparam_mutations has '{name_of(path)}', which cannot change during a trial; remove it, or search it in the param_space")


def _dataset_choices(name: str, domain: Domain) -> list[Dataset]:
    from ..data import Dataset  # needs NumPy
    values = domain.values if isinstance(domain, Categorical) else []
    for value in values:
        if not isinstance(value, Dataset):
            raise TypeError(f"param_space['datasets'][{name!r}]: its values must be datasets of trainrt.data, not {kind_of(value)}")
    return values


def _scaling_values(given: Any, own: ScalingConfig) -> dict[str, Any]:
    """Returns the fields of a ScalingConfig that differ from the Trainer's, or the given dict. Raises ValueError if a field other than num_workers
    contains a domain."""
    if as_domain(given) is not None or not isinstance(given, (dict, ScalingConfig)):
        raise ValueError("param_space['scaling_config'] must be a ScalingConfig or a dict. Search the number of ranks with "
                         "ScalingConfig(num_workers=tune.grid_search([1, 2]))")
    if isinstance(given, ScalingConfig):
        given = {each.name: getattr(given, each.name) for each in dataclasses.fields(given) if getattr(given, each.name) != getattr(own, each.name)}
    for path, domain in domains_in(given, ("scaling_config",)):
        if path != _WORKERS:
            raise ValueError(f"param_space: '{name_of(path)}' has a domain; of a ScalingConfig, only num_workers can be searched")
        for count in _counts(domain):
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise ValueError(f"ScalingConfig(num_workers={domain!r}): each value must be an integer, 1 or more")
    return given


def _counts(domain: Domain) -> list[Any]:
    """Returns the values of a number of ranks, or its minimum and maximum."""
    if isinstance(domain, Integer):
        return [domain.lower, domain.upper - 1]
    return domain.values if isinstance(domain, Categorical) else [None]


def _fixed_scaling(values: dict[str, Any]) -> dict[str, Any]:
    domain = as_domain(values.get("num_workers"))
    return values if domain is None else {**values, "num_workers": max(_counts(domain))}


def _scaling_with(own: ScalingConfig | None, values: dict[str, Any]) -> ScalingConfig | None:
    """Returns the Trainer's ScalingConfig with other values of some fields. Raises TypeError for unknown fields."""
    if not values:
        return own
    base = own or ScalingConfig()
    return dataclasses.replace(base, **merged({name: getattr(base, name) for name in values if hasattr(base, name)}, values))
