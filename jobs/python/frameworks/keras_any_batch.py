"""Keras 3 (here on torch; on JAX with KERAS_BACKEND=jax) with trainrt.train.keras.fit(): a run that was stopped, killed or requeued within an
epoch resumes after the last batch of its newest checkpoint, and ends with the same weights.

    trainrt -n 1 -- python3 keras_any_batch.py
"""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras  # noqa: E402
import numpy as np  # noqa: E402

from trainrt.train import CheckpointConfig, DataParallelTrainer, RunConfig, ScalingConfig  # noqa: E402
from trainrt.train.keras import fit  # noqa: E402


def train_func():
    keras.utils.set_random_seed(1)
    inputs = np.random.default_rng(1).normal(size=(512, 8)).astype("float32")
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dropout(0.05), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
    fit(model, (inputs, inputs[:, :1] * inputs[:, 1:2]), epochs=8, batch_size=16, callbacks=[keras.callbacks.EarlyStopping("loss", patience=3)])


if __name__ == "__main__":
    result = DataParallelTrainer(train_func, scaling_config=ScalingConfig(num_workers=1),
                                 run_config=RunConfig(name="keras_any_batch", checkpoint_config=CheckpointConfig(num_to_keep=2))).fit()
    print("last report:", result.metrics)
