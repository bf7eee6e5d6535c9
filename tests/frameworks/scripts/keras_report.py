"""fit() of Keras under a TensorflowTrainer of trainrt.train: `keras_report.py NAME`. $KILL_AT: the epoch in which rank 1 is killed, once; $RUNS;
$FITS: the number of fit() calls, each for another run. Prints the digest of the weights."""
import hashlib
import json
import os
import signal
import sys

import numpy
from trainrt import train
from trainrt.air.integrations.keras import ReportCheckpointCallback
from trainrt.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
from trainrt.train.tensorflow import TensorflowTrainer, prepare_dataset_shard
import tensorflow as tf  # noqa: E402

NAME, EPOCHS = sys.argv[1], 5


class Kills(tf.keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        marker = os.path.join(os.environ["RUNS"], f"killed-{NAME}")
        if self.epoch == int(os.environ.get("KILL_AT", -1)) and batch == 2 and train.get_context().get_world_rank() == 1 and not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)


def loop():
    rank, size = train.get_context().get_world_rank(), train.get_context().get_world_size()
    tf.keras.utils.set_random_seed(1)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    found, done = train.get_checkpoint(), 0
    with strategy.scope():
        if found is None:
            model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(2)])
            model.compile(optimizer=tf.keras.optimizers.Adam(0.05), loss="mse")
        else:
            model, done = ReportCheckpointCallback.get_model(found), found.get_metadata()["epochs"]
    random = numpy.random.default_rng(1)
    inputs, targets = random.normal(size=(192, 8)).astype("float32"), random.normal(size=(192, 2)).astype("float32")
    batches = prepare_dataset_shard(tf.data.Dataset.from_tensor_slices((inputs[rank::size], targets[rank::size])).batch(16))
    model.fit(batches, epochs=EPOCHS, initial_epoch=done, verbose=0, callbacks=[Kills(), ReportCheckpointCallback(metrics={"loss": "loss"})])
    digest = hashlib.sha256(b"".join(value.numpy().tobytes() for value in model.trainable_variables)).hexdigest()
    return {"size": strategy.num_replicas_in_sync, "digest": digest}


if __name__ == "__main__":
    for fit in range(int(os.environ.get("FITS", 1))):
        run_config = RunConfig(name=f"{NAME}-fit-{fit}", storage_path=os.environ["RUNS"], checkpoint_config=CheckpointConfig(num_to_keep=2),
                               failure_config=FailureConfig(max_failures=2))
        result = TensorflowTrainer(loop, scaling_config=ScalingConfig(num_workers=2), run_config=run_config).fit()
        print("RESULT", json.dumps({**result.return_value, "metrics": result.metrics, "files": sorted(os.listdir(result.checkpoint.path))}))
