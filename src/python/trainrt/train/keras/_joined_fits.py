"""Several calls of model.fit() that are one to callbacks and optimizer: they begin once, and end once."""


class Spanned:
    """A context manager. Its `callbacks` are the user's, whose on_train_begin() is called in the first fit() alone, and on_train_end() at the end."""

    def __init__(self, model, callbacks):
        self._model = model
        self.callbacks = callbacks
        self.history = None
        self._fits = 0
        self._ends = []

    def __enter__(self):
        for callback in self.callbacks:
            self._ends.append((callback, callback.on_train_end))
            callback.on_train_begin = self._once(callback.on_train_begin)
            callback.on_train_end = _nothing
        finalize = getattr(self._model.optimizer, "finalize_variable_values", None)
        if finalize is not None:  # of a moving average of the weights: it replaces them at the end
            self._model.optimizer.__dict__["finalize_variable_values"] = _nothing
        return self

    def __exit__(self, kind, error, trace):
        self._model.optimizer.__dict__.pop("finalize_variable_values", None)
        for callback in self.callbacks:
            vars(callback).pop("on_train_begin", None)
            vars(callback).pop("on_train_end", None)
        if kind is None and self._fits:
            self._end()

    def _end(self):
        optimizer = self._model.optimizer
        if hasattr(optimizer, "finalize_variable_values"):
            optimizer.finalize_variable_values(self._model.trainable_variables)
        logs = {name: values[-1] for name, values in self.history.history.items() if values}
        for _, end in self._ends:
            end(logs)

    def _once(self, begin):
        def on_train_begin(logs=None):
            if not self._fits:
                begin(logs)
        return on_train_begin

    def take_history(self):
        """Of the fit() that has ended."""
        self._fits += 1
        now, before = self._model.history, self.history
        if before is not None:
            now.epoch[:0] = before.epoch
            now.history = {name: before.history.get(name, []) + values for name, values in now.history.items()}
        self.history = now


def _nothing(*_, **__):
    pass
