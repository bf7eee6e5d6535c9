"""ScalingConfig: the number of workers and their resources."""

from dataclasses import dataclass, fields
from typing import Optional, Union

from ..._support._search_domains import has_domain


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
    elastic_resize_monitor_interval_s : float, optional
        Has no effect except a note: the number of ranks changes only when a job starts.

    Raises
    ------
    ValueError
        If a value is invalid.

    Examples
    --------
    >>> from trainrt.train import ScalingConfig
    >>> ScalingConfig(num_workers=4, use_gpu=True, resources_per_worker={"CPU": 8}).total_resources
    {'CPU': 32, 'GPU': 4}
    """

    trainer_resources: Optional[dict[str, float]] = None
    num_workers: Union[int, tuple[int, int]] = 1
    use_gpu: bool = False
    resources_per_worker: Optional[dict[str, float]] = None
    placement_strategy: str = "PACK"
    accelerator_type: Optional[str] = None
    use_tpu: bool = False
    topology: Optional[str] = None
    elastic_resize_monitor_interval_s: Optional[float] = None
    label_selector: Optional[dict[str, str]] = None
    bundle_label_selector: Optional[dict[str, str]] = None

    def __post_init__(self):
        if self.searched_fields():
            return  # the ScalingConfig of each trial is checked
        self._check_num_workers()
        self._check_resources()
        self._check_gpus()
        if self.use_tpu or self.topology:
            raise ValueError(f"ScalingConfig(use_tpu={self.use_tpu!r}, topology={self.topology!r}): TPUs are not supported; leave both out")

    def _check_num_workers(self):
        count = self.num_workers
        if isinstance(count, (tuple, list)):
            if len(count) != 2 or not all(map(_is_integer, count)) or not 1 <= count[0] <= count[1]:
                raise ValueError(f"Invalid ScalingConfig(num_workers={count!r}): an elastic run takes (min, max), integers with 1 <= min <= max")
            self.num_workers = count[0], count[1]
        elif not _is_integer(count):
            raise ValueError(f"ScalingConfig(num_workers) must be an int or a tuple of two ints: (min, max). It is {count!r}")
        elif count < 0:
            raise ValueError(f"Invalid ScalingConfig(num_workers={count!r}): must be 1 or more, or 0 to run in this process")

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
            raise ValueError(f"`use_gpu` is False but `GPU` was found in `resources_per_worker`, with the value {gpus}: set ScalingConfig(use_gpu=True)")

    def searched_fields(self) -> list[str]:
        """Returns the names of the fields that contain a grid or a domain of trainrt.tune."""
        return [each.name for each in fields(self) if has_domain(getattr(self, each.name))]

    @property
    def num_gpus_per_worker(self) -> float:
        """Number of GPUs of each rank."""
        return (self.resources_per_worker or {}).get("GPU", 1) if self.use_gpu else 0

    @property
    def num_cpus_per_worker(self) -> Optional[float]:
        """Number of CPUs of each rank, or `None` if the launch decides."""
        return (self.resources_per_worker or {}).get("CPU")

    @property
    def additional_resources_per_worker(self) -> dict[str, float]:
        """Resources of each rank other than CPUs and GPUs."""
        return {name: amount for name, amount in (self.resources_per_worker or {}).items() if name not in ("CPU", "GPU") and amount}

    @property
    def min_workers(self) -> int:
        """Minimum number of ranks."""
        return self.num_workers[0] if isinstance(self.num_workers, tuple) else self.num_workers

    @property
    def max_workers(self) -> int:
        """Maximum number of ranks."""
        return self.num_workers[1] if isinstance(self.num_workers, tuple) else self.num_workers

    @property
    def total_resources(self) -> dict[str, float]:
        """Resources of all ranks together, for `max_workers` ranks."""
        per_worker = {"CPU": self.num_cpus_per_worker or 1, "GPU": self.num_gpus_per_worker, **self.additional_resources_per_worker}
        return {name: amount * self.max_workers for name, amount in per_worker.items() if amount}


def _is_integer(number):
    return isinstance(number, int) and not isinstance(number, bool)
