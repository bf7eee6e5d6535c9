"""Keras on the ranks of a run: Keras 2 (tf_keras, tf.keras), and Keras 3 on TensorFlow, JAX and torch.

    from trainrt.train.keras import ReportCheckpointCallback         # Ray Train's: saves the model's files at each epoch
    model.fit(dataset, epochs=3, callbacks=[ReportCheckpointCallback()])

    from trainrt.train.keras import fit                              # trainrt's own: resumes after any batch, with the same bits
    fit(model, lambda epoch: dataset.shuffle(60000, seed=epoch, reshuffle_each_iteration=False).batch(64), epochs=3)

`load_state()`, `save_state()` and `save_point()` are the parts of `fit()` for custom training loops: checkpoints of the weights and the optimizer's variables
by name, without pickle, for any number of ranks.
"""

from ._fit import fit
from ._report_callback import ReportCheckpointCallback
from ._state import load_state, save_point, save_state

__all__ = ["ReportCheckpointCallback", "fit", "load_state", "save_point", "save_state"]
