"""RayLightningEnvironment: reports the ranks of the run to Lightning as its processes."""

import importlib
from typing import Any

from .._sessions._context import get_context
from ._library import pl

LightningEnvironment: Any = importlib.import_module(f"{pl.__name__}.plugins.environments").LightningEnvironment


class RayLightningEnvironment(LightningEnvironment):
    """Cluster environment of Lightning with the ranks of the run. Lightning starts no processes.

    Examples
    --------
    >>> from trainrt.train.lightning import RayLightningEnvironment
    >>> RayLightningEnvironment().world_size()
    1
    """

    @property
    def creates_processes_externally(self) -> bool:
        return True

    def world_size(self) -> int:
        return get_context().get_world_size()

    def global_rank(self) -> int:
        return get_context().get_world_rank()

    def local_rank(self) -> int:
        return get_context().get_local_rank()

    def node_rank(self) -> int:
        return get_context().get_node_rank()

    def set_world_size(self, size: int) -> None:
        pass

    def set_global_rank(self, rank: int) -> None:
        pass

    def validate_settings(self, num_devices: int, num_nodes: int) -> None:
        pass

    def teardown(self) -> None:
        pass
