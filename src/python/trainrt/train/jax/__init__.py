"""JAX on the ranks of a run, which are the processes of jax.distributed. With Ray Train's names.

    def train_func():
        at = load_state(params=params, moments=moments, epoch=0)           # the last checkpoint, if there is one
        params, moments = at["params"], at["moments"]
        for epoch in range(at["epoch"], 10):
            params, moments, loss = trained(params, moments, epoch)        # on jax.devices() of all ranks
            save_state(params=params, moments=moments, epoch=epoch + 1, metrics={"loss": loss})

    JaxTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()

`load_state()`, `save_state()` and `save_point()` are trainrt's own. They save trees of arrays by name, without pickle. Sharded arrays are saved as shards,
and are restored with the sharding of the restarted run, on any number of ranks. `report()` with files in a directory works as well.
"""

from ._state import load_state, save_point, save_state
from ._trainer import JaxConfig, JaxTrainer

__all__ = ["JaxConfig", "JaxTrainer", "load_state", "save_point", "save_state"]
