"""load_state(), save_state() and save_point() for a Keras model: checkpoints of its variables by name, without pickle."""

from typing import Any, Optional

from .._sessions import _framework_state
from ._event_callback import synchronized
from ._variables import leaves_of

__doctest_requires__ = {"*": ["keras"]}


def load_state(model: Any, **values: Any) -> _framework_state.FrameworkState:
    """Names the state that checkpoints of this run hold, and loads the last checkpoint, if there is one, into the model's weights and its optimizer's
    variables. Collective: call it once, before training begins.

    Weights have Keras' own names; numbered layers (dense_3) are numbered within the model. Under a strategy of TensorFlow each rank reads its part of a
    variable.

    Parameters
    ----------
    model : keras.Model
        Built, and compiled if it has an optimizer.
    **values
        Other values of the training, by name (bool, int, float, str), as a new run starts with them.

    Returns
    -------
    dict
        The values, from the checkpoint or, in a new run, as given. The dict is true if a checkpoint was loaded.

    Raises
    ------
    TypeError
        If a value has a type that a checkpoint cannot hold.
    ValueError
        If the model is not built.
    RuntimeError
        If it is called twice in a run.

    Examples
    --------
    >>> import keras, numpy
    >>> from trainrt.train.keras import load_state, save_state
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> at = load_state(model, epoch=0)
    >>> for epoch in range(at["epoch"], 2):
    ...     history = model.fit(numpy.ones((8, 1)), numpy.ones(8), initial_epoch=epoch, epochs=epoch + 1, verbose=0)
    ...     save_state(model, epoch=epoch + 1, metrics={"loss": history.history["loss"][-1]})
    """
    return attach(model, values)


def save_state(model: Any, *, metrics: Optional[dict[str, Any]] = None, **values: Any) -> None:
    """Completes an iteration: reports metrics and, if a checkpoint is due (key checkpoint.every), takes a checkpoint of the state. Collective.

    Parameters
    ----------
    model : keras.Model
        The model that load_state() was given.
    metrics : dict, optional
        Metrics to report.
    **values
        Values that have changed.

    Raises
    ------
    ValueError
        If the model is not the one of load_state(), or a value was not passed to it.
    RuntimeError
        If load_state() was not called.

    Examples
    --------
    >>> import keras
    >>> from trainrt.train.keras import load_state, save_state
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> at = load_state(model, epoch=0)
    >>> save_state(model, epoch=1, metrics={"loss": 0.5})
    """
    if _framework_state.required("save_state").source is not model:
        raise ValueError("save_state(): the model is not the one that load_state() was given; pass the same object to both")
    _framework_state.save(values, metrics)


def save_point(**values: Any) -> None:
    """Completes a step. The run may stop here, and a restart resumes from here. If no checkpoint is due, the call takes microseconds. Collective.

    Parameters
    ----------
    **values
        Values that have changed.

    Raises
    ------
    ValueError, RuntimeError
        As save_state().

    Examples
    --------
    >>> import keras
    >>> from trainrt.train.keras import load_state, save_point
    >>> at = load_state(keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)]), step=0)
    >>> save_point(step=1)
    """
    _framework_state.step(values)


def attach(model, values, more_leaves=()):
    """Implements load_state(), with additional leaves."""
    state = _framework_state.FrameworkState([*leaves_of(model), *more_leaves], _framework_state.checked_values(values), model)
    state.before_save(lambda: synchronized(model))
    return _framework_state.load(state)
