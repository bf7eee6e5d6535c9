"""UtilMonitor: the use of the CPUs, the memory and the GPUs of this node."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections import defaultdict
from typing import Any

_QUERY = ["nvidia-smi", "--query-gpu=index,uuid,utilization.gpu,memory.used,memory.total", "--format=csv,noheader,nounits"]


class Gpu:
    """A GPU as nvidia-smi reports it. `load` and `memory_used` are fractions from 0 to 1."""

    def __init__(self, line: str) -> None:
        index, self.uuid, load, used, total = (each.strip() for each in line.split(","))
        self.index, self.load, self.memory_used = int(index), float(load) / 100, float(used) / float(total)


def gpus() -> list[Gpu]:
    """Returns the GPUs of this node. Raises RuntimeError if nvidia-smi is missing or fails."""
    if shutil.which("nvidia-smi") is None:
        raise RuntimeError("nvidia-smi is not installed on this node; it is a part of the NVIDIA driver")
    done = subprocess.run(_QUERY, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"nvidia-smi failed: {done.stderr.strip() or done.stdout.strip()}")
    return [Gpu(line) for line in done.stdout.splitlines() if line.strip()]


class UtilMonitor(threading.Thread):
    """Measures the use of the CPUs, the memory and the GPUs in a thread, every `delay` seconds. A Trainable with `"log_sys_usage": True` in its config adds
    the mean since the last result to each result, as "perf".

    CPUs and memory are measured by the package psutil, GPUs by nvidia-smi. If one of these is missing, its values are left out.

    Examples
    --------
    >>> from trainrt.tune.utils import UtilMonitor
    >>> monitor = UtilMonitor(start=False)
    >>> monitor.get_data()
    {}
    """

    def __init__(self, start: bool = True, delay: float = 0.7) -> None:
        super().__init__(daemon=True)
        self.delay, self.stopped = delay, True
        self._values: dict[str, list[float]] = defaultdict(list)
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._has_gpus = shutil.which("nvidia-smi") is not None
        if start:
            self.stopped = False
            self.start()

    def run(self) -> None:
        self.stopped = False
        while not self._end.is_set():
            self._measure()
            self._end.wait(self.delay)

    def _measure(self) -> None:
        found: dict[str, float] = {}
        try:
            import psutil

            found = {"cpu_util_percent": psutil.cpu_percent(interval=None), "ram_util_percent": psutil.virtual_memory().percent}
        except ImportError:
            pass
        try:
            for gpu in gpus() if self._has_gpus else ():
                found.update({f"gpu_util_percent{gpu.index}": gpu.load, f"vram_util_percent{gpu.index}": gpu.memory_used})
        except (RuntimeError, ValueError, subprocess.TimeoutExpired):
            self._has_gpus = False
        with self._lock:
            for name, value in found.items():
                self._values[name].append(float(value))

    def get_data(self) -> dict[str, Any]:
        """Returns {"perf": {name: mean since the last call}}, or {} if the monitor does not run."""
        if self.stopped:
            return {}
        with self._lock:
            values, self._values = self._values, defaultdict(list)
        return {"perf": {name: sum(each) / len(each) for name, each in values.items()}}

    def stop(self) -> None:
        """Stops measuring."""
        self.stopped = True
        self._end.set()
