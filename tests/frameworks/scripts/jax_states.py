"""load_state() of trainrt.train.jax with sharded arrays: `jax_states.py OUT` writes the final weights to OUT/RANK.json. Prints the digest at
the start and after each step."""
import hashlib
import json
import os
import sys
import time

import numpy

from trainrt import train
from trainrt.train import RunConfig
from trainrt.train.jax import JaxTrainer, load_state, save_point, save_state

OUT, EPOCHS, BATCHES = sys.argv[1], 4, 6


def loop():
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    mesh = Mesh(numpy.array(jax.devices()), ("data",))
    split, same = NamedSharding(mesh, PartitionSpec("data")), NamedSharding(mesh, PartitionSpec())

    def over_devices(array, sharding):
        return jax.make_array_from_callback(array.shape, sharding, lambda index: array[index])

    @jax.jit
    def step(params, moments, inputs, targets):
        loss, slopes = jax.value_and_grad(lambda of: jnp.mean((jnp.tanh(inputs @ of["first"]) @ of["second"][0] - targets) ** 2))(params)
        moments = jax.tree.map(lambda moment, slope: (0.9 * moment + slope).astype(jnp.bfloat16), moments, slopes)
        return jax.tree.map(lambda weight, moment: weight - 0.05 * moment, params, moments), moments, loss

    def digest(tree):
        whole = jax.jit(lambda arrays: arrays, out_shardings=same)(tree)
        return hashlib.sha256(b"".join(numpy.asarray(each.addressable_data(0)).tobytes() for each in jax.tree.leaves(whole))).hexdigest()

    draw = numpy.random.default_rng(1)
    params = {"first": over_devices(draw.normal(size=(12, 16)).astype("float32"), split),
              "second": [over_devices(draw.normal(size=(16, 2)).astype("float32"), same)]}
    at = load_state(params=params, moments=jax.tree.map(lambda each: (each * 0).astype(jnp.bfloat16), params), key=jax.random.key(3),
                    host={"array": numpy.zeros(3, "uint32"), "seen": 0}, epoch=0, batch=0)
    params, moments, key, host, first, loss = at["params"], at["moments"], at["key"], at["host"], at["batch"], 0.0
    rank = train.get_context().get_world_rank()
    assert params["first"].sharding == split and params["first"].shape == (12, 16), params["first"].sharding
    print(f"begins at {at['epoch']} {at['batch']} {bool(at)} {digest([params, moments])}", flush=True)
    for epoch in range(at["epoch"], EPOCHS):
        for batch in range(first, BATCHES):
            draw = numpy.random.default_rng([epoch, batch])
            inputs, targets = draw.normal(size=(24, 12)).astype("float32"), draw.normal(size=(24, 2)).astype("float32")
            params, moments, loss = step(params, moments, over_devices(inputs, split), over_devices(targets, split))
            key, _ = jax.random.split(key)
            host = {"array": host["array"] + numpy.uint32(1), "seen": host["seen"] + len(inputs)}
            time.sleep(float(os.environ.get("PAUSE", 0)))
            print(f"batch {epoch * BATCHES + batch + 1} {digest([params, moments])}", flush=True)
            save_point(params=params, moments=moments, key=key, host=host, epoch=epoch, batch=batch + 1)
        first = 0
        save_state(params=params, moments=moments, key=key, host=host, epoch=epoch + 1, batch=0, metrics={"loss": loss})
    assert host["seen"] == EPOCHS * BATCHES * 24 and (host["array"] == EPOCHS * BATCHES).all(), host
    with open(f"{OUT}/{rank}.json", "w") as file:
        json.dump({"weights": [digest(params), digest(moments), jax.random.key_data(key).tolist()], "epochs": [], "wait": 0}, file)


if __name__ == "__main__":
    JaxTrainer(loop, run_config=RunConfig(name="run", storage_path=f"{OUT}/runs")).fit()
