"""tf.keras' fit() under TensorFlow's MultiWorkerMirroredStrategy, which needs Keras 2 (package tf_keras)."""
import argparse
import json
import os
import time

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy  # noqa: E402
import tensorflow as tf  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--pause", type=float, default=0, help="seconds a step")
args = parser.parse_args()

strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank, size = strategy.cluster_resolver.task_id or 0, strategy.num_replicas_in_sync
tf.keras.utils.set_random_seed(1)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(2)])
    model.compile(optimizer=tf.keras.optimizers.SGD(0.05), loss="mse")


class Progress(tf.keras.callbacks.Callback):
    steps = 0

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1
        time.sleep(args.pause)
        print(f"step {self.steps}", flush=True)


random = numpy.random.default_rng(1)
inputs, targets = random.normal(size=(192, 8)).astype("float32"), random.normal(size=(192, 2)).astype("float32")
mine = tf.data.Dataset.from_tensor_slices((inputs, targets)).shard(size, rank).batch(16)
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
model.fit(mine.with_options(options), epochs=args.epochs, verbose=0, callbacks=[Progress()])
with open(f"{args.out}/{rank}.json", "w") as file:
    weights = numpy.concatenate([each.numpy().ravel() for each in model.trainable_variables])
    json.dump({"size": size, "seen": float(inputs[rank::size].sum()), "weights": weights.tolist()}, file)
