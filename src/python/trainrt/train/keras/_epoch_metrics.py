"""The metrics of the epoch under way in checkpoints: callbacks decide by them, and the epoch's report has them. Their variables come into being in the first
step of a process, so they travel in an array of a fixed length, and are added behind the first batch."""

import sys

import numpy

from ..._support import _notes
from ..._support._host_leaf import HostLeaf
from ._event_callback import synchronized

_LONGEST = 4096


class MetricParts:
    def __init__(self, model):
        self._model = model
        self._restored = None

    def leaf(self):
        """Of this rank's part of the sums; of all ranks the same where the processes are one JAX."""
        return HostLeaf("metrics", (_LONGEST,), "float64", self._read, self._keep, placement=None if _is_one_jax() else "part_of_sum")

    def add_restored(self):
        """Once: what the checkpoint has, to what the first batch has made."""
        if self._restored is None or not self._restored.any():
            return
        at = 0
        for variable in self._variables():
            before = _host(variable)
            part = self._restored[at:at + before.size].reshape(before.shape)
            variable.assign((before + part).astype(before.dtype))
            at += before.size
        self._restored = None
        _tell_jax(self._model)

    def _keep(self, array):
        self._restored = array

    def _read(self):
        found = numpy.zeros(_LONGEST)
        parts = [numpy.ravel(_host(variable)).astype("float64") for variable in self._variables()]
        together = numpy.concatenate([numpy.zeros(0), *parts])
        if len(together) > _LONGEST:
            _notes.say(f"the metrics have {len(together)} numbers, and {_LONGEST} are the most in a checkpoint: after a stop within an epoch they begin anew there")
        else:
            found[:len(together)] = together
        return found

    def _variables(self):
        synchronized(self._model)
        found = getattr(self._model, "metrics_variables", None)
        if found is None:  # Keras 2
            found = [variable for metric in self._model.metrics for variable in metric.variables]
        for variable in found:
            yield from getattr(variable, "values", None) or [variable]


def _tell_jax(model):
    """Keras on JAX goes back to the arrays of the last step if there is no batch behind it."""
    state = getattr(synchronized(model), "_jax_state", None)
    if state and state.get("metrics_variables"):
        state["metrics_variables"] = [variable.value for variable in synchronized(model).metrics_variables]


def _host(variable):
    value = getattr(variable, "value", variable)
    if hasattr(value, "is_fully_addressable") and not value.is_fully_addressable:  # of JAX
        value = value.addressable_data(0)
    if hasattr(value, "detach"):  # of torch
        value = value.detach().cpu()
    return numpy.asarray(variable.numpy() if callable(value) else value)


def _is_one_jax():
    jax = sys.modules.get("jax")
    keras = sys.modules.get("keras")
    return jax is not None and keras is not None and keras.backend.backend() == "jax" and jax.process_count() > 1
