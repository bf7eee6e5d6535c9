"""Keras 3 on JAX: fit() on several processes with keras.distribution."""
import argparse
import json
import os
import time

os.environ["KERAS_BACKEND"] = "jax"
import keras  # noqa: E402
import numpy  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--pause", type=float, default=0, help="seconds a step")
args = parser.parse_args()

keras.distribution.initialize()
import jax  # noqa: E402

rank, size = jax.process_index(), jax.process_count()
keras.distribution.set_distribution(keras.distribution.DataParallel(auto_shard_dataset=False))  # each process has its own rows
keras.utils.set_random_seed(1)


class Progress(keras.callbacks.Callback):
    steps = 0

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1
        time.sleep(args.pause)
        print(f"step {self.steps}", flush=True)


random = numpy.random.default_rng(1000 + rank)
inputs, targets = random.normal(size=(96, 8)).astype("float32"), random.normal(size=(96, 2)).astype("float32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(2)])
model.compile(optimizer=keras.optimizers.SGD(0.05), loss="mse")
model.fit(inputs, targets, batch_size=16, epochs=args.epochs, shuffle=False, verbose=0, callbacks=[Progress()])
with open(f"{args.out}/{rank}.json", "w") as file:
    local = [numpy.asarray(each.value.addressable_data(0)).ravel() for each in model.trainable_variables]
    json.dump({"size": size, "seen": float(inputs.sum()), "weights": numpy.concatenate(local).tolist()}, file)
