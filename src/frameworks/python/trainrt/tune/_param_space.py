"""A param_space: from nested dicts of values and domains to names and texts of [tune.space], and back to a config."""

import inspect
import json
import os
import random
import re
import secrets
from types import SimpleNamespace

from ..train._recorded_values import text_of, texts
from ._spaces import Categorical, Domain, Function, from_json

_OTHER = re.compile(r"[^\w/-]")
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_/-]*")


def _as_domain(value):
    """A domain, or None of a value that is the same for all trials."""
    if isinstance(value, Domain):
        return value
    if isinstance(value, dict) and set(value) == {"grid_search"}:
        if not isinstance(value["grid_search"], (list, tuple)):
            raise ValueError(f"{{'grid_search': {value['grid_search']!r}}}: it must be a list of values")
        return Categorical(value["grid_search"], "grid")
    return None


def _walk(value, path=()):
    """(path, value) of all that is no dict, or is a domain."""
    if isinstance(value, dict) and _as_domain(value) is None and value:
        for key, inner in value.items():
            yield from _walk(inner, (*path, key))
    else:
        yield path, value


class ParamSpace:
    """`mutated`: {path: Domain}, what a scheduler changes along the way: such a value is part of the search even if it is given."""

    def __init__(self, param_space, mutated=None):
        if not isinstance(param_space, dict):
            raise TypeError(f"Tuner(param_space=...) must be a dict, not a {type(param_space).__name__}")
        self._fixed, self._functions, self._domains = [], [], {}
        mutated = dict(mutated or {})
        for path, value in _walk(param_space):
            self._take(path, value, mutated.pop(path, None))
        for path in mutated:
            raise ValueError(f"hyperparam_mutations has '{'/'.join(map(str, path))}', which param_space does not: give it its first value there")

    def json(self):
        """What from_json() makes the same of; None if a value of it is no JSON."""
        try:
            made = {"fixed": self._fixed, "functions": [path for path, _ in self._functions],
                    "domains": [[name, path, domain.given if isinstance(domain, _Given) else None, domain.json() if not isinstance(domain, _Given)
                                 else None, mutation.json() if mutation else None] for name, (path, domain, mutation) in self._domains.items()]}
            return json.loads(json.dumps(made)) if not self._functions else None
        except TypeError:
            return None

    @classmethod
    def from_json(cls, made):
        space = cls({})
        space._fixed = [(tuple(path), value) for path, value in made["fixed"]]
        for name, path, given, domain, mutation in made["domains"]:
            changes = from_json(mutation) if mutation else None
            space._domains[name] = (tuple(path), from_json(domain) if domain else _Given(given, changes), changes)
        return space

    def _take(self, path, value, mutation):
        domain = _as_domain(value)
        if isinstance(domain, Function):
            self._functions.append((path, domain.function))
        elif domain is not None or mutation is not None:
            self._domains[self._name_of(path)] = (path, domain if domain is not None else _Given(value, mutation), mutation)
        else:
            self._fixed.append((path, value))

    def _name_of(self, path):
        name = "/".join(map(str, path))
        return name if _PLAIN.fullmatch(name) else f"param{len(self._domains)}"

    def section(self):
        """{name: text} of [tune.space]; one that is empty is not allowed there."""
        return {name: domain.text() for name, (_, domain, _) in self._domains.items()} or {"all": "0"}

    def mutations(self):
        """{name: text} of [tune.mutations]."""
        return {name: domain.text() for name, (_, _, domain) in self._domains.items() if domain is not None}

    def recorded(self):
        """{key: text}: what the names and texts of section() and mutations() do not tell: fixed values, values of a choice that are no plain
        texts, the names of functions."""
        found = {}
        for path, value in self._fixed:
            if path:
                found.update(texts({str(path[-1]): value}, ".".join(["param_space", *map(_key_of, path[:-1])])))
        for path, function in self._functions:
            found[".".join(["param_space", *map(_key_of, path)])] = f"sample_from({text_of(function)})"
        for path, domain, mutation in self._domains.values():
            values = [values_of for one in (domain, mutation) for values_of in _hidden_values(one)]
            if values:
                found[".".join(["param_space", *map(_key_of, path)])] = text_of(values)
        return found

    def config(self, texts, trial):
        """The config of a trial, by the texts of its values: {name: text}. What functions draw is the same at each start of it."""
        config = {}
        for path, value in self._fixed:
            _put(config, path, value)
        for name, (path, domain, mutation) in self._domains.items():
            _put(config, path, _value(texts[name], domain, mutation))
        if self._functions:
            _seed(trial)
        for path, function in self._functions:
            _put(config, path, _called(function, config))
        return config


def _key_of(part):
    return _OTHER.sub("_", str(part)) or "_"


def _hidden_values(domain):
    """The lists of values that the domain's text does not show."""
    if isinstance(domain, _Given) and not isinstance(domain.given, (bool, int, float, str)):
        yield domain.given
    if isinstance(domain, Categorical) and [str(value) for value in domain.values] != domain.texts:
        yield domain.values


_FILE = "tuner.json"  # in the sweep's directory


def write_space(folder, space):
    """For restore(), which may be given no param_space; if it is JSON. All or nothing."""
    made = space.json()
    path = os.path.join(folder, _FILE)
    if made is None or os.path.exists(path):
        return
    temporary = f"{path}.{secrets.token_hex(8)}"
    with open(temporary, "x", encoding="utf-8") as file:
        json.dump({"format": "trainrt tuner 1", "param_space": made}, file)
    os.replace(temporary, path)


def read_space(folder):
    """OSError, ValueError or KeyError if there is none."""
    with open(os.path.join(folder, _FILE), encoding="utf-8") as file:
        return ParamSpace.from_json(json.load(file)["param_space"])


class _Given(Domain):
    """One value at first, which a mutation changes."""

    def __init__(self, value, mutation):
        self.given = value
        self._text = mutation.texts[mutation.values.index(value)] if isinstance(mutation, Categorical) and value in mutation.values else str(value)

    def text(self):
        return self._text

    def value(self, text):
        return self.given if text == self._text else None


def _value(text, domain, mutation):
    """What is drawn may have become what the mutation says."""
    try:
        found = domain.value(text)
    except ValueError:
        found = None
    return mutation.value(text) if found is None and mutation is not None else found


def _put(config, path, value):
    for key in path[:-1]:
        config = config.setdefault(key, {})
    if path:
        config[path[-1]] = value


def _called(function, config):
    return function(SimpleNamespace(config=SimpleNamespace(**config), get=config.get)) if inspect.signature(function).parameters else function()


def _seed(trial):
    random.seed(trial)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(trial)
