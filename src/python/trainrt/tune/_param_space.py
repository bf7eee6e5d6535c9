"""A param_space: from nested dicts of values and domains to names and texts of [tune.space], and back to a config."""

import json
import os
import re
import secrets
from dataclasses import dataclass
from typing import Any

from ..train._config._recorded_values import flat_texts, value_text
from .._support._value_json import decoded, encoded
from ._nested_values import domains_in, leaves, name_of, replaced
from ._spaces import Categorical, Domain, Function, from_json
from ._spec import with_functions

_OTHER = re.compile(r"[^\w/-]")
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_/-]*")


class ParamSpace:
    """`mutated`: {path: Domain}, what a scheduler changes along the way: such a value is part of the search even if it is given."""

    def __init__(self, param_space, mutated=None):
        if not isinstance(param_space, dict):
            raise TypeError(f"Tuner(param_space=...) must be a dict, not a {type(param_space).__name__}")
        self._fixed, self._functions, self._domains = [], [], {}
        self._alternatives = {}  # {(name of a choice, index of its value): _Alternative}, of values with domains in them
        self._paths = {}  # {name: path} of all values
        mutated = dict(mutated or {})
        found = list(leaves(param_space, mutated.__contains__))
        for path, value in found:
            self._claim(path)
            if path not in mutated:
                for inner, _ in domains_in(value, path):
                    if inner != path:
                        self._claim(inner)
        for path, value in found:
            self._take(path, value, mutated.pop(path, None))
        for path in mutated:
            raise ValueError(f"hyperparam_mutations has '{name_of(path)}', which param_space does not: give it its first value there")

    def json(self):
        """What from_json() makes the same of; None if a value of it has no form in JSON."""
        if self._functions or any(each.functions for each in self._alternatives.values()):
            return None
        try:
            made = {"encoding": 2, "fixed": [[encoded(list(path)), encoded(value)] for path, value in self._fixed], "functions": [],
                    "domains": [[name, encoded(list(path)), *self._domain_json(name, domain), mutation.json() if mutation else None]
                                for name, (path, domain, mutation) in self._domains.items()],
                    "alternatives": [[name, index, encoded(each.tree), [[encoded(list(path)), inner] for path, inner in each.slots]]
                                     for (name, index), each in self._alternatives.items()]}
            return json.loads(json.dumps(made))
        except TypeError:
            return None

    def _domain_json(self, name, domain):
        """[the given value, the domain]: one of them is None."""
        if isinstance(domain, _Given):
            return [encoded(domain.given), None]
        alternatives = {index: each.tree for (owner, index), each in self._alternatives.items() if owner == name}
        return [None, domain.json(alternatives) if alternatives else domain.json()]

    @classmethod
    def from_json(cls, made):
        read = decoded if "encoding" in made else lambda value: value
        space = cls({})
        space._fixed = [(tuple(read(path)), read(value)) for path, value in made["fixed"]]
        for name, path, given, domain, mutation in made["domains"]:
            changes = from_json(mutation) if mutation else None
            space._domains[name] = (tuple(read(path)), from_json(domain) if domain else _Given(read(given), changes), changes)
        for name, index, tree, slots in made.get("alternatives", ()):
            space._alternatives[name, index] = _Alternative(read(tree), [(tuple(read(path)), inner) for path, inner in slots], [])
        return space

    def _claim(self, path):
        """Names tell values apart in the sweep's config and in tables."""
        name = name_of(path)
        if name in self._paths:
            raise ValueError(f"param_space has two values of the name '{name}': at {self._paths[name]!r} and at {path!r}. Rename one: names are texts, and "
                             f"'/' stands between the keys of dicts")
        self._paths[name] = path

    def _take(self, path, value, mutation):
        if mutation is not None:
            if any(True for each in getattr(mutation, "values", ()) for _ in domains_in(each)):
                raise ValueError(f"hyperparam_mutations: a value of '{name_of(path)}' has a domain in it; give values")
            domain = next((each for inner, each in domains_in(value, path) if inner == path), None)
            self._domains[self._name_of(path)] = (path, domain if domain is not None else _Given(value, mutation), mutation)
            return
        inner = list(domains_in(value, path))
        if not inner or inner[0][0] != path:  # a domain alone leaves nothing that is fixed
            for place, _ in inner:
                value = replaced(value, place[len(path):], None)
            self._fixed.append((path, value))
        for place, domain in inner:
            if isinstance(domain, Function):
                self._functions.append((place, domain.function))
            else:
                self._add(place, domain)

    def _add(self, path, domain):
        """Returns the domain's name. Of a choice also what is drawn within its values, whether that value is chosen or not."""
        name = self._name_of(path)
        self._domains[name] = (path, domain, None)
        for index, value in enumerate(domain.values if isinstance(domain, Categorical) else ()):
            inner = list(domains_in(value))
            if inner:
                self._alternatives[name, index] = self._alternative(path, index, value, inner)
        return name

    def _alternative(self, path, index, value, inner):
        slots, functions = [], []
        for place, domain in inner:
            if isinstance(domain, Categorical) and domain.kind == "grid":
                raise ValueError(f"param_space: '{name_of(path)}' has a grid_search within its values, which would multiply all trials; use tune.choice() "
                                 f"there, or make the grid a value of its own")
            if isinstance(domain, Function):
                functions.append((place, domain.function))
            else:
                slots.append((place, self._add((*path, index, *place), domain)))
            value = replaced(value, place, None)
        return _Alternative(value, slots, functions)

    def _name_of(self, path):
        name = name_of(path)
        if _PLAIN.fullmatch(name) and name not in self._domains:
            return name
        number = len(self._domains)
        while f"param{number}" in self._domains or f"param{number}" in self._paths:
            number += 1
        return f"param{number}"

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
                found.update(flat_texts({str(path[-1]): value}, ".".join(["param_space", *map(_key_of, path[:-1])])))
        for path, function in self._functions:
            found[".".join(["param_space", *map(_key_of, path)])] = f"sample_from({value_text(function)})"
        for path, domain, mutation in self._domains.values():
            values = [values_of for one in (domain, mutation) for values_of in _hidden_values(one)]
            if values:
                found[".".join(["param_space", *map(_key_of, path)])] = value_text(values)
        return found

    def config(self, texts, trial):
        """The config of a trial, by the texts of its values: {name: text}. What functions draw is the same at each start of it."""
        config, functions = {}, list(self._functions)
        for path, value in self._fixed:
            config = replaced(config, path, value)
        within = {inner for each in self._alternatives.values() for _, inner in each.slots}
        for name, (path, _, _) in self._domains.items():
            if name not in within:
                config = replaced(config, path, self._drawn(name, texts, path, functions))
        return with_functions(config, functions, trial)

    def _drawn(self, name, texts, path, functions):
        """The value of that domain, which is at `path` of the config; its functions are added to `functions`."""
        _, domain, mutation = self._domains[name]
        index = domain.texts.index(texts[name]) if isinstance(domain, Categorical) and texts[name] in domain.texts else None
        alternative = self._alternatives.get((name, index))
        if alternative is None:
            return _value(texts[name], domain, mutation)
        tree = alternative.tree
        for place, inner in alternative.slots:
            tree = replaced(tree, place, self._drawn(inner, texts, (*path, *place), functions))
        functions += [((*path, *place), function) for place, function in alternative.functions]
        return tree


@dataclass
class _Alternative:
    """A value of a choice, with None where its domains are: `slots`, [(path, name of the domain)], and `functions`, [(path, function)]."""

    tree: Any
    slots: list
    functions: list


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
