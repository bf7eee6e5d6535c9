"""RayLightningEnvironment: Lightning's processes are the ranks."""

import importlib

from .._sessions._context import get_context
from ._library import pl

LightningEnvironment = importlib.import_module(f"{pl.__name__}.plugins.environments").LightningEnvironment


class RayLightningEnvironment(LightningEnvironment):
    """Nobody but the runtime starts processes, or says who is who."""

    @property
    def creates_processes_externally(self):
        return True

    def world_size(self):
        return get_context().get_world_size()

    def global_rank(self):
        return get_context().get_world_rank()

    def local_rank(self):
        return get_context().get_local_rank()

    def node_rank(self):
        return get_context().get_node_rank()

    def set_world_size(self, size):
        pass

    def set_global_rank(self, rank):
        pass

    def validate_settings(self, num_devices, num_nodes):
        pass

    def teardown(self):
        pass
