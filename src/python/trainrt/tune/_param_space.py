"""ParamSpace: converts a param_space of values and domains into keys of [tune.space], and the keys of a trial into its config."""

from __future__ import annotations

import json
import math
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._support._value_json import decoded, encoded
from ..train._config._recorded_values import flat_texts, value_text
from ._domain_json import from_json
from ._domains import Categorical, Domain
from ._nested_values import Path, domains_in, leaves, name_of, replaced
from ._spec import function_in, with_functions

_OTHER = re.compile(r"[^\w/-]")
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_/-]*")


class ParamSpace:
    """A param_space. Raises TypeError and ValueError if it is invalid.

    `mutated`, {path: Domain}, has the values that a scheduler changes during a trial. They are searched even if `param_space` has fixed values for them; if
    it has no values for them, their first values are drawn. `names`, {path: name}, has the keys of [tune.space] for domains at these paths."""

    def __init__(self, param_space: dict[str, Any], mutated: Mapping[Path, Domain] | None = None, names: Mapping[Path, str] | None = None) -> None:
        self._names = dict(names or {})
        self._fixed: list[tuple[Path, Any]] = []
        self._functions: list[tuple[Path, Callable[..., Any]]] = []
        self._domains: dict[str, tuple[Path, Domain, Domain | None]] = {}  # name -> (path, domain, mutation)
        self._alternatives: dict[tuple[str, int], _Alternative] = {}  # (name of a choice, index of its value) -> a value that contains domains
        self._paths: dict[str, Path] = {}  # name -> path, of all values
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
        for path, mutation in mutated.items():
            self._claim(path)
            self._domains[self._name_of(path)] = (path, mutation, mutation)

    def domains(self) -> dict[str, Domain]:
        """Returns the domains of the values that the searcher chooses, as {name: domain}."""
        return {name: domain for name, (_, domain, _) in self._domains.items()}

    def num_grid_points(self) -> int:
        """Returns the number of combinations of the values of all grids."""
        return math.prod(len(domain.values) for domain in self.domains().values() if isinstance(domain, Categorical) and domain.kind == "grid")

    def constant_list(self) -> tuple[str, list[Any]] | None:
        """Returns name and value of the first list in a space in which nothing is searched, or `None`: the user probably meant a grid_search()."""
        if self._domains or self._functions:
            return None
        return next(((name_of(path), value) for path, value in self._fixed if isinstance(value, list)), None)

    def top_level_keys(self) -> set[Any]:
        """Returns the keys of the config."""
        paths = [*(path for path, _ in self._fixed), *(path for path, _ in self._functions), *(path for path, _, _ in self._domains.values())]
        return {path[0] for path in paths if path}

    def json(self) -> dict[str, Any] | None:
        """Returns the space as JSON, which from_json() reads, or `None` if JSON cannot represent a value."""
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

    def _domain_json(self, name: str, domain: Domain) -> list[Any]:
        """Returns [the fixed value, the domain], one of which is `None`."""
        if isinstance(domain, _Given):
            return [encoded(domain.given), None]
        alternatives = {index: each.tree for (owner, index), each in self._alternatives.items() if owner == name}
        return [None, domain.json(alternatives) if isinstance(domain, Categorical) else domain.json()]

    @classmethod
    def from_json(cls, made: dict[str, Any]) -> ParamSpace:
        """Returns the space from a result of json(), of this or an earlier version."""
        read: Callable[[Any], Any] = decoded if "encoding" in made else lambda value: value
        space = cls({})
        space._fixed = [(tuple(read(path)), read(value)) for path, value in made["fixed"]]
        for name, path, given, domain, mutation in made["domains"]:
            changes = from_json(mutation) if mutation else None
            space._domains[name] = (tuple(read(path)), from_json(domain) if domain else _Given(read(given), changes), changes)
        for name, index, tree, slots in made.get("alternatives", ()):
            space._alternatives[name, index] = _Alternative(read(tree), [(tuple(read(path)), inner) for path, inner in slots], [])
        return space

    def _claim(self, path: Path) -> None:
        """Reserves the name of a value. Raises ValueError if another value has it: the sweep's config and tables identify values by name."""
        name = name_of(path)
        if name in self._paths:
            raise ValueError(f"param_space has two values with the name '{name}': at {self._paths[name]!r} and at {path!r}. Rename one: a name is "
                             f"the keys of the dicts, joined by '/'")
        self._paths[name] = path

    def _take(self, path: Path, value: Any, mutation: Domain | None) -> None:
        if mutation is not None:
            if any(True for each in getattr(mutation, "values", ()) for _ in domains_in(each)):
                raise ValueError(f"hyperparam_mutations: a value of '{name_of(path)}' contains a domain; use values only")
            domain = next((each for inner, each in domains_in(value, path) if inner == path), None)
            self._domains[self._name_of(path)] = (path, domain if domain is not None else _Given(value, mutation), mutation)
            return
        inner = list(domains_in(value, path))
        if not inner or inner[0][0] != path:  # otherwise the value is a domain, and nothing is fixed
            for place, _ in inner:
                value = replaced(value, place[len(path):], None)
            self._fixed.append((path, value))
        for place, domain in inner:
            function = function_in(domain)
            if function is not None:
                self._functions.append((place, function))
            else:
                self._add(place, domain)

    def _add(self, path: Path, domain: Domain) -> str:
        """Adds a domain and returns its name. If it is a choice, also adds the domains in its values, which are drawn even if the value is not chosen."""
        name = self._name_of(path)
        self._domains[name] = (path, domain, None)
        for index, value in enumerate(domain.values if isinstance(domain, Categorical) else ()):
            inner = list(domains_in(value))
            if inner:
                self._alternatives[name, index] = self._alternative(path, index, value, inner)
        return name

    def _alternative(self, path: Path, index: int, value: Any, inner: list[tuple[Path, Domain]]) -> _Alternative:
        slots: list[tuple[Path, str]] = []
        functions: list[tuple[Path, Callable[..., Any]]] = []
        for place, domain in inner:
            if isinstance(domain, Categorical) and domain.kind == "grid":
                raise ValueError(f"param_space: '{name_of(path)}' has a grid_search in its values, which would multiply all trials; use "
                                 f"tune.choice() there, or move the grid to the top level")
            function = function_in(domain)
            if function is not None:
                functions.append((place, function))
            else:
                slots.append((place, self._add((*path, index, *place), domain)))
            value = replaced(value, place, None)
        return _Alternative(value, slots, functions)

    def _name_of(self, path: Path) -> str:
        name = self._names.get(path) or name_of(path)
        if path in self._names or (_PLAIN.fullmatch(name) and name not in self._domains):
            return name
        number = len(self._domains)
        while f"param{number}" in self._domains or f"param{number}" in self._paths:
            number += 1
        return f"param{number}"

    def section(self) -> dict[str, str]:
        """Returns [tune.space], {name: text}, which must not be empty."""
        return {name: domain.text() for name, (_, domain, _) in self._domains.items()} or {"all": "0"}

    def mutations(self) -> dict[str, str]:
        """Returns [tune.mutations], {name: text}."""
        return {name: domain.text() for name, (_, _, domain) in self._domains.items() if domain is not None}

    def recorded(self) -> dict[str, str]:
        """Returns {key: text} for the values that section() and mutations() do not contain: fixed values, choices between other values than strings,
        names of functions."""
        found: dict[str, str] = {}
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

    def config(self, texts: Mapping[str, str], trial: int) -> Any:
        """Returns the config of trial number `trial`, which has the values `texts`, {name: text}. A restart draws the same values of sample_from()."""
        config: Any = {}
        functions = list(self._functions)
        for path, value in self._fixed:
            config = replaced(config, path, value)
        within = {inner for each in self._alternatives.values() for _, inner in each.slots}
        for name, (path, _, _) in self._domains.items():
            if name not in within:
                config = replaced(config, path, self._drawn(name, texts, path, functions))
        return with_functions(config, functions, trial)

    def _drawn(self, name: str, texts: Mapping[str, str], path: Path, functions: list[tuple[Path, Callable[..., Any]]]) -> Any:
        """Returns the value of the domain `name`, which is at `path` of the config. Functions in it are appended to `functions`."""
        _, domain, mutation = self._domains[name]
        index = domain.texts.index(texts[name]) if isinstance(domain, Categorical) and texts[name] in domain.texts else -1
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
    """A value of a choice that contains domains, with `None` in their places."""

    tree: Any
    slots: list[tuple[Path, str]]  # path and name of each domain
    functions: list[tuple[Path, Callable[..., Any]]]


