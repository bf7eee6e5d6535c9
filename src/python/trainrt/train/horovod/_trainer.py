"""HorovodTrainer: runs the train function on every rank, where `hvd.init()` connects the ranks."""

import os
import sys
from dataclasses import dataclass
from typing import Any, Callable, Optional

from ..._client.values import kind_of
from ..._support import _notes
from ..backend import Backend, BackendConfig
from ..data_parallel_trainer import DataParallelTrainer

_NEEDED = ("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_GLOO_RENDEZVOUS_ADDR", "HOROVOD_GLOO_RENDEZVOUS_PORT")
_WITHOUT_EFFECT = {"key": "trainrt launches the ranks, which need no key", "ssh_port": "SSH is not used",
                   "ssh_identity_file": "SSH is not used", "ssh_str": "SSH is not used, and no key is written to a file"}
_MODULES = ("horovod.torch", "horovod.tensorflow", "horovod.tensorflow.keras", "horovod.keras")


@dataclass
class HorovodConfig(BackendConfig):
    """Options of Horovod.

    Parameters
    ----------
    nics : set of str, optional
        Names of network interfaces. Gloo uses the first, in alphabetical order, that the node has.
    verbose : int, default 1
        2 and more enable Horovod's log (HOROVOD_LOG_LEVEL).
    timeout_s : int, default 300
        Timeout of Gloo's rendezvous, in seconds.
    key, ssh_port, ssh_identity_file, ssh_str
        Have no effect except a note.
    placement_group_timeout_s : int, default 100
        Has no effect.

    Raises
    ------
    TypeError, ValueError
        If a value is invalid.

    Examples
    --------
    >>> from trainrt.train.horovod import HorovodConfig
    >>> HorovodConfig(nics={"eth0"}).timeout_s
    300
    """

    nics: Optional[set[str]] = None
    verbose: int = 1
    key: Optional[str] = None
    ssh_port: Optional[int] = None
    ssh_identity_file: Optional[str] = None
    ssh_str: Optional[str] = None
    timeout_s: int = 300
    placement_group_timeout_s: int = 100

    def __post_init__(self):
        if isinstance(self.nics, str):
            raise TypeError(f"HorovodConfig(nics={self.nics!r}): it must be a set of names, such as {{{self.nics!r}}}")
        for name in ("timeout_s", "placement_group_timeout_s"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
                raise ValueError(f"HorovodConfig({name}={value!r}): it must be a number of seconds above 0")
        if isinstance(self.verbose, bool) or not isinstance(self.verbose, int) or self.verbose < 0:
            raise ValueError(f"HorovodConfig(verbose={self.verbose!r}): it must be an integer, 0 or more")

    @property
    def backend_cls(self):
        return _HorovodBackend

    def notes(self) -> list[str]:
        """Returns a note for each given argument that has no effect."""
        given = {name: reason for name, reason in _WITHOUT_EFFECT.items() if getattr(self, name) is not None}
        return [f"HorovodConfig({name}=...) changes nothing: {reason}" for name, reason in given.items()]


class _HorovodBackend(Backend):
    share_cuda_visible_devices = True

    def on_start(self, worker_group, backend_config):
        missing = [name for name in _NEEDED if name not in os.environ]
        if missing and len(worker_group) > 1:  # without them, Horovod would train a separate model on each rank
            raise RuntimeError(f"environment variables not set: {', '.join(missing)}. The key program.env of the launch excludes Horovod; set the key "
                               f"to all, or add horovod")
        for line in backend_config.notes():
            _notes.say(line)
        os.environ.setdefault("HOROVOD_GLOO_TIMEOUT_SECONDS", str(max(1, int(backend_config.timeout_s))))
        if backend_config.verbose > 1:
            os.environ.setdefault("HOROVOD_LOG_LEVEL", "debug" if backend_config.verbose > 2 else "info")
        if backend_config.nics:
            os.environ["HOROVOD_GLOO_IFACE"] = _interface_of_this_node(backend_config.nics)

    def on_shutdown(self, worker_group, backend_config):
        """Shuts Horovod down on all ranks together: the exit of a single rank is a failure for the others."""
        for name in _MODULES:
            module = sys.modules.get(name)
            if module is not None and module.is_initialized():
                module.shutdown()


class HorovodTrainer(DataParallelTrainer):
    """Runs a train function that calls `hvd.init()` on every rank.

    Parameters
    ----------
    train_loop_per_worker : callable
        Train function.
    horovod_config : HorovodConfig, optional
    **arguments
        Other arguments of DataParallelTrainer.

    Raises
    ------
    TypeError
        If `horovod_config` has the wrong type.

    Examples
    --------
    >>> from trainrt.train import ScalingConfig
    >>> from trainrt.train.horovod import HorovodTrainer
    >>> trainer = HorovodTrainer(lambda: None, scaling_config=ScalingConfig(num_workers=2))
    """

    def __init__(self, train_loop_per_worker: Callable[..., Any], *, horovod_config: Optional[HorovodConfig] = None, **arguments: Any):
        if horovod_config is not None and not isinstance(horovod_config, HorovodConfig):
            raise TypeError(f"horovod_config={horovod_config!r}: it must be a HorovodConfig, not {kind_of(horovod_config)}")
        super().__init__(train_loop_per_worker, backend_config=horovod_config or HorovodConfig(), **arguments)


def _interface_of_this_node(names):
    available = os.listdir("/sys/class/net")
    found = [name for name in sorted(names) if name in available]
    if not found:
        raise ValueError(f"HorovodConfig(nics={set(names)!r}): this node has no such interface; it has {', '.join(sorted(available))}")
    return found[0]
