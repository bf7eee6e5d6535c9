"""Names of a model's variables that are the same in every process: Keras numbers what has no name of its own (dense_3) by what the process has made
before."""

import re

_ALWAYS_NUMBERED = {"seed_generator"}


class Names:
    """Gives dense_3, where it is the first Dense of the model, the name dense. Names that the script gave stay."""

    def __init__(self, model):
        self._kinds = {_snake_case(type(layer).__name__) for layer in _layers(model)} | _ALWAYS_NUMBERED
        self._own = {layer.name for layer in _layers(model) if not self._is_numbered(layer.name, _snake_case(type(layer).__name__))}
        self._numbers = {}  # kind -> {the number in this process: the number here}
        self._given = {}  # name -> how often

    def of(self, variable):
        """Of a weight: layer/kernel, without the model's own name."""
        text = getattr(variable, "path", None) or variable.name.split(":")[0]
        parts = text.split("/")
        if hasattr(variable, "path") and len(parts) > 2:
            parts = parts[1:]
        return "/".join(map(self._renumbered, parts))

    def unique(self, name):
        """The same name again gets a number."""
        self._given[name] = self._given.get(name, 0) + 1
        return name if self._given[name] == 1 else f"{name}~{self._given[name]}"

    def _renumbered(self, part):
        kind, number = _split(part)
        if kind not in self._kinds or part in self._own:
            return part
        seen = self._numbers.setdefault(kind, {})
        here = seen.setdefault(number, len(seen))
        return f"{kind}_{here}" if here else kind

    @staticmethod
    def _is_numbered(name, kind):
        return _split(name)[0] == kind


def _split(part):
    found = re.fullmatch(r"(.+?)(?:_(\d+))?", part)
    return (found[1], found[2] or "0") if found else (part, "0")


def _layers(model):
    return list(model._flatten_layers()) if hasattr(model, "_flatten_layers") else []


def _snake_case(name):
    """As Keras makes the name of a layer of that of its class."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
