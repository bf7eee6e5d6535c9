"""ScalingConfig: the number of workers and their resources."""

from dataclasses import dataclass, field, fields
from typing import Optional, Union

from ..._support._search_domains import has_domain
from ._resources import PlacementGroupFactory


@dataclass
class ScalingConfig:
    """Number of workers (ranks) and the resources of each.

    In `Tuner(param_space={"scaling_config": ...})`, `num_workers` may be a grid or a domain, such as `tune.grid_search([1, 2])`.

    Parameters
    ----------
    trainer_resources : dict, optional
        Has no effect except a note: no separate process coordinates the ranks.
    num_workers : int or (int, int), default 1
        Number of ranks. `(min, max)` is an elastic run, which continues with any number of ranks in this range. 0 runs the train function in this process,
        and stores nothing.
    use_gpu : bool, default False
        Whether each rank needs GPUs.
    resources_per_worker : dict, optional
        Amounts by name: "CPU" and "GPU" of each rank. Others have no effect except a note. Default: 1 GPU with `use_gpu`, and the CPUs that the launch
        gives to each rank.
    placement_strategy, accelerator_type, label_selector, bundle_label_selector
        Have no effect except a note: Slurm's options choose the nodes.
    use_tpu, topology
        Not supported.
    elastic_resize_monitor_interval_s : float, default 60
        Has no effect except a note: the number of ranks changes only when a job starts.

    Raises
    ------
    ValueError
        If a value is invalid.

    Examples
    --------
    >>> from trainrt.train import ScalingConfig
    >>> ScalingConfig(num_workers=4, use_gpu=True, resources_per_worker={"CPU": 8}).total_resources
    {'CPU': 32.0, 'GPU': 4.0}
    """

    trainer_resources: Optional[dict[str, float]] = None
    num_workers: Union[int, tuple[int, int]] = 1
    use_gpu: bool = False
    resources_per_worker: Optional[dict[str, float]] = None
    placement_strategy: str = "PACK"
    accelerator_type: Optional[str] = None
    label_selector: Union[dict[str, str], list[dict[str, str]], None] = None
    use_tpu: bool = False
    topology: Optional[str] = None
    elastic_resize_monitor_interval_s: float = 60.0
    bundle_label_selector: Optional[dict[str, str]] = field(default=None, repr=False)

    def __post_init__(self):
        if self.searched_fields():
            return  # the ScalingConfig of each trial is checked
        self._check_num_workers()
        self._check_resources()
        self._check_gpus()
        if self.elastic_resize_monitor_interval_s < 0:
            raise ValueError(f"ScalingConfig(elastic_resize_monitor_interval_s) must be non-negative. It is {self.elastic_resize_monitor_interval_s!r}")
        if isinstance(self.label_selector, list) and len(self.label_selector) != self.max_workers:
            raise ValueError(f"If `label_selector` is a list, it must be the same length as `max_workers` (or `num_workers` when fixed): it has "
                             f"{len(self.label_selector)} elements for {self.max_workers} workers")
        if self.use_gpu and self.use_tpu:
            raise ValueError("Cannot specify both `use_gpu=True` and `use_tpu=True`. TPUs are not supported; leave use_tpu out")
        if self.use_tpu or self.topology:
            raise ValueError(f"ScalingConfig(use_tpu={self.use_tpu!r}, topology={self.topology!r}): TPUs are not supported; leave both out")

    def _check_num_workers(self):
        count = self.num_workers
        if isinstance(count, (tuple, list)):
            if len(count) != 2 or not all(map(_is_integer, count)):
                raise ValueError(f"ScalingConfig(num_workers) must be an int or a tuple of two ints. It is {count!r}; an elastic run takes (min, max)")
            if count[0] < 0:
                raise ValueError(f"Invalid ScalingConfig(num_workers={count!r}): Number of workers cannot be negative. It takes (min, max) with "
                                 f"1 <= min <= max")
            if count[0] > count[1]:
                raise ValueError(f"Invalid ScalingConfig(num_workers={count!r}): min_workers={count[0]} must be <= max_workers={count[1]}")
            if count[0] < 1:
                raise ValueError(f"Invalid ScalingConfig(num_workers={count!r}): an elastic run takes (min, max), integers with 1 <= min <= max")
            self.num_workers = count[0], count[1]
        elif not _is_integer(count):
            raise ValueError(f"ScalingConfig(num_workers) must be an int or a tuple of two ints. It is {count!r}; an elastic run takes (min, max)")
        elif count < 0:
            raise ValueError(f"Invalid ScalingConfig(num_workers={count}): Number of workers cannot be negative. It must be 1 or more, or 0 to run in this "
                             f"process")

    def _check_resources(self):
        if self.resources_per_worker is None:
            return
        if not isinstance(self.resources_per_worker, dict):
            raise ValueError(f"ScalingConfig(resources_per_worker={self.resources_per_worker!r}): it must be a dict, such as {{'CPU': 4}}")
        for name, amount in self.resources_per_worker.items():
            if isinstance(amount, bool) or not isinstance(amount, (int, float)) or amount < 0:
                raise ValueError(f"ScalingConfig: resources_per_worker[{name!r}] is {amount!r}; it must be a number, 0 or more")

    def _check_gpus(self):
        gpus = (self.resources_per_worker or {}).get("GPU")
        if self.use_gpu and gpus == 0:
            raise ValueError("`use_gpu` is True but `GPU` is set to 0 in `resources_per_worker`: leave one of them out of the ScalingConfig")
        if not self.use_gpu and gpus:
            raise ValueError(f"`use_gpu` is False but `GPU` was found in `resources_per_worker`. Either set `use_gpu` to True or remove `GPU` from "
                             f"`resources_per_worker`. It is {gpus}")

    def searched_fields(self) -> list[str]:
        """Returns the names of the fields that contain a grid or a domain of trainrt.tune."""
        return [each.name for each in fields(self) if has_domain(getattr(self, each.name))]

    @property
    def requested_cpus(self) -> Optional[float]:
        """Number of CPUs of each rank in `resources_per_worker`, or `None` if the launch decides."""
        return (self.resources_per_worker or {}).get("CPU")

    def resources_of_worker(self) -> dict[str, float]:
        """Returns the resources of each rank as Ray counts them. `resources_per_worker` defaults to 1 GPU if `use_gpu` is set, and to 1 CPU if not."""
        default = {"GPU": 1} if self.use_gpu else {"CPU": 1}
        found = default if self.resources_per_worker is None else {name: amount for name, amount in self.resources_per_worker.items() if amount}
        found = {**found, **({"GPU": 1} if self.use_gpu and "GPU" not in found else {})}
        return {**found, f"accelerator_type:{self.accelerator_type}": 0.001} if self.accelerator_type else found

    @property
    def num_gpus_per_worker(self) -> float:
        """Number of GPUs of each rank."""
        return self.resources_of_worker().get("GPU", 0)

    @property
    def num_cpus_per_worker(self) -> float:
        """Number of CPUs of each rank as Ray counts them. If `resources_per_worker` has no CPUs, the launch decides how many each rank gets."""
        return self.resources_of_worker().get("CPU", 0)

    @property
    def additional_resources_per_worker(self) -> dict[str, float]:
        """Resources of each rank other than CPUs and GPUs."""
        return {name: amount for name, amount in self.resources_of_worker().items() if name not in ("CPU", "GPU")}

    @property
    def elasticity_enabled(self) -> bool:
        """Whether the number of ranks may change, within `(min, max)`."""
        return isinstance(self.num_workers, tuple)

    @property
    def min_workers(self) -> int:
        """Minimum number of ranks."""
        return self.num_workers[0] if isinstance(self.num_workers, tuple) else self.num_workers

    @property
    def max_workers(self) -> int:
        """Maximum number of ranks."""
        return self.num_workers[1] if isinstance(self.num_workers, tuple) else self.num_workers

    def _resources_of_trainer(self) -> dict[str, float]:
        """Returns the resources of the process that coordinates the ranks, which does not exist."""
        return {}

    def as_placement_group_factory(self) -> PlacementGroupFactory:
        """Returns the resources of `max_workers` ranks as bundles, the first of which is empty."""
        worker, trainer = self.resources_of_worker(), self._resources_of_trainer()
        first = {name: worker.get(name, 0) + trainer.get(name, 0) for name in {**trainer, **worker}}
        return PlacementGroupFactory([{}, first, *[worker] * (self.max_workers - 1)], strategy=self.placement_strategy)

    @classmethod
    def from_placement_group_factory(cls, pgf: PlacementGroupFactory) -> "ScalingConfig":
        """Returns the ScalingConfig for the bundles of `pgf`, the inverse of as_placement_group_factory(). The first bundle may contain more resources than
        the others, for the coordinating process."""
        first, worker = pgf.bundles[0], pgf.bundles[-1]
        more = {name: amount - worker.get(name, 0) for name, amount in first.items() if amount > worker.get(name, 0)}
        return cls(trainer_resources=more or None, num_workers=len(pgf.bundles), use_gpu=bool(worker.get("GPU")), resources_per_worker=worker,
                   placement_strategy=pgf.strategy)

    @property
    def total_resources(self) -> dict[str, float]:
        """Resources of all ranks together, for `max_workers` ranks."""
        total = {name: float(amount) for name, amount in self._resources_of_trainer().items()}
        for name, amount in self.resources_of_worker().items():
            total[name] = total.get(name, 0.0) + amount * self.max_workers
        return total


def _is_integer(number):
    return isinstance(number, int) and not isinstance(number, bool)
