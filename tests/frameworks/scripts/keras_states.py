"""trainrt.train.keras.fit() on ranks of trainrt: `keras_states.py OUT BACKEND WAY` writes the digest of the final weights to OUT/RANK.json.

BACKEND: keras2 (tf_keras under MultiWorkerMirroredStrategy), or Keras 3 on jax or torch. WAY: function (of the epoch, a dataset), or arrays."""
import hashlib
import json
import os
import sys
import time

OUT, BACKEND, WAY = sys.argv[1:4]
os.environ.update({"TF_USE_LEGACY_KERAS": "1"} if BACKEND == "keras2" else {"KERAS_BACKEND": BACKEND})
import numpy  # noqa: E402

from trainrt import train  # noqa: E402
from trainrt.train import DataParallelTrainer, RunConfig  # noqa: E402
from trainrt.train.keras import fit  # noqa: E402

EPOCHS, BATCH = 4, 32


def data():
    draw = numpy.random.default_rng(1)
    return draw.normal(size=(192, 8)).astype("float32"), draw.normal(size=(192, 2)).astype("float32")


def batches_of(epoch):
    order = numpy.random.default_rng(epoch).permutation(192)
    inputs, targets = (array[order] for array in data())
    if BACKEND == "keras2":
        import tensorflow as tf
        return tf.data.Dataset.from_tensor_slices((inputs, targets)).batch(BATCH)
    if BACKEND == "torch":
        import torch
        return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.from_numpy(inputs), torch.from_numpy(targets)), batch_size=BATCH)
    return ((inputs[at:at + BATCH], targets[at:at + BATCH]) for at in range(0, 192, BATCH))


def made(keras):
    """Returns a model whose layers have random numbers and moving averages, which must be in the checkpoint."""
    keras.utils.set_random_seed(1)
    layers = keras.layers
    dropout = [layers.Dropout(0.2)] if BACKEND != "keras2" else []
    model = keras.Sequential([keras.Input((8,)), layers.Dense(16, activation="tanh"), layers.BatchNormalization(), *dropout, layers.Dense(2)])
    model.compile(optimizer=keras.optimizers.Adam(0.05), loss="mse", metrics=["mae"])
    return model


def loop():
    if BACKEND == "keras2":
        import tensorflow as tf
        keras = tf.keras
        with tf.distribute.MultiWorkerMirroredStrategy().scope():
            model = made(keras)
    else:
        import keras
        model = made(keras)

    class Progress(keras.callbacks.Callback):
        steps = 0

        def on_train_batch_end(self, batch, logs=None):
            self.steps += 1
            time.sleep(float(os.environ.get("PAUSE", 0)))
            print(f"batch {self.steps}", flush=True)

    callbacks = [Progress(), keras.callbacks.ReduceLROnPlateau("loss", patience=0, min_delta=0.2), keras.callbacks.EarlyStopping("loss", patience=9)]
    history = fit(model, batches_of if WAY == "function" else data(), epochs=EPOCHS, batch_size=None if WAY == "function" else BATCH, callbacks=callbacks)
    rank, variables = train.get_context().get_world_rank(), model.trainable_variables
    weights = numpy.concatenate([numpy.ravel(each.numpy() if hasattr(each, "numpy") else each) for each in variables])
    with open(f"{OUT}/{rank}.json", "w") as file:
        json.dump({"weights": hashlib.sha256(weights.tobytes()).hexdigest(), "epochs": [] if history is None else history.epoch, "wait": callbacks[2].wait}, file)


if __name__ == "__main__":
    DataParallelTrainer(loop, run_config=RunConfig(name="run", storage_path=f"{OUT}/runs")).fit()
