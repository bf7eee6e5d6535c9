"""Ray Train's names for JAX: the ranks are the processes of jax.distributed.

    def train_func():
        at = load_state(params=params, moments=moments, epoch=0)           # the last checkpoint, if there is one
        params, moments = at["params"], at["moments"]
        for epoch in range(at["epoch"], 10):
            params, moments, loss = trained(params, moments, epoch)        # on jax.devices() of all ranks
            save_state(params=params, moments=moments, epoch=epoch + 1, metrics={"loss": loss})

    JaxTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()

load_state(), save_state() and save_point() are trainrt's own: trees of arrays by name, without pickle; arrays that are sharded over the ranks are saved
as shards, and restored with the sharding that they have then, on any number of ranks. report() with files in a directory works as well.
"""

from ._state import load_state, save_point, save_state
from ._trainer import JaxConfig, JaxTrainer

__all__ = ["JaxConfig", "JaxTrainer", "load_state", "save_point", "save_state"]
