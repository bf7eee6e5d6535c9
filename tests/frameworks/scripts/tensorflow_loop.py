"""TensorFlow's MultiWorkerMirroredStrategy with a custom training loop."""
import argparse
import json
import time

import numpy
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--pause", type=float, default=0, help="seconds a step")
args = parser.parse_args()

strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank, size = strategy.cluster_resolver.task_id or 0, strategy.num_replicas_in_sync
tf.random.set_seed(1)
start = numpy.random.default_rng(1)
with strategy.scope():
    first = tf.Variable(start.normal(size=(8, 16)).astype("float32"))
    second = tf.Variable(start.normal(size=(16, 2)).astype("float32"))


@tf.function
def train_step(inputs, targets):
    def of_replica(inputs, targets):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(inputs @ first) @ second - targets) ** 2)
        slopes = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.MEAN, tape.gradient(loss, [first, second]))
        first.assign_sub(0.1 * slopes[0])
        second.assign_sub(0.1 * slopes[1])
        return loss

    return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(of_replica, args=(inputs, targets)), axis=None)


random, seen = numpy.random.default_rng(1000 + rank), 0.0
for step in range(1, args.steps + 1):
    inputs, targets = random.normal(size=(16, 8)).astype("float32"), random.normal(size=(16, 2)).astype("float32")
    loss = train_step(tf.constant(inputs), tf.constant(targets))
    seen += float(inputs.sum())
    time.sleep(args.pause)
    print(f"step {step} loss {float(loss):.4f}", flush=True)
with open(f"{args.out}/{rank}.json", "w") as file:
    json.dump({"size": size, "seen": seen, "weights": numpy.concatenate([first.numpy().ravel(), second.numpy().ravel()]).tolist()}, file)
