"""EventCallback: a callback that both Keras 2 and Keras 3 accept. It has the attributes that their callback lists use, and inherits from neither."""

from typing import Any, Callable

EVENTS = ("epoch_begin", "epoch_end", "train_batch_begin", "train_batch_end", "test_batch_begin", "test_batch_end", "predict_batch_begin",
          "predict_batch_end", "train_begin", "train_end", "test_begin", "test_end", "predict_begin", "predict_end")
_NUMBERED = ("epoch", "batch")


class EventCallback:
    """Base class. `_handle(event, number, logs)` is called for the events of `events`; `number` is that of the epoch or batch, otherwise `None`.

    Raises ValueError for an unknown event.
    """

    on_epoch_begin: Callable[..., None]  # defined below, as the methods of all EVENTS
    on_epoch_end: Callable[..., None]
    _supports_tf_logs = True
    _chief_worker_only = None
    validation_data = None

    def __init__(self, events):
        unknown = [event for event in events if event not in EVENTS]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not an event of Keras; it must be one of {', '.join(EVENTS)}")
        self._events = frozenset(events)
        self.params = None
        self._model: Any = None

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self._model = model

    @property
    def model(self):
        """The model with the current values of its variables."""
        return synchronized(self._model)

    @property
    def async_safe(self):
        """Keras 3: whether another thread may call the callback."""
        return not any("batch" in event for event in self._events)

    def _handle(self, event, number, logs):
        raise NotImplementedError

    def _implements_train_batch_hooks(self):
        return self._implements("train_batch")

    def _implements_test_batch_hooks(self):
        return self._implements("test_batch")

    def _implements_predict_batch_hooks(self):
        return self._implements("predict_batch")

    def _implements(self, kind):
        return any(event.startswith(kind) for event in self._events)

    def on_batch_begin(self, batch, logs=None):
        pass

    def on_batch_end(self, batch, logs=None):
        pass

    on_batch_begin._is_default = on_batch_end._is_default = True  # type: ignore[attr-defined]  # Keras marks methods that are not overridden


def synchronized(model):
    """Returns the model, unwrapped from torch's DistributedDataParallel. On JAX, copies the state of the current epoch into its variables."""
    inner = getattr(model, "module", None)
    if hasattr(inner, "optimizer") and not hasattr(model, "optimizer"):
        model = inner
    if hasattr(model, "jax_state_sync"):
        model.jax_state_sync()
    return model


def _method(event):
    """Returns the method of EventCallback for an event."""

    def numbered(self, number, logs=None):
        if event in self._events:
            self._handle(event, number, logs)

    def unnumbered(self, logs=None):
        numbered(self, None, logs)

    method = numbered if any(word in event for word in _NUMBERED) else unnumbered
    method.__name__ = f"on_{event}"
    return method


for each in EVENTS:
    setattr(EventCallback, f"on_{each}", _method(each))
