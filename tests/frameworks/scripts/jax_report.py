"""JAX under a JaxTrainer of trainrt.train: `jax_report.py NAME`. $KILL_AT: the epoch in which rank 1 is killed, once; $RUNS; $FITS: the number
of fit() calls, each for another run. Prints the digest of the weights."""
import hashlib
import json
import os
import signal
import sys

import jax
import jax.numpy as jnp
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from trainrt import train
from trainrt.train import Checkpoint, CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
from trainrt.train.jax import JaxTrainer

NAME, EPOCHS = sys.argv[1], 5


def loss_of(weights, inputs, targets):
    return jnp.mean((jnp.tanh(inputs @ weights["first"]) @ weights["second"] - targets) ** 2)


@jax.jit
def train_step(weights, inputs, targets):
    loss, slopes = jax.value_and_grad(loss_of)(weights, inputs, targets)
    return jax.tree.map(lambda weight, slope: weight - 0.1 * slope, weights, slopes), loss


def die_once(epoch, step):
    marker = os.path.join(os.environ["RUNS"], f"killed-{NAME}")
    if epoch == int(os.environ.get("KILL_AT", -1)) and step == 2 and jax.process_index() == 1 and not os.path.exists(marker):
        open(marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)


def loop():
    mesh = Mesh(numpy.array(jax.devices()), ("data",))
    split, same = NamedSharding(mesh, PartitionSpec("data")), NamedSharding(mesh, PartitionSpec())
    start, found = numpy.random.default_rng(1), train.get_checkpoint()
    values = {"first": start.normal(size=(8, 16)).astype("float32"), "second": start.normal(size=(16, 2)).astype("float32"), "epoch": 0}
    if found is not None:
        values = dict(numpy.load(os.path.join(found.path, "weights.npz")))
    epoch = int(values.pop("epoch"))
    weights = {name: jax.make_array_from_process_local_data(same, each) for name, each in values.items()}
    while epoch < EPOCHS:
        random = numpy.random.default_rng([epoch, jax.process_index()])
        for step in range(6):
            batch = (random.normal(size=(16, 8)).astype("float32"), random.normal(size=(16, 2)).astype("float32"))
            weights, loss = train_step(weights, *(jax.make_array_from_process_local_data(split, each) for each in batch))
            die_once(epoch, step)
        epoch += 1
        folder = os.path.join(os.environ["RUNS"], f"{NAME}-{jax.process_index()}")
        os.makedirs(folder, exist_ok=True)
        values = {name: numpy.asarray(each.addressable_data(0)) for name, each in weights.items()}
        numpy.savez(os.path.join(folder, "weights.npz"), epoch=epoch, **values)
        first = jax.process_index() == 0
        train.report({"loss": float(loss), "step": 6 * epoch}, checkpoint=Checkpoint.from_directory(folder) if first else None)
    return {"size": jax.process_count(), "digest": hashlib.sha256(b"".join(numpy.asarray(each.addressable_data(0)).tobytes() for each in weights.values())).hexdigest()}


if __name__ == "__main__":
    for fit in range(int(os.environ.get("FITS", 1))):
        run_config = RunConfig(name=f"{NAME}-fit-{fit}", storage_path=os.environ["RUNS"], checkpoint_config=CheckpointConfig(num_to_keep=2),
                               failure_config=FailureConfig(max_failures=2))
        result = JaxTrainer(loop, scaling_config=ScalingConfig(num_workers=2), run_config=run_config).fit()
        print("RESULT", json.dumps({**result.return_value, "metrics": result.metrics, "files": sorted(os.listdir(result.checkpoint.path))}))
