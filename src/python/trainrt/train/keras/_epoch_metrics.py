"""EpochMetrics: the metrics of the current epoch in checkpoints, since callbacks and the epoch's report use them.

Keras creates the variables of metrics in the first step of a process. So a checkpoint holds them in an array of fixed length, and a restart adds them to the
variables after the first batch.
"""

import sys

import numpy

from ..._support import _notes
from ..._support._host_leaf import HostLeaf
from ._event_callback import synchronized

_MAX_NUMBERS = 4096


class EpochMetrics:
    """The metrics of a model's current epoch."""

    def __init__(self, model):
        self._model = model
        self._restored = None

    def leaf(self):
        """Returns the HostLeaf of the metrics: this rank's part of a sum. With distributed JAX, the metrics are equal on all ranks instead."""
        return HostLeaf("metrics", (_MAX_NUMBERS,), "float64", self._read, self._take, placement=None if _is_distributed_jax() else "part_of_sum")

    def add_restored(self):
        """Adds the restored metrics to the variables, once. Must be called after the first batch."""
        if self._restored is None or not self._restored.any():
            return
        position = 0
        for variable in self._variables():
            before = _host_array(variable)
            part = self._restored[position:position + before.size].reshape(before.shape)
            variable.assign((before + part).astype(before.dtype))
            position += before.size
        self._restored = None
        _update_jax_state(self._model)

    def _take(self, array):
        self._restored = array

    def _read(self):
        found = numpy.zeros(_MAX_NUMBERS)
        parts = [numpy.ravel(_host_array(variable)).astype("float64") for variable in self._variables()]
        joined = numpy.concatenate([numpy.zeros(0), *parts])
        if len(joined) > _MAX_NUMBERS:
            _notes.say(f"the metrics have {len(joined)} numbers, but a checkpoint holds at most {_MAX_NUMBERS}; after a stop within an epoch they are computed "
                       f"from the remaining batches")
        else:
            found[:len(joined)] = joined
        return found

    def _variables(self):
        synchronized(self._model)
        found = getattr(self._model, "metrics_variables", None)
        if found is None:  # Keras 2
            found = [variable for metric in self._model.metrics for variable in metric.variables]
        for variable in found:
            yield from getattr(variable, "values", None) or [variable]


def _update_jax_state(model):
    """Copies the variables into the state of Keras on JAX, which otherwise uses the values of the last step at the end of an epoch."""
    state = getattr(synchronized(model), "_jax_state", None)
    if state and state.get("metrics_variables"):
        state["metrics_variables"] = [variable.value for variable in synchronized(model).metrics_variables]


def _host_array(variable):
    value = getattr(variable, "value", variable)
    if hasattr(value, "is_fully_addressable") and not value.is_fully_addressable:  # an array of JAX that is distributed over processes
        value = value.addressable_data(0)
    if hasattr(value, "detach"):  # a tensor of torch
        value = value.detach().cpu()
    return numpy.asarray(variable.numpy() if callable(value) else value)


def _is_distributed_jax():
    jax = sys.modules.get("jax")
    keras = sys.modules.get("keras")
    return jax is not None and keras is not None and keras.backend.backend() == "jax" and jax.process_count() > 1
