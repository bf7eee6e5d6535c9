"""Identity, the base class of Context with properties of the rank and its run, named as in Ray Train."""

from __future__ import annotations

from .conversation import Conversation


class Identity(Conversation):
    """Base class of Context with properties of the rank and its run."""

    _step = _step_seed = 0

    @property
    def world_rank(self) -> int:
        """Number of this rank, from 0."""
        return self._identity["world_rank"]

    @property
    def world_size(self) -> int:
        """Number of ranks."""
        return self._identity["world_size"]

    @property
    def local_rank(self) -> int:
        """Number of this rank on its node, from 0."""
        return self._identity["local_rank"]

    @property
    def local_world_size(self) -> int:
        """Number of ranks on this node."""
        return self._identity["local_world_size"]

    @property
    def node_rank(self) -> int:
        """Number of this node, from 0."""
        return self._identity["node_rank"]

    @property
    def gpus(self) -> list[int]:
        """CUDA device numbers of this rank; empty on the CPU."""
        return list(self._identity["gpus"])

    @property
    def run_name(self) -> str:
        """run.name of the config."""
        return self._identity["run_name"]

    @property
    def run_dir(self) -> str:
        """Path of the run directory; equal on all ranks."""
        return self._identity["run_dir"]

    @property
    def seed(self) -> int:
        """run.seed of the config."""
        return self._identity["seed"]

    @property
    def aggregates(self) -> bool:
        """metrics.aggregate of the config."""
        return self._identity.get("aggregate", False)

    @property
    def step_count(self) -> int:
        """Number of completed steps of the run, over all attempts."""
        return self._step

    @property
    def step_seed(self) -> int:
        """64-bit seed that depends only on run.seed, step and rank. A restart does not change the seed of a step."""
        return self._step_seed
