"""All that a checkpoint holds of a training in torch: modules, optimizers, schedulers, loaders, tensors and values, by name."""

import torch

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
    """Anything with state_dict() and load_state_dict(), of numbers and texts."""

    def __init__(self, name, stateful):
        self._name, self._stateful = name, stateful

    def text(self):
        return _plain_state.text_of(self._name, self._stateful.state_dict())

    def take(self, text):
        self._stateful.load_state_dict(_plain_state.from_text(text, self._stateful.state_dict()))


class Contents:
    """`things`: {name: module, optimizer, anything with a state_dict(), tensor, bool, int, float or str}; `sums`: {name: tensor}, this rank's parts
    of sums over the ranks."""

    def __init__(self, things, sums=None):
        self.values = {}
        self._parts = {}
        self._things = {name: thing for name, thing in things.items() if thing is not None}
        self._sums = dict(sums or {})
        names, shares = _parameter_names(self._things)
        for name, thing in self._things.items():
            self._add(name, thing, names, shares)
        for name, tensor in self._sums.items():
            if name in self._things:
                raise ValueError(f"the name '{name}' was given twice")
            self._parts[name] = _TensorPart(name, tensor, part_of_sum=True)
        self.leaves = []
        self.refresh()
        self.texts()

    def refresh(self):
        """Looks at all tensors as they are now; returns them as leaves."""
        self.leaves = [leaf for part in self._parts.values() if hasattr(part, "leaves") for leaf in part.leaves()]
        return self.leaves

    def meet(self):
        """What a rank must hear of the others before all is taken: of flat shards alone. Collective."""
        for part in self._parts.values():
            if hasattr(part, "meet"):
                part.meet()

    def texts(self):
        return {f"{name}_state": part.text() for name, part in self._parts.items() if hasattr(part, "text")}

    def take(self, texts):
        """After the arrays of the leaves were filled: everything is as it was when they were taken."""
        for leaf in self.leaves:
            leaf.put_back()
        for name, part in self._parts.items():
            if hasattr(part, "take"):
                part.take(texts[f"{name}_state"])

    def is_of(self, things):
        """Raises if a thing is another than the one that was loaded; returns the values."""
        given = {name: thing for name, thing in things.items() if thing is not None}
        lacking = [name for name in given if name not in self._things]
        if lacking:
            raise ValueError(f"save_state() was given '{lacking[0]}', which load_state() was not: a checkpoint's names are fixed when it is loaded")
        for name, thing in given.items():
            known = self._things[name]
            if not isinstance(known, _VALUES) and _inner(thing) is not _inner(known):
                raise ValueError(f"save_state() was given another '{name}' than load_state(): give both the same object, and change it in place")
        return {name: thing for name, thing in given.items() if name in self.values}

    def _add(self, name, thing, parameter_names, shares):
        if isinstance(thing, torch.nn.Module):
            self._parts[name] = _ModulePart(name, thing)
        elif isinstance(thing, torch.Tensor):
            self._parts[name] = _TensorPart(name, thing)
        elif isinstance(_inner(thing), torch.optim.Optimizer):
            self._parts[name] = OptimizerPart(name, _inner(thing), parameter_names, shares)
            if getattr(thing, "scaler", None) is not None:  # of prepare_optimizer()
                self._parts[f"{name}_scaler"] = _PlainPart(f"{name}_scaler", thing.scaler)
        elif isinstance(thing, _VALUES):
            self.values[name] = thing
        elif hasattr(thing, "state_dict") and hasattr(thing, "load_state_dict"):
            self._parts[name] = _PlainPart(name, thing)
        else:
            raise TypeError(f"'{name}' is a {type(thing).__name__}, which has no form in a checkpoint: it must be a module, an optimizer, anything with "
                            f"state_dict() and load_state_dict(), a tensor, a bool, an int, a float or a str")


def _inner(thing):
    """Of an optimizer in a wrapper, of a module in DDP."""
    if isinstance(thing, torch.nn.Module):
        return unwrapped(thing)
    optimizer = getattr(thing, "optimizer", None)
    wraps = isinstance(optimizer, torch.optim.Optimizer) and hasattr(thing, "zero_grad")
    return optimizer if wraps else thing


def _parameter_names(things):
    """id(parameter) -> its name, where those of the first module are the module's own; and, of what is in flat arrays, id(parameter) ->
    [(name, the Share of it)]."""
    names, shares, is_first = {}, {}, True
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
