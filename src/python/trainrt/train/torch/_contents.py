"""Named contents of a checkpoint of torch: modules, optimizers, schedulers, loaders, tensors and values."""

from __future__ import annotations

from typing import Any

import torch

from ..._client.values import kind_of
from . import _plain_state
from ._leaves import Leaf, module_leaves, named_parameters, unwrapped
from ._optimizer_state import OptimizerPart

_VALUES = (bool, int, float, str)


class _ModulePart:
    def __init__(self, name, module):
        self._name, self._module = name, module

    def leaves(self):
        return module_leaves(self._name, self._module)


class _TensorPart:
    def __init__(self, name, tensor, part_of_sum=False):
        self._name, self._tensor, self._part_of_sum = name, tensor, part_of_sum

    def leaves(self):
        return [Leaf(self._name, self._tensor, part_of_sum=self._part_of_sum)]


class _PlainPart:
    """An object with state_dict() and load_state_dict(), for example a scheduler, whose state consists of numbers and strings."""

    def __init__(self, name, stateful):
        self._name, self._stateful = name, stateful

    def text(self):
        return _plain_state.value_text(self._name, self._stateful.state_dict())

    def take(self, text):
        self._stateful.load_state_dict(_plain_state.from_text(text, self._stateful.state_dict()))


class Contents:
    """Objects that a checkpoint saves and restores. `things` is {name: module, optimizer, object with state_dict(), tensor, bool, int, float or str}.
    `sums` is {name: tensor}: the checkpoint stores the sum of these tensors over the ranks. Raises TypeError or ValueError for an unsupported object."""

    def __init__(self, things: dict[str, Any], sums: dict[str, torch.Tensor] | None = None) -> None:
        self.values: dict[str, Any] = {}
        self._parts: dict[str, Any] = {}
        self._things = {name: thing for name, thing in things.items() if thing is not None}
        self._sums = dict(sums or {})
        names, shares = _parameter_names(self._things)
        for name, thing in self._things.items():
            self._add(name, thing, names, shares)
        for name, tensor in self._sums.items():
            if name in self._things:
                raise ValueError(f"the name '{name}' was given twice; each name must be unique")
            self._parts[name] = _TensorPart(name, tensor, part_of_sum=True)
        self.leaves: list[Leaf] = []
        self.refresh()
        self.texts()

    def refresh(self) -> list[Leaf]:
        """Returns a new list of leaves with the current tensors of all objects, and keeps it in `leaves`."""
        self.leaves = [leaf for part in self._parts.values() if hasattr(part, "leaves") for leaf in part.leaves()]
        return self.leaves

    def exchange(self) -> None:
        """Exchanges optimizer state between ranks before a checkpoint, if FullyShardedDataParallel has sharded parameters. Collective."""
        for part in self._parts.values():
            if hasattr(part, "exchange"):
                part.exchange()

    def texts(self) -> dict[str, str]:
        """Returns the state that is not in tensors, as a dict {"NAME_state": JSON}."""
        return {f"{name}_state": part.text() for name, part in self._parts.items() if hasattr(part, "text")}

    def take(self, texts: dict[str, str]) -> None:
        """Restores all objects from `texts`, a result of texts(), and from the leaves. The caller has loaded the leaves' arrays before."""
        for leaf in self.leaves:
            leaf.put_back()
        for name, part in self._parts.items():
            if hasattr(part, "take"):
                part.take(texts[f"{name}_state"])

    def checked_values(self, things: dict[str, Any], function: str = "save_state") -> dict[str, Any]:
        """Returns the bools, numbers and strings among `things`, which `function` was given. Raises ValueError if load_state() was given another object
        under a name."""
        given = {name: thing for name, thing in things.items() if thing is not None}
        lacking = [name for name in given if name not in self._things]
        if lacking:
            raise ValueError(f"{function}() was given '{lacking[0]}', which was not passed to load_state(): pass it to load_state(), too")
        for name, thing in given.items():
            known = self._things[name]
            if not isinstance(known, _VALUES) and _inner(thing) is not _inner(known):
                raise ValueError(f"{function}() was given a '{name}' that is not the object given to load_state(): pass the same object to both, and "
                                 f"change it in place")
        return {name: thing for name, thing in given.items() if name in self.values}

    def _add(self, name: str, thing: Any, parameter_names: dict[int, str], shares: dict[int, list]) -> None:
        if isinstance(thing, torch.nn.Module):
            self._parts[name] = _ModulePart(name, thing)
        elif isinstance(thing, torch.Tensor):
            self._parts[name] = _TensorPart(name, thing)
        elif isinstance(_inner(thing), torch.optim.Optimizer):
            self._parts[name] = OptimizerPart(name, _inner(thing), parameter_names, shares)
            if getattr(thing, "scaler", None) is not None:  # an optimizer of prepare_optimizer()
                self._parts[f"{name}_scaler"] = _PlainPart(f"{name}_scaler", thing.scaler)
        elif isinstance(thing, _VALUES):
            self.values[name] = thing
        elif hasattr(thing, "state_dict") and hasattr(thing, "load_state_dict"):
            self._parts[name] = _PlainPart(name, thing)
        elif isinstance(thing, torch.utils.data.DataLoader):
            raise TypeError(f"'{name}' is a DataLoader without a saved position: pass it through prepare_data_loader() first")
        else:
            raise TypeError(f"'{name}' is {kind_of(thing)}, which checkpoints do not support: it must be a module, an optimizer, an object "
                            f"with state_dict() and load_state_dict(), a tensor, a bool, an int, a float or a str")


def _inner(thing: Any) -> Any:
    """Returns the optimizer or module inside a wrapper such as DistributedDataParallel, or `thing` if it is not wrapped."""
    if isinstance(thing, torch.nn.Module):
        return unwrapped(thing)
    optimizer = getattr(thing, "optimizer", None)
    wraps = isinstance(optimizer, torch.optim.Optimizer) and hasattr(thing, "zero_grad")
    return optimizer if wraps else thing


def _parameter_names(things: dict[str, Any]) -> tuple[dict[int, str], dict[int, list]]:
    """Returns {id(parameter): name} of all parameters and {id(parameter): [(name, Share)]} of parameters in flat arrays. The names of the second and
    later modules begin with the module's name."""
    names: dict[int, str] = {}
    shares: dict[int, list] = {}
    is_first = True
    for name, thing in things.items():
        if isinstance(thing, torch.nn.Module):
            prefix, is_first = ("" if is_first else f"{name}."), False
            for own, parameter, share in named_parameters(thing):
                names.setdefault(id(parameter), prefix + own)
                if share is not None:
                    shares.setdefault(id(parameter), []).append((prefix + own, share))
        elif isinstance(thing, torch.Tensor):
            names.setdefault(id(thing), name)
    return names, shares
