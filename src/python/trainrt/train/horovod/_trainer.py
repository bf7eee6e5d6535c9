"""HorovodTrainer: the train function on every rank, where hvd.init() finds the others."""

import os
import sys
from dataclasses import dataclass
from typing import Optional, Set

from ..._support import _notes
from ..backend import Backend, BackendConfig
from ..data_parallel_trainer import DataParallelTrainer

_NEEDED = ("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_GLOO_RENDEZVOUS_ADDR", "HOROVOD_GLOO_RENDEZVOUS_PORT")
_UNUSED = {"key": "the ranks are started by trainrt, and sign nothing for each other", "ssh_port": "nothing is started by SSH",
           "ssh_identity_file": "nothing is started by SSH", "ssh_str": "nothing is started by SSH, and no key is written to a file"}


@dataclass
class HorovodConfig(BackendConfig):
    """Ray Train's. nics: names of network interfaces; the first that this node has is the one of Gloo. timeout_s: of Gloo's rendezvous. verbose above 1:
    Horovod's own log (HOROVOD_LOG_LEVEL). The others change nothing, and a line says so."""

    nics: Optional[Set[str]] = None
    verbose: int = 1
    key: Optional[str] = None
    ssh_port: Optional[int] = None
    ssh_identity_file: Optional[str] = None
    ssh_str: Optional[str] = None
    timeout_s: int = 300
    placement_group_timeout_s: int = 100

    def __post_init__(self):
        if isinstance(self.nics, str):
            raise TypeError(f"HorovodConfig(nics={self.nics!r}): it must be a set of names, as {{{self.nics!r}}}")
        for name in ("timeout_s", "placement_group_timeout_s"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
                raise ValueError(f"HorovodConfig({name}={value!r}): it must be a number of seconds above 0")
        if isinstance(self.verbose, bool) or not isinstance(self.verbose, int) or self.verbose < 0:
            raise ValueError(f"HorovodConfig(verbose={self.verbose!r}): it must be a whole number, 0 or more")

    @property
    def backend_cls(self):
        return _HorovodBackend

    def notes(self):
        """A line for each argument that changes nothing."""
        given = {name: why for name, why in _UNUSED.items() if getattr(self, name) is not None}
        return [f"HorovodConfig({name}=...) changes nothing: {why}" for name, why in given.items()]


class _HorovodBackend(Backend):
    share_cuda_visible_devices = True

    def on_start(self, worker_group, backend_config):
        lacking = [name for name in _NEEDED if name not in os.environ]
        if lacking and len(worker_group) > 1:  # Horovod would train one model on each rank
            raise RuntimeError(f"{', '.join(lacking)} is not set: the launch left Horovod out of program.env, which must be auto or name horovod")
        for line in backend_config.notes():
            _notes.say(line)
        os.environ.setdefault("HOROVOD_GLOO_TIMEOUT_SECONDS", str(max(1, int(backend_config.timeout_s))))
        if backend_config.verbose > 1:
            os.environ.setdefault("HOROVOD_LOG_LEVEL", "debug" if backend_config.verbose > 2 else "info")
        if backend_config.nics:
            os.environ["HOROVOD_GLOO_IFACE"] = _of_this_node(backend_config.nics)

    def on_shutdown(self, worker_group, backend_config):
        """The ranks leave together: one that ends by itself is a failure to the others."""
        for module in ("horovod.torch", "horovod.tensorflow", "horovod.tensorflow.keras", "horovod.keras"):
            _shut_down(module)


def _of_this_node(names):
    there = os.listdir("/sys/class/net")
    found = [name for name in sorted(names) if name in there]
    if not found:
        raise ValueError(f"HorovodConfig(nics={set(names)!r}): this node has none of them; it has {', '.join(sorted(there))}")
    return found[0]


def _shut_down(name):
    module = sys.modules.get(name)
    if module is not None and module.is_initialized():
        module.shutdown()


class HorovodTrainer(DataParallelTrainer):
    """Ray Train's: `HorovodTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()`."""

    def __init__(self, train_loop_per_worker, *, horovod_config=None, **arguments):
        if horovod_config is not None and not isinstance(horovod_config, HorovodConfig):
            raise TypeError(f"horovod_config must be a HorovodConfig, not a {type(horovod_config).__name__}: {horovod_config!r}")
        super().__init__(train_loop_per_worker, backend_config=horovod_config or HorovodConfig(), **arguments)
