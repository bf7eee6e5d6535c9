"""Ray Train's guide for JAX: the function of a JaxTrainer runs within jax.distributed. load_state() restores trees of arrays from checkpoints without pickle.

    python3 jax_quick_start.py                      # starts the workers
    srun trainrt -- python3 jax_quick_start.py      # runs on the workers of srun
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from trainrt.train import CheckpointConfig, RunConfig, ScalingConfig
from trainrt.train.jax import JaxTrainer, load_state, save_point, save_state

EPOCHS, BATCHES = 8, 16


def loss_of(weights, inputs, targets):
    return jnp.mean((jax.nn.relu(inputs @ weights["first"]) @ weights["second"] - targets) ** 2)


@jax.jit
def train_step(weights, inputs, targets):
    loss, slopes = jax.value_and_grad(loss_of)(weights, inputs, targets)
    return jax.tree.map(lambda weight, slope: weight - 0.05 * slope, weights, slopes), loss


def train_func():
    mesh = Mesh(np.array(jax.devices()), ("data",))
    split, same = NamedSharding(mesh, PartitionSpec("data")), NamedSharding(mesh, PartitionSpec())
    draw = np.random.default_rng(1)
    weights = {"first": draw.normal(size=(8, 32)).astype("float32") / 3, "second": draw.normal(size=(32, 1)).astype("float32") / 6}
    at = load_state(weights={name: jax.make_array_from_process_local_data(same, each) for name, each in weights.items()}, epoch=0, batch=0,
                    loss=0.0)
    weights, first, loss = at["weights"], at["batch"], at["loss"]
    for epoch in range(at["epoch"], EPOCHS):
        for batch in range(first, BATCHES):
            inputs = np.random.default_rng([epoch, batch, jax.process_index()]).normal(size=(16, 8)).astype("float32")
            arrays = (jax.make_array_from_process_local_data(split, each) for each in (inputs, inputs[:, :1] * inputs[:, 1:2]))
            weights, error = train_step(weights, *arrays)
            loss = float(error)
            save_point(weights=weights, epoch=epoch, batch=batch + 1, loss=loss)  # the run may stop here, and resumes here
        first = 0
        save_state(weights=weights, epoch=epoch + 1, batch=0, loss=loss, metrics={"loss": loss})


if __name__ == "__main__":
    result = JaxTrainer(train_func, scaling_config=ScalingConfig(num_workers=2),
                        run_config=RunConfig(name="jax_quick_start", checkpoint_config=CheckpointConfig(num_to_keep=2))).fit()
    print("last report:", result.metrics)
