"""StableNames: names of a model's variables that are equal in every process.

Keras numbers unnamed layers (dense_3) by the layers that the process has created.
"""

import re

_ALWAYS_NUMBERED = {"seed_generator"}


class StableNames:
    """Renames numbered layers by their order in the model: dense_3 becomes dense if it is the first Dense. Names that the script chose are kept."""

    def __init__(self, model):
        self._kinds = {_snake_case(type(layer).__name__) for layer in _layers(model)} | _ALWAYS_NUMBERED
        self._chosen = {layer.name for layer in _layers(model) if _split(layer.name)[0] != _snake_case(type(layer).__name__)}
        self._numbers = {}  # numbers of layers in the model by class and number in this process
        self._uses = {}  # number of calls of unique(), by name

    def of(self, variable):
        """Returns the name of a weight, such as dense/kernel, without the name of the model."""
        text = getattr(variable, "path", None) or variable.name.split(":")[0]
        parts = text.split("/")
        if hasattr(variable, "path") and len(parts) > 2:
            parts = parts[1:]
        return "/".join(map(self._renumbered, parts))

    def unique(self, name):
        """Returns `name` at its first use, and later name~2, name~3 and so on."""
        self._uses[name] = self._uses.get(name, 0) + 1
        return name if self._uses[name] == 1 else f"{name}~{self._uses[name]}"

    def _renumbered(self, part):
        kind, number = _split(part)
        if kind not in self._kinds or part in self._chosen:
            return part
        seen = self._numbers.setdefault(kind, {})
        new = seen.setdefault(number, len(seen))
        return f"{kind}_{new}" if new else kind


def _split(part):
    found = re.fullmatch(r"(.+?)(?:_(\d+))?", part)
    return (found[1], found[2] or "0") if found else (part, "0")


def _layers(model):
    return list(model._flatten_layers()) if hasattr(model, "_flatten_layers") else []


def _snake_case(name):
    """Returns the name that Keras derives for a layer from the name of its class."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
