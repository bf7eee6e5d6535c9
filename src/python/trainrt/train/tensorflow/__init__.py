"""TensorFlow on the ranks of a run, which are the workers of MultiWorkerMirroredStrategy. With Ray Train's names.

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

`load_state()`, `save_state()` and `save_point()` save the variables of a custom training loop by name, without pickle, for any number of ranks.
`trainrt.train.keras.fit()` is a `fit()` that resumes after any batch.

TF_CONFIG is set before the function is called, and TF_USE_LEGACY_KERAS=1 unless it is set: `fit()` of Keras 3 does not support this strategy (package
tf_keras). In the example, an epoch that was interrupted is repeated from its start. TensorFlow does not save the position of a tf.data pipeline that
shuffles: seed it by the epoch, or take the batches from `get_dataset_shard()`.
"""

from ..._ray_names import names_of
from ._checkpoint import TensorflowCheckpoint
from ._library import tensorflow
from ._state import load_state, save_point, save_state
from ._trainer import TensorflowConfig, TensorflowTrainer

__all__ = ["TensorflowCheckpoint", "TensorflowConfig", "TensorflowTrainer", "load_state", "prepare_dataset_shard", "save_point", "save_state"]
__getattr__ = names_of(__name__)


def prepare_dataset_shard(tf_dataset_shard: "tensorflow.data.Dataset") -> "tensorflow.data.Dataset":
    """Returns this rank's shard for `fit()`: TensorFlow does not split it between the workers again, and prefetches its batches.

    Parameters
    ----------
    tf_dataset_shard : tf.data.Dataset

    Returns
    -------
    tf.data.Dataset

    Examples
    --------
    >>> import tensorflow as tf
    >>> from trainrt.train.tensorflow import prepare_dataset_shard
    >>> [int(x) for x in prepare_dataset_shard(tf.data.Dataset.range(3))]
    [0, 1, 2]
    """
    options = tensorflow.data.Options()
    options.experimental_distribute.auto_shard_policy = tensorflow.data.experimental.AutoShardPolicy.OFF
    return tf_dataset_shard.with_options(options).prefetch(tensorflow.data.AUTOTUNE)
