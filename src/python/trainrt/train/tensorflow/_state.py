"""load_state(), save_state() and save_point() for custom training loops of TensorFlow."""

from typing import Any, Optional

from ..._client.values import kind_of
from .._sessions import _framework_state
from ._variables import tensorflow_leaves

_VALUES = (bool, int, float, str)


def load_state(model: Any, optimizer: Any = None, **parts: Any) -> _framework_state.FrameworkState:
    """Names the state that checkpoints of this run hold, and loads the last checkpoint, if there is one, into the variables. Collective: call it once,
    before training begins.

    Parameters
    ----------
    model : object
        A Keras model (with its compiled optimizer), a tf.Module, tf.train.Checkpoint or other object that TensorFlow tracks, a tf.Variable, or a list or
        dict of variables. Variables are named by their attributes: `model/first/kernel`.
    optimizer : object, optional
        Optimizer of Keras, built with `optimizer.build(variables)`.
    **parts
        Further objects by name, and values (bool, int, float, str) of a new run.

    Returns
    -------
    dict
        The values, from the checkpoint or, in a new run, as given. The dict is true if a checkpoint was loaded.

    Raises
    ------
    ValueError
        If an object has no variables yet.
    TypeError
        If an object has a type that a checkpoint cannot hold.
    RuntimeError
        If it is called twice in a run.

    Examples
    --------
    >>> import tensorflow as tf
    >>> from trainrt.train.tensorflow import load_state, save_point, save_state
    >>> weights = tf.Variable([0.0, 0.0])
    >>> at = load_state(weights, epoch=0)
    >>> for epoch in range(at["epoch"], 2):
    ...     _ = weights.assign_add([1.0, 1.0])
    ...     save_point()
    ...     save_state(weights, epoch=epoch + 1, metrics={"loss": 0.5})
    """
    values = {name: part for name, part in parts.items() if isinstance(part, _VALUES) or _is_number(part)}
    objects = {"model": model, "optimizer": optimizer, **{name: part for name, part in parts.items() if name not in values}}
    leaves = _leaves({name: thing for name, thing in objects.items() if thing is not None})
    state = _framework_state.FrameworkState(leaves, values, objects)
    return _framework_state.load(state)


def save_state(model: Any, optimizer: Any = None, *, metrics: Optional[dict[str, Any]] = None, **parts: Any) -> None:
    """Completes an iteration: reports metrics and, if a checkpoint is due (key checkpoint.every), takes a checkpoint of the state. Collective.

    Parameters
    ----------
    model, optimizer : object
        The objects that load_state() was given.
    metrics : dict, optional
        Metrics to report; a tensor with one element is a number.
    **parts
        Values that have changed.

    Raises
    ------
    ValueError
        If an object is not the one of load_state(), or a value was not passed to it.
    RuntimeError
        If load_state() was not called.

    Examples
    --------
    >>> import tensorflow as tf
    >>> from trainrt.train.tensorflow import load_state, save_state
    >>> weights = tf.Variable([0.0])
    >>> at = load_state(weights, epoch=0)
    >>> save_state(weights, epoch=1, metrics={"loss": tf.constant(0.5)})
    """
    known = _framework_state.required("save_state").source
    for name, thing in {"model": model, "optimizer": optimizer, **parts}.items():
        if thing is not None and name in known and known[name] is not thing:
            raise ValueError(f"save_state(): '{name}' is not the object that load_state() was given; pass the same object to both, and change it in place")
    numbers = {name: _plain_metric(each) for name, each in (metrics or {}).items()}
    _framework_state.save({name: part for name, part in parts.items() if name not in known}, numbers)


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
    >>> import tensorflow as tf
    >>> from trainrt.train.tensorflow import load_state, save_point
    >>> at = load_state(tf.Variable([0.0]), step=0)
    >>> save_point(step=1)
    """
    _framework_state.step(values)


def _plain_metric(value):
    """Returns a tensor with one element as a number; other values unchanged."""
    value = value.numpy() if hasattr(value, "numpy") and not hasattr(value, "item") else value
    return value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value


def _is_number(part):
    return hasattr(part, "item") and not hasattr(part, "assign")


def _leaves(objects):
    """Returns the leaves of all variables. A variable that several objects hold is one leaf, with its first name."""
    seen, leaves = set(), []
    for name, thing in objects.items():
        found = _named_variables(name, thing)
        for path, variable in found:
            if id(variable) not in seen:
                seen.add(id(variable))
                leaves += tensorflow_leaves(path, getattr(variable, "value", variable) if _is_keras_3_variable(variable) else variable)
        if not found:
            raise ValueError(f"'{name}' is {kind_of(thing)} without variables; build it before load_state(): model.build(input_shape), "
                             f"optimizer.build(model.trainable_variables), or a first call")
    return leaves


def _named_variables(name, thing):
    """Returns [(path, tf.Variable)] in the order of the attributes."""
    import tensorflow
    if _is_keras_3_variable(thing):
        return [(name, thing)]
    if isinstance(thing, tensorflow.Variable):
        return [(name, thing)]
    if isinstance(thing, dict):
        return [pair for key, each in thing.items() for pair in _named_variables(f"{name}/{key}", each)]
    if isinstance(thing, (list, tuple)):
        return [pair for number, each in enumerate(thing) for pair in _named_variables(f"{name}/{number}", each)]
    if hasattr(thing, "_flatten_layers") and hasattr(thing, "compile"):  # a model of Keras
        from ..keras._variables import named_variables
        return named_variables(thing, name, "optimizer" if name == "model" else f"{name}_optimizer")
    if hasattr(thing, "_trackable_children") or hasattr(thing, "_checkpoint_dependencies"):
        return _tracked_variables(name, thing)
    raise TypeError(f"'{name}' is {kind_of(thing)}, which a checkpoint cannot hold; it must be an object that TensorFlow tracks (a model, tf.Module, "
                    f"tf.train.Checkpoint, optimizer or tf.Variable), a list or dict of these, a bool, int, float or str")


def _is_keras_3_variable(thing):
    return hasattr(thing, "assign") and hasattr(thing, "path") and not callable(getattr(thing, "value", None))


def _tracked_variables(name, root):
    """Returns [(path, variable)] of all variables that `root` tracks, each with its shortest path. Variables that it only lists (the slots of older
    optimizers of Keras 2) have their own names."""
    import tensorflow
    view = tensorflow.train.TrackableView(root)
    seen, paths, found, waiting = {id(root)}, set(), [], [(name, root)]

    def unique(path):
        path = path if path not in paths else f"{path}~{len(paths)}"
        paths.add(path)
        return path

    while waiting:
        prefix, thing = waiting.pop(0)
        for key, child in view.children(thing).items():
            if id(child) in seen:
                continue
            seen.add(id(child))
            path = unique(f"{prefix}/{_attribute_name(key)}")
            if isinstance(child, tensorflow.Variable):
                found.append((path, child))
            else:
                waiting.append((path, child))
    return found + [(unique(f"{name}/{variable.name.split(':')[0]}"), variable) for variable in _listed_variables(root) if id(variable) not in seen]


def _listed_variables(root):
    listed = getattr(root, "variables", ())
    return listed() if callable(listed) else listed


def _attribute_name(key):
    return key.strip("_").replace("/", ".") or "own"