def _key_of(part: Any) -> str:
    return _OTHER.sub("_", str(part)) or "_"


def _hidden_values(domain: Domain | None) -> Iterator[Any]:
    """Yields the fixed value, or the list of values of a choice, if the text of the domain does not show it exactly, for example an object."""
    if isinstance(domain, _Given) and not isinstance(domain.given, (bool, int, float, str)):
        yield domain.given
    if isinstance(domain, Categorical) and [str(value) for value in domain.values] != domain.texts:
        yield domain.values


_FILE = "tuner.json"  # file in the directory of the sweep


def write_space(folder: str, space: ParamSpace) -> None:
    """Writes the space into the directory of the sweep, for restore(). Does nothing if JSON cannot represent a value, or if the file exists. The file
    appears complete or not at all."""
    made = space.json()
    path = os.path.join(folder, _FILE)
    if made is None or os.path.exists(path):
        return
    temporary = f"{path}.{secrets.token_hex(8)}"
    with open(temporary, "x", encoding="utf-8") as file:
        json.dump({"format": "trainrt tuner 1", "param_space": made}, file)
    os.replace(temporary, path)


def read_space(folder: str) -> ParamSpace:
    """Returns the space of write_space(). Raises OSError, ValueError or KeyError if no space was written."""
    with open(os.path.join(folder, _FILE), encoding="utf-8") as file:
        return ParamSpace.from_json(json.load(file)["param_space"])


class _Given(Domain):
    """A fixed value, which a mutation may change later."""

    def __init__(self, value: Any, mutation: Domain | None) -> None:
        self.given = value
        self._text = mutation.texts[mutation.values.index(value)] if isinstance(mutation, Categorical) and value in mutation.values else str(value)

    def text(self) -> str:
        return self._text

    def value(self, text: str) -> Any:
        return self.given if text == self._text else None


def _value(text: str, domain: Domain, mutation: Domain | None) -> Any:
    """Returns the value that `text` represents in the domain or, if the domain does not contain it, in the mutation."""
    try:
        found = domain.value(text)
    except ValueError:
        found = None
    return mutation.value(text) if found is None and mutation is not None else found
