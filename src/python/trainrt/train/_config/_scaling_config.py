"""ScalingConfig: how many workers, and what each of them gets."""

from dataclasses import dataclass
from typing import Dict, Optional, Tuple, Union


def _is_count(number):
    return isinstance(number, int) and not isinstance(number, bool)


@dataclass
class ScalingConfig:
    """Ray Train's fields. A worker is a rank. num_workers = (least, most) is elastic; 0 runs the function in this process, and keeps
    nothing."""

    trainer_resources: Optional[Dict] = None
    num_workers: Union[int, Tuple[int, int]] = 1
    use_gpu: bool = False
    resources_per_worker: Optional[Dict] = None
    placement_strategy: str = "PACK"
    accelerator_type: Optional[str] = None
    use_tpu: bool = False
    topology: Optional[str] = None
    elastic_resize_monitor_interval_s: Optional[float] = None
    label_selector: Optional[Dict] = None
    bundle_label_selector: Optional[Dict] = None

    def __post_init__(self):
        self._check_num_workers()
        self._check_gpus()
        if self.use_tpu or self.topology:
            raise ValueError("ScalingConfig: use_tpu and topology ask for TPUs, which trainrt does not have; leave them out")

    def _check_num_workers(self):
        count = self.num_workers
        if isinstance(count, (tuple, list)):
            if len(count) != 2 or not all(map(_is_count, count)) or not 1 <= count[0] <= count[1]:
                raise ValueError(f"ScalingConfig(num_workers={count!r}): an elastic run takes (least, most), whole numbers with "
                                 f"1 <= least <= most")
            self.num_workers = tuple(count)
        elif not _is_count(count) or count < 0:
            raise ValueError(f"ScalingConfig(num_workers={count!r}): it must be a whole number, 1 or more (0: in this process), or "
                             f"(least, most)")

    def _check_gpus(self):
        if self.resources_per_worker is not None:
            if not isinstance(self.resources_per_worker, dict):
                raise ValueError(f"ScalingConfig(resources_per_worker={self.resources_per_worker!r}): it must be a dict such as {{'CPU': 4}}")
            for name, amount in self.resources_per_worker.items():
                if isinstance(amount, bool) or not isinstance(amount, (int, float)) or amount < 0:
                    raise ValueError(f"ScalingConfig: resources_per_worker[{name!r}] is {amount!r}; it must be a number, 0 or more")
        gpus = (self.resources_per_worker or {}).get("GPU")
        if self.use_gpu and gpus == 0:
            raise ValueError("ScalingConfig: use_gpu is True, and resources_per_worker has 'GPU': 0; leave one of them out")
        if not self.use_gpu and gpus:
            raise ValueError(f"ScalingConfig: resources_per_worker has 'GPU': {gpus}, and use_gpu is False; set use_gpu=True")

    @property
    def num_gpus_per_worker(self):
        return (self.resources_per_worker or {}).get("GPU", 1) if self.use_gpu else 0

    @property
    def num_cpus_per_worker(self):
        """CPUs of a worker, or None if the launch decides."""
        return (self.resources_per_worker or {}).get("CPU")

    @property
    def additional_resources_per_worker(self):
        return {name: amount for name, amount in (self.resources_per_worker or {}).items() if name not in ("CPU", "GPU") and amount}

    @property
    def least_workers(self):
        return self.num_workers[0] if isinstance(self.num_workers, tuple) else self.num_workers

    @property
    def most_workers(self):
        return self.num_workers[1] if isinstance(self.num_workers, tuple) else self.num_workers

    @property
    def total_resources(self):
        """What Ray Train's property says, of most_workers."""
        per_worker = {"CPU": self.num_cpus_per_worker or 1, "GPU": self.num_gpus_per_worker, **self.additional_resources_per_worker}
        return {name: amount * self.most_workers for name, amount in per_worker.items() if amount}
