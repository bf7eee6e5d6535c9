"""Leaves of a checkpoint for the variables of a Keras model, on each backend of Keras."""

import contextlib
import sys

from ..._support._host_leaf import HostLeaf
from ._names import StableNames


def leaves_of(model):
    """Returns the leaves of the weights and of the optimizer's variables. Raises ValueError if the model is not built."""
    return [leaf for name, variable in named_variables(model) for leaf in variable_leaves(name, variable)]


def named_variables(model, prefix="model", optimizer="optimizer"):
    """Returns [(name, variable)] of the weights, random states and the optimizer, without the metrics. `prefix`, `optimizer`: first parts of the names."""
    if not getattr(model, "built", False):
        raise ValueError(f"the model {model.name} is not built, so that its weights do not exist; start it with an Input(shape), or call "
                         f"model.build(input_shape), before load_state() or fit()")
    names = StableNames(model)
    pairs = [(f"{prefix}/{names.of(variable)}", variable) for variable in _weights(model)]
    pairs += [(f"{prefix}/{name}", variable) for name, variable in _random_states(model)]
    pairs += [(f"{optimizer}/{name}", variable) for name, variable in _optimizer_variables(model, names)]
    return [(names.unique(name), variable) for name, variable in pairs]


def _weights(model):
    found = model.variables if hasattr(model, "variables") and not _is_keras_2(model) else model.weights
    metrics = {id(variable) for variable in getattr(model, "metrics_variables", ())}
    optimizer = {id(variable) for variable in _all_of_optimizer(model)}
    return [variable for variable in found if id(variable) not in metrics | optimizer]


def _is_keras_2(model):
    return not hasattr(model, "metrics_variables")


def _random_states(model):
    """Yields the states of Keras 2's layers that draw from a tf.random.Generator. Those of Keras 3 are among the weights."""
    if _is_keras_2(model):
        for number, layer in enumerate(model._flatten_layers()):
            generator = getattr(getattr(layer, "_random_generator", None), "_generator", None)
            if generator is not None and hasattr(generator, "state"):
                yield f"random/{number}", generator.state


def _all_of_optimizer(model):
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        return []
    variables = optimizer.variables
    return list(variables() if callable(variables) else variables)


def _optimizer_variables(model, names):
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        return
    if hasattr(optimizer, "build") and not getattr(optimizer, "built", False):
        with _scope_of(model):
            optimizer.build(model.trainable_variables)
    weights = sorted(((_flat_name(variable), names.of(variable)) for variable in model.trainable_variables), key=lambda pair: -len(pair[0]))
    prefix = f"{_flat(optimizer.name)}_" if hasattr(optimizer, "name") else ""
    for variable in _all_of_optimizer(model):
        yield _slot_name(_flat_name(variable), weights, prefix), variable


def _slot_name(text, weights, prefix):
    """Returns the checkpoint name of an optimizer variable: dense/kernel/momentum for adam/dense_kernel_momentum, if dense/kernel is a weight.
    `weights`: (flat name, name), longest first."""
    for flat, name in weights:
        if flat in text:
            before, after = text.split(flat, 1)
            slot = "_".join(part.strip("_") for part in (before.removeprefix(prefix), after) if part.strip("_"))
            return f"{name}/{slot or 'slot'}"
    return text.removeprefix(prefix)


def _flat_name(variable):
    return _flat(getattr(variable, "path", None) or variable.name.split(":")[0])


def _flat(text):
    return text.replace("/", "_")


def _scope_of(model):
    strategy = getattr(model, "distribute_strategy", None)
    return strategy.scope() if strategy is not None else contextlib.nullcontext()


# ---- leaves of one variable ------------------------------------------------------------------------------------------------------------------


def variable_leaves(name, variable):
    """Returns the leaves of a tf.Variable, which a strategy may distribute, or of a variable of Keras 3 on any backend."""
    value = getattr(variable, "value", None)
    if value is not None and not callable(value):  # Keras 3
        return _keras_3_leaves(name, variable, value)
    from ..tensorflow._variables import tensorflow_leaves
    return tensorflow_leaves(name, variable)


def _keras_3_leaves(name, variable, value):
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is not None and isinstance(value, torch.Tensor):
        return [_TorchLeaf(name, variable)]
    if jax is not None and isinstance(value, jax.Array):
        from ..jax._arrays import VariableArray
        return VariableArray(name, variable).leaves()
    if hasattr(value, "assign"):  # TensorFlow
        from ..tensorflow._variables import tensorflow_leaves
        return tensorflow_leaves(name, value)
    return [HostLeaf(name, value.shape, value.dtype, lambda: variable.numpy(), variable.assign)]


class _TorchLeaf:
    """Leaf of a variable of Keras's torch backend. Passes the variable's tensor to trainrt.State."""

    def __init__(self, name, variable):
        self.name, self._variable = name, variable

    def add_to(self, state):
        tensor = self._variable.value.detach()
        state.tensor(self.name, tensor if tensor.device.type != "cpu" else tensor.contiguous())
