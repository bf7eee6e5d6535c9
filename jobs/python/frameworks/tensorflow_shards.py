"""Ray Train's guide for TensorFlow over a dataset: an autoencoder under MultiWorkerMirroredStrategy; the workers read their shards. Reports and saves after each epoch.

    python3 tensorflow_shards.py                      # starts the workers
    srun trainrt -- python3 tensorflow_shards.py      # runs on the workers of srun
"""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

import trainrt  # noqa: E402
from trainrt import train  # noqa: E402
from trainrt.train import CheckpointConfig, RunConfig, ScalingConfig  # noqa: E402
from trainrt.train.tensorflow import TensorflowTrainer, prepare_dataset_shard  # noqa: E402
from trainrt.train.tensorflow.keras import ReportCheckpointCallback  # noqa: E402

EPOCHS = 6


def build_model():
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.Input((64,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(64)])
    model.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(0.02, momentum=0.9))
    return model


def train_func(config):
    dataset_shard = train.get_context().get_dataset_shard("train")

    def to_tf_dataset(dataset, batch_size):
        def to_tensor_iterator():
            for batch in dataset.iter_tf_batches(batch_size=batch_size, dtypes=tf.float32):
                yield batch["image"], batch["label"]

        output_signature = (tf.TensorSpec(shape=(None, 64), dtype=tf.float32), tf.TensorSpec(shape=(None, 64), dtype=tf.float32))
        tf_dataset = tf.data.Dataset.from_generator(to_tensor_iterator, output_signature=output_signature)
        return prepare_dataset_shard(tf_dataset)  # the dataset is already sharded

    tf.config.threading.set_intra_op_parallelism_threads(1)
    strategy, checkpoint, first = tf.distribute.MultiWorkerMirroredStrategy(), train.get_checkpoint(), 0
    with strategy.scope():
        if checkpoint is None:
            multi_worker_model = build_model()
        else:
            multi_worker_model, first = ReportCheckpointCallback.get_model(checkpoint), checkpoint.get_metadata()["epochs"]
    for epoch in range(first, EPOCHS):
        multi_worker_model.fit(to_tf_dataset(dataset_shard, config["batch_size"]), initial_epoch=epoch, epochs=epoch + 1, verbose=0,
                               callbacks=[ReportCheckpointCallback()])


def images():
    """Returns sums of a few images, which an autoencoder can learn."""
    random = np.random.default_rng(1)
    made = (random.normal(size=(1024, 4)) @ random.normal(size=(4, 64))).astype("float32")
    return trainrt.data.from_items([{"image": image, "label": image} for image in made]).random_shuffle()


if __name__ == "__main__":
    result = TensorflowTrainer(train_func, train_loop_config={"batch_size": 32}, scaling_config=ScalingConfig(num_workers=2), datasets={"train": images()},
                               run_config=RunConfig(name="tensorflow_shards", checkpoint_config=CheckpointConfig(num_to_keep=2))).fit()
    print("last report:", result.metrics)
