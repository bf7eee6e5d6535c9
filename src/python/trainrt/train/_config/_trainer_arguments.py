"""Checks of a Trainer's arguments. Classes and first words of the errors are those of Ray Train."""

import inspect

from ._scaling import ScalingConfig


def checked(name, value, kind, error=TypeError):
    """Returns the value if it is `None` or a `kind`. Otherwise, raises `error`, of the class that Ray Train raises."""
    if value is not None and not isinstance(value, kind):
        path = "trainrt.train." if name == "run_config" else ""  # as in Ray's message
        raise error(f"`{name}` should be an instance of `{path}{kind.__name__}`, found {type(value)} with value `{value!r}`.")
    return value


def checked_scaling(config):
    searched = config.searched_fields() if isinstance(config, ScalingConfig) else ()
    if searched:
        raise ValueError(f"ScalingConfig({searched[0]}=...) is a domain, which only a Tuner can search: pass it as "
                         f"Tuner(param_space={{'scaling_config': ScalingConfig(...)}})")
    return checked("scaling_config", config, ScalingConfig, ValueError)


def checked_function(function):
    if not callable(function):
        raise TypeError(f"train_loop_per_worker={function!r}: it must be a function")
    try:
        required = [each for each in inspect.signature(function).parameters.values()
                    if each.default is each.empty and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):  # a built-in function without a signature
        return function
    if len(required) > 1:
        name = getattr(function, "__qualname__", repr(function))
        raise ValueError(f"train_loop_per_worker should take in 0 or 1 required arguments, but it accepts {len(required)} required arguments instead: "
                         f"{name}({', '.join(each.name for each in required)}). The one argument is the config")
    return function
