"""JAX on several processes: parameters replicated, the batch split over all devices."""
import argparse
import json
import os
import time

import jax
import jax.numpy as jnp
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--pause", type=float, default=0, help="seconds a step")
args = parser.parse_args()

jax.distributed.initialize(num_processes=int(os.environ["WORLD_SIZE"]), process_id=int(os.environ["RANK"]))
rank, size = jax.process_index(), jax.process_count()
mesh = Mesh(numpy.array(jax.devices()), ("data",))
split, same = NamedSharding(mesh, PartitionSpec("data")), NamedSharding(mesh, PartitionSpec())


def loss_of(weights, inputs, targets):
    return jnp.mean((jnp.tanh(inputs @ weights["first"]) @ weights["second"] - targets) ** 2)


@jax.jit
def train_step(weights, inputs, targets):
    loss, slopes = jax.value_and_grad(loss_of)(weights, inputs, targets)
    return jax.tree.map(lambda weight, slope: weight - 0.1 * slope, weights, slopes), loss


start = numpy.random.default_rng(1)
weights = {"first": start.normal(size=(8, 16)).astype("float32"), "second": start.normal(size=(16, 2)).astype("float32")}
weights = jax.tree.map(lambda each: jax.make_array_from_process_local_data(same, each), weights)
random, seen = numpy.random.default_rng(1000 + rank), 0.0
for step in range(1, args.steps + 1):
    inputs, targets = random.normal(size=(16, 8)).astype("float32"), random.normal(size=(16, 2)).astype("float32")
    weights, loss = train_step(weights, jax.make_array_from_process_local_data(split, inputs), jax.make_array_from_process_local_data(split, targets))
    seen += float(inputs.sum())
    time.sleep(args.pause)
    print(f"step {step} loss {float(loss):.4f}", flush=True)
with open(f"{args.out}/{rank}.json", "w") as file:
    local = [numpy.asarray(each.addressable_data(0)).ravel() for each in jax.tree.leaves(weights)]
    json.dump({"size": size, "seen": seen, "weights": numpy.concatenate(local).tolist()}, file)
jax.distributed.shutdown()
