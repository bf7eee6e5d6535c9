"""load_state() and save_state() of a Keras model: checkpoints of its variables by name, without pickle."""

from .._sessions import _framework_state
from ._event_callback import synchronized
from ._variables import leaves_of


def load_state(model, **values):
    """Says what the checkpoints of this run hold, and loads the last one, if there is one: the model's weights and its optimizer's variables in place. Once,
    before training begins, on all ranks; the model is built, and compiled if an optimizer belongs to it.

        at = load_state(model, epoch=0)                              # `if at:` it was restored
        for epoch in range(at["epoch"], 10):
            model.fit(dataset_of(epoch), initial_epoch=epoch, epochs=epoch + 1)
            save_state(model, epoch=epoch + 1, metrics={"loss": loss})

    values: what else belongs to the training, by name (bool, int, float, str), as a new run begins. Names of weights are Keras' own; what it numbers
    (dense_3) is numbered within the model. Under a strategy of TensorFlow each rank's own part of a variable is taken.
    """
    return keep(model, values)


def save_state(model, *, metrics=None, **values):
    """The end of an iteration: reports its metrics, and a checkpoint is taken of all that load_state() was given, if one is due (checkpoint.every: at each
    report). Values that have changed are given by name. Collective."""
    _check_same(model)
    _framework_state.save(values, metrics)


def save_point(**values):
    """A step is complete, and the values are these: here the run may stop, and it goes on from here when it is started again. Costs some microseconds; takes no
    checkpoint unless one is due. Collective."""
    _framework_state.step(values)


def keep(model, values, more_leaves=()):
    kept = _framework_state.KeptState([*leaves_of(model), *more_leaves], _framework_state.checked_values(values))
    kept.before_save(lambda: synchronized(model))
    kept.model = model
    return _framework_state.keep(kept)


def _check_same(model):
    if getattr(_framework_state.of_this_run("save_state"), "model", None) is not model:
        raise ValueError("save_state() was given another model than load_state(): give both the same object")
