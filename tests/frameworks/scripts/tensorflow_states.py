"""load_state() of trainrt.train.tensorflow under MultiWorkerMirroredStrategy in a custom loop: `tensorflow_states.py OUT` writes the digest of
the final weights to OUT/RANK.json."""
import hashlib
import json
import os
import sys
import time

import numpy

from trainrt import train
from trainrt.train import RunConfig
from trainrt.train.tensorflow import TensorflowTrainer, load_state, save_point, save_state
import tensorflow as tf

OUT, EPOCHS, BATCHES = sys.argv[1], 4, 6


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        draw = numpy.random.default_rng(1)
        self.first = tf.Variable(draw.normal(size=(8, 16)).astype("float32"), name="first")
        self.layers = [tf.Variable(draw.normal(size=(16, 2)).astype("float32")), tf.Variable(tf.zeros(2))]

    def __call__(self, inputs):
        return tf.tanh(inputs @ self.first) @ self.layers[0] + self.layers[1]


def loop():
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        net, steps = Net(), tf.Variable(0, dtype=tf.int64)
        optimizer = tf.keras.optimizers.legacy.Adam(0.05)
        optimizer._create_all_weights(net.trainable_variables)

    @tf.function
    def step(inputs, targets):
        def of_replica(inputs, targets):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((net(inputs) - targets) ** 2) / strategy.num_replicas_in_sync
            optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
            steps.assign_add(1)
            return loss
        return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(of_replica, args=(inputs, targets)), axis=None)

    rank = train.get_context().get_world_rank()
    at = load_state(net, optimizer, steps=steps, epoch=0, batch=0)
    first, loss = at["batch"], 0.0
    for epoch in range(at["epoch"], EPOCHS):
        for batch in range(first, BATCHES):
            draw = numpy.random.default_rng([epoch, batch, rank])
            loss = step(tf.constant(draw.normal(size=(16, 8)).astype("float32")), tf.constant(draw.normal(size=(16, 2)).astype("float32")))
            time.sleep(float(os.environ.get("PAUSE", 0)))
            print(f"batch {epoch * BATCHES + batch + 1}", flush=True)
            save_point(batch=batch + 1)
        first = 0
        save_state(net, optimizer, epoch=epoch + 1, batch=0, metrics={"loss": loss})
    assert steps.numpy() == EPOCHS * BATCHES, steps
    weights = numpy.concatenate([numpy.ravel(each.numpy()) for each in net.trainable_variables])
    with open(f"{OUT}/{rank}.json", "w") as file:
        json.dump({"weights": hashlib.sha256(weights.tobytes()).hexdigest(), "epochs": [], "wait": 0}, file)


if __name__ == "__main__":
    TensorflowTrainer(loop, run_config=RunConfig(name="run", storage_path=f"{OUT}/runs")).fit()
