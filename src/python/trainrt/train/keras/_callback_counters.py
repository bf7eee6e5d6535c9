"""What callbacks count while a model trains (EarlyStopping's wait and best), for checkpoints: their numbers that have changed since the beginning, but for
those that their constructors take (Keras 3 turns the sign of min_delta at the first epoch's end, in each process)."""

import functools
import inspect
import json

_PLAIN = (bool, int, float, type(None))


class Counted:
    def __init__(self, callbacks):
        self._callbacks = callbacks
        self._first = None  # of each callback, as it was when training began
        self._cached = (None, "{}")

    def begin(self, text):
        """Behind the callbacks' own on_train_begin(). The first time it puts back what the checkpoint has."""
        if self._first is not None:
            return
        self._first = [dict(_numbers(callback)) for callback in self._callbacks]
        for key, numbers in json.loads(text).items():
            number, kind = key.split(" ", 1)
            if int(number) < len(self._callbacks) and type(self._callbacks[int(number)]).__name__ == kind:
                vars(self._callbacks[int(number)]).update(numbers)

    def text(self):
        now = [_numbers(callback) for callback in self._callbacks]
        if now != self._cached[0]:
            self._cached = ([dict(numbers) for numbers in now], self._changed(now))
        return self._cached[1]

    def _changed(self, now):
        found = {}
        for number, (callback, first, numbers) in enumerate(zip(self._callbacks, self._first, now)):
            changed = {name: value for name, value in numbers.items() if name not in first or value != first[name]}
            if changed:
                found[f"{number} {type(callback).__name__}"] = changed
        return json.dumps(found, sort_keys=True)


def _numbers(callback):
    """Numbers of NumPy as plain ones."""
    found = {name: value.item() if hasattr(value, "item") and getattr(value, "size", 2) == 1 else value for name, value in vars(callback).items()}
    settings = _settings(type(callback))
    return {name: value for name, value in found.items() if isinstance(value, _PLAIN) and name not in settings}


@functools.cache
def _settings(kind):
    return frozenset(name for each in kind.__mro__ if "__init__" in vars(each) and each is not object for name in inspect.signature(each.__init__).parameters)
