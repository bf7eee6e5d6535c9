"""JoinedFits: several calls of `model.fit()` that callbacks and optimizer see as one training."""

from typing import Any


class JoinedFits:
    """Context manager around several calls of `model.fit()`. `callbacks`: the callbacks to pass to each call; their on_train_begin() is called in the
    first call, and their on_train_end() after the last. `history`: the joined History, or `None`."""

    def __init__(self, model, callbacks):
        self._model = model
        self.callbacks = callbacks
        self.history: Any = None
        self._fits = 0
        self._ends = []  # (callback, its original on_train_end)

    def __enter__(self):
        for callback in self.callbacks:
            self._ends.append((callback, callback.on_train_end))
            callback.on_train_begin = self._once(callback.on_train_begin)
            callback.on_train_end = _do_nothing
        finalize = getattr(self._model.optimizer, "finalize_variable_values", None)
        if finalize is not None:  # replaces the weights with their moving average at the end of the training
            self._model.optimizer.__dict__["finalize_variable_values"] = _do_nothing
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
        """Joins the histories of the earlier calls of fit() and of the call that has just returned. Must be called after each call of fit()."""
        self._fits += 1
        now, before = self._model.history, self.history
        if before is not None:
            now.epoch[:0] = before.epoch
            now.history = {name: before.history.get(name, []) + values for name, values in now.history.items()}
        self.history = now


def _do_nothing(*_, **__):
    pass
