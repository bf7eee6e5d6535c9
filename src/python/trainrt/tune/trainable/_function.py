"""FunctionTrainable and wrap_function(): functions as classes, by the names of Ray Tune."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .._class_trainable import Trainable
from .._resources.requests import requested_by


class FunctionTrainable(Trainable):
    """Base class of the classes of wrap_function(). A Tuner runs their function; the objects train nothing themselves.

    Examples
    --------
    >>> from trainrt.tune.trainable import FunctionTrainable, wrap_function
    >>> def train(config):
    ...     return {"loss": config["x"]}
    >>> issubclass(wrap_function(train), FunctionTrainable)
    True
    """

    _name = "func"

    def step(self) -> dict[str, Any]:
        """Always raises NotImplementedError: a function runs in the trial of a Tuner."""
        raise NotImplementedError(f"{self._name} is a function, which reports its results itself: run it by tune.Tuner() or tune.run()")

    def __repr__(self) -> str:
        return self._name


def wrap_function(train_func: Callable[..., Any], name: str | None = None) -> type[FunctionTrainable]:
    """Returns a class for the function, which Tuner(), tune.run() and register_trainable() accept like the function itself.

    Raises
    ------
    ValueError
        The function cannot be called with a config alone.

    Examples
    --------
    >>> from trainrt.tune.trainable import wrap_function
    >>> def train(config):
    ...     return {"loss": config["x"]}
    >>> wrap_function(train)({})
    train
    """
    try:
        inspect.signature(train_func).bind({})
    except TypeError as error:
        raise ValueError(f"wrap_function({getattr(train_func, '__name__', train_func)!r}): the function must have one parameter without a default, the config: "
                         f"{error}") from None

    def default_resource_request(_cls: type, config: dict[str, Any]) -> Any:
        return requested_by(train_func, config)

    return type("ImplicitFunc", (FunctionTrainable,), {"_name": name or getattr(train_func, "__name__", "func"), "_train_function": staticmethod(train_func),
                                                       "default_resource_request": classmethod(default_resource_request)})
