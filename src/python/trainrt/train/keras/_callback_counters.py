"""CallbackCounters: numbers of callbacks that change during the training, such as EarlyStopping's `wait` and `best`, for checkpoints.

Arguments of constructors are not counters: Keras 3 changes the sign of EarlyStopping's `min_delta` at the end of the first epoch, in each process.
"""

import functools
import inspect
import json
from typing import Any

_PLAIN = (bool, int, float, type(None))


class CallbackCounters:
    """The changing numbers of a list of Keras callbacks, which checkpoints save and restore."""

    def __init__(self, callbacks):
        self._callbacks = callbacks
        self._first: Any = None  # numbers of each callback when training began
        self._cached: tuple[Any, str] = (None, "{}")  # numbers and text of the last call of text()

    def begin(self, text):
        """Restores the counters of a checkpoint, at the first call. Must be called after on_train_begin() of the callbacks."""
        if self._first is not None:
            return
        self._first = [dict(_numbers(callback)) for callback in self._callbacks]
        for key, numbers in json.loads(text).items():
            number, kind = key.split(" ", 1)
            if int(number) < len(self._callbacks) and type(self._callbacks[int(number)]).__name__ == kind:
                vars(self._callbacks[int(number)]).update(numbers)

    def text(self):
        """Returns the counters that have changed since begin(), as JSON."""
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
    """Returns the numbers among the attributes of a callback, except for arguments of its constructors. Scalars of NumPy become plain numbers."""
    found = {name: value.item() if hasattr(value, "item") and getattr(value, "size", 2) == 1 else value for name, value in vars(callback).items()}
    arguments = _constructor_arguments(callback.__class__)
    return {name: value for name, value in found.items() if isinstance(value, _PLAIN) and name not in arguments}


@functools.cache
def _constructor_arguments(kind):
    return frozenset(name for each in kind.__mro__ if "__init__" in vars(each) and each is not object for name in inspect.signature(each.__init__).parameters)
