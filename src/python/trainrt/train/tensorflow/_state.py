"""load_state() and save_state() of what TensorFlow trains in a loop of one's own."""

from .._sessions import _framework_state
from ._variables import tensorflow_leaves

_VALUES = (bool, int, float, str)


def load_state(model, optimizer=None, **parts):
    """Says what the checkpoints of this run hold, and loads the last one, if there is one: all variables in place. Once, before training begins, on
    all ranks.

        at = load_state(model, optimizer, epoch=0)                   # `if at:` it was restored
        for epoch in range(at["epoch"], 10):
            for batch in dataset_of(epoch):
                train_step(batch)
                save_point()                                         # here the run may stop, and lose nothing
            save_state(model, optimizer, epoch=epoch + 1, metrics={"loss": loss})

    A Keras model with its compiled optimizer, a tf.Module, a tf.train.Checkpoint or anything else that TensorFlow tracks, a tf.Variable, a list or dict of
    variables; optimizer: one of Keras, built (optimizer.build(variables)). parts: more of them, by name, and values (bool, int, float, str). Names are those of
    the attributes: model/first/kernel.
    """
    values = {name: part for name, part in parts.items() if isinstance(part, _VALUES) or _is_number(part)}
    objects = {"model": model, "optimizer": optimizer, **{name: part for name, part in parts.items() if name not in values}}
    leaves = _leaves({name: thing for name, thing in objects.items() if thing is not None})
    kept = _framework_state.KeptState(leaves, values)
    kept.objects = objects
    return _framework_state.keep(kept)


def save_state(model, optimizer=None, *, metrics=None, **parts):
    """The end of an iteration: reports its metrics, and a checkpoint is taken of all that load_state() was given, if one is due (checkpoint.every: at each
    report). Values that have changed are given by name. Collective."""
    known = getattr(_framework_state.of_this_run("save_state"), "objects", {})
    for name, thing in {"model": model, "optimizer": optimizer, **parts}.items():
        if thing is not None and name in known and known[name] is not thing:
            raise ValueError(f"save_state() was given another '{name}' than load_state(): give both the same object, and change it in place")
    _framework_state.save({name: part for name, part in parts.items() if name not in known}, {name: _plain_metric(each) for name, each in (metrics or {}).items()})


def save_point(**values):
    """A step is complete, and the values are these: here the run may stop, and it goes on from here when it is started again. Costs some microseconds; takes no
    checkpoint unless one is due. Collective."""
    _framework_state.step(values)


def _plain_metric(value):
    """A tensor of TensorFlow with one element is its number."""
    value = value.numpy() if hasattr(value, "numpy") and not hasattr(value, "item") else value
    return value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value


def _is_number(part):
    return hasattr(part, "item") and not hasattr(part, "assign")


def _leaves(objects):
    """A variable that several objects hold counts once, under its first name."""
    seen, leaves = set(), []
    for name, thing in objects.items():
        found = _named_variables(name, thing)
        for where, variable in found:
            if id(variable) not in seen:
                seen.add(id(variable))
                leaves += tensorflow_leaves(where, getattr(variable, "value", variable) if _is_of_keras_3(variable) else variable)
        if not found:
            raise ValueError(f"'{name}' is a {type(thing).__name__} that has no variables: build it before load_state(), as model.build(input_shape), "
                             f"optimizer.build(model.trainable_variables), or a first call")
    return leaves


def _named_variables(name, thing):
    """[(name, tf.Variable)] in the order of the attributes."""
    import tensorflow
    if _is_of_keras_3(thing):
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
        return _tracked(name, thing)
    raise TypeError(f"'{name}' is a {type(thing).__name__}, which has no form in a checkpoint: it must be what TensorFlow tracks (a model, a tf.Module, a "
                    f"tf.train.Checkpoint, an optimizer, a tf.Variable), a list or dict of such, a bool, an int, a float or a str")


def _is_of_keras_3(thing):
    return hasattr(thing, "assign") and hasattr(thing, "path") and not callable(getattr(thing, "value", None))


def _tracked(name, root):
    """All variables below it, each by its shortest way there; those that it lists beside them (the slots of Keras 2's older optimizers), by their own names."""
    import tensorflow
    view = tensorflow.train.TrackableView(root)
    seen, paths, found, waiting = {id(root)}, set(), [], [(name, root)]

    def unique(path):
        path = path if path not in paths else f"{path}~{len(paths)}"
        paths.add(path)
        return path

    while waiting:
        where, thing = waiting.pop(0)
        for key, child in view.children(thing).items():
            if id(child) in seen:
                continue
            seen.add(id(child))
            path = unique(f"{where}/{_plain(key)}")
            if isinstance(child, tensorflow.Variable):
                found.append((path, child))
            else:
                waiting.append((path, child))
    return found + [(unique(f"{name}/{variable.name.split(':')[0]}"), variable) for variable in _listed(root) if id(variable) not in seen]


def _listed(root):
    listed = getattr(root, "variables", ())
    return listed() if callable(listed) else listed


def _plain(key):
    return key.strip("_").replace("/", ".") or "own"
