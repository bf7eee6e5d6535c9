"""Ray Train's names for TensorFlow: the ranks are the workers of MultiWorkerMirroredStrategy.

    def train_func():
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        found, done = train.get_checkpoint(), 0
        with strategy.scope():
            if found is None:
                model = build_model()
                model.compile(...)
            else:                                                          # after a restart
                model, done = ReportCheckpointCallback.get_model(found), found.get_metadata()["epochs"]
        model.fit(batches, epochs=10, initial_epoch=done, callbacks=[ReportCheckpointCallback()])

    TensorflowTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()

load_state(), save_state() and save_point() keep the variables of a loop of one's own by name, without pickle, on any number of ranks;
trainrt.train.keras.fit() is a fit() that goes on from any batch.

TF_CONFIG is there before the function is called, and TF_USE_LEGACY_KERAS=1 unless it is set: Keras 3 cannot fit() under this strategy
(package tf_keras). Above, a stop inside of an epoch goes back to its beginning. TensorFlow keeps no place in a tf.data pipeline that shuffles: seed it by
the epoch, or take the batches from get_dataset_shard().
"""

from ._library import tensorflow
from ._state import load_state, save_point, save_state
from ._trainer import TensorflowConfig, TensorflowTrainer

__all__ = ["TensorflowConfig", "TensorflowTrainer", "load_state", "prepare_dataset_shard", "save_point", "save_state"]


def prepare_dataset_shard(tf_dataset_shard):
    """A tf.data.Dataset of this rank's shard as it is to be given to fit(): TensorFlow does not split it again, and reads ahead."""
    options = tensorflow.data.Options()
    options.experimental_distribute.auto_shard_policy = tensorflow.data.experimental.AutoShardPolicy.OFF
    return tf_dataset_shard.with_options(options).prefetch(tensorflow.data.AUTOTUNE)
