"""A callback that Keras 2 and Keras 3 take alike, whichever of them is imported: what their lists of callbacks ask of one, and nothing of either."""

EVENTS = ("epoch_begin", "epoch_end", "train_batch_begin", "train_batch_end", "test_batch_begin", "test_batch_end", "predict_batch_begin",
          "predict_batch_end", "train_begin", "train_end", "test_begin", "test_end", "predict_begin", "predict_end")
_NUMBERED = ("epoch", "batch")


class EventCallback:
    """`_handle(event, number, logs)` is called for the events in `on`, where number is that of the epoch or batch, else None."""

    _supports_tf_logs = True
    _chief_worker_only = None
    validation_data = None

    def __init__(self, on):
        unknown = [event for event in on if event not in EVENTS]
        if unknown:
            raise ValueError(f"there is no event {unknown[0]!r} in Keras; it must be one of {', '.join(EVENTS)}")
        self._on = frozenset(on)
        self.params = None
        self._model = None

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self._model = model

    @property
    def model(self):
        """With its variables as they are now: in the middle of an epoch Keras on JAX has them elsewhere."""
        return synchronized(self._model)

    @property
    def async_safe(self):
        """Keras 3 asks: another thread may call what does nothing."""
        return not any("batch" in event for event in self._on)

    def _handle(self, event, number, logs):
        raise NotImplementedError

    def _implements_train_batch_hooks(self):
        return self._implements("train_batch")

    def _implements_test_batch_hooks(self):
        return self._implements("test_batch")

    def _implements_predict_batch_hooks(self):
        return self._implements("predict_batch")

    def _implements(self, kind):
        return any(event.startswith(kind) for event in self._on)

    def on_batch_begin(self, batch, logs=None):
        pass

    def on_batch_end(self, batch, logs=None):
        pass

    on_batch_begin._is_default = on_batch_end._is_default = True  # as Keras marks what nobody has overridden


def synchronized(model):
    inner = getattr(model, "module", None)  # of torch's DistributedDataParallel
    if hasattr(inner, "optimizer") and not hasattr(model, "optimizer"):
        model = inner
    if hasattr(model, "jax_state_sync"):
        model.jax_state_sync()
    return model


def _method(event):
    if any(word in event for word in _NUMBERED):
        def handle(self, number, logs=None):
            if event in self._on:
                self._handle(event, number, logs)
    else:
        def handle(self, logs=None):
            if event in self._on:
                self._handle(event, None, logs)
    handle.__name__ = f"on_{event}"
    return handle


for each in EVENTS:
    setattr(EventCallback, f"on_{each}", _method(each))
