"""Ray Train's tensorflow_mnist_example: Keras' fit() under MultiWorkerMirroredStrategy. Reports and saves a model after each epoch.

    python3 tensorflow_mnist.py                      # starts the workers
    srun trainrt -- python3 tensorflow_mnist.py      # runs on the workers of srun

The images are Debian's FashionMNIST (package dataset-fashion-mnist); --data names another folder with the four original files.
"""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import argparse  # noqa: E402
import gzip  # noqa: E402

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

from trainrt import train  # noqa: E402
from trainrt.air.integrations.keras import ReportCheckpointCallback  # noqa: E402
from trainrt.train import CheckpointConfig, RunConfig, ScalingConfig  # noqa: E402
from trainrt.train.tensorflow import TensorflowTrainer  # noqa: E402


def dataset(folder, count, batch_size):
    def idx_file(name, header):
        with gzip.open(os.path.join(folder, name)) as file:
            return np.frombuffer(file.read(), np.uint8)[header:]
    images = idx_file("train-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28)[:count] / np.float32(255)
    labels = idx_file("train-labels-idx1-ubyte.gz", 8)[:count].astype(np.int64)
    return tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(count, seed=1, reshuffle_each_iteration=False).batch(batch_size)


def train_func(config):
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.keras.utils.set_random_seed(1)  # also seeds shuffle(), for the same order after a restart
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    checkpoint, epochs = train.get_checkpoint(), 0
    with strategy.scope():  # the model must be made in this scope
        if checkpoint is not None:
            model, epochs = ReportCheckpointCallback.get_model(checkpoint), checkpoint.get_metadata()["epochs"]
        else:
            model = tf.keras.Sequential([
                tf.keras.Input(shape=(28, 28)), tf.keras.layers.Reshape((28, 28, 1)), tf.keras.layers.Conv2D(8, 3, activation="relu"),
                tf.keras.layers.Flatten(), tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(10)])
            model.compile(loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), optimizer=tf.keras.optimizers.SGD(config["lr"]),
                          metrics=["accuracy"])
    batch_size = config["batch_size"] * strategy.num_replicas_in_sync
    model.fit(dataset(config["data"], config["images"], batch_size), epochs=config["epochs"], initial_epoch=epochs, verbose=0,
              callbacks=[ReportCheckpointCallback()])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--images", type=int, default=6000, help="number of training images to use, at most 60,000")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    args = parser.parse_args()
    result = TensorflowTrainer(
        train_func, train_loop_config={"lr": 0.01, "batch_size": 32, **vars(args)}, scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(name="tensorflow_mnist", checkpoint_config=CheckpointConfig(num_to_keep=2))).fit()
    print("last report:", result.metrics)
