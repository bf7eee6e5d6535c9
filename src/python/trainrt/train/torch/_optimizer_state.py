"""Saves and restores the state of any optimizer, by parameter name. An optimizer creates its state in its first step, but load_state() needs the
names and shapes before. OptimizerPart therefore makes one step with zero gradients, and reverts the step."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from ..._client.values import kind_of
from .._sessions import _current
from . import _plain_state
from ._leaves import Leaf, path_of, share_leaves


class OptimizerPart:
    """The state of `optimizer` under `prefix` in the checkpoint. `names` is {id(parameter): name}; `shares`, for flat arrays, is
    {id(parameter): [(name, Share)]}. Raises TypeError or ValueError for an optimizer that checkpoints do not support."""

    def __init__(self, prefix: str, optimizer: Any, names: dict[int, str], shares: dict[int, list]) -> None:
        if type(optimizer).__name__ == "ZeroRedundancyOptimizer":
            raise TypeError("the state of a ZeroRedundancyOptimizer is stored on other ranks without names; shard the module by "
                            "torch.distributed.fsdp.fully_shard instead")
        self.prefix, self._optimizer = prefix, optimizer
        self._parameters: dict[str, Any] = {}
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if id(parameter) not in names:
                    raise ValueError(f"{prefix}: the optimizer has a parameter of shape {list(parameter.shape)} that is not in the given modules "
                                     f"and tensors. Pass the module of the parameter, too: load_state(module, optimizer, other=module)")
                self._parameters[names[id(parameter)]] = parameter
        self._shares = {name: shares[id(parameter)] for name, parameter in self._parameters.items() if id(parameter) in shares}
        self._forms = self._forms_of_state()
        self._tensors: dict[tuple[str, Any], Any] = {}
        self._copies: list[tuple[Any, Leaf]] = []  # (tensor, Leaf of another parameter in its flat array with an equal value)

    def leaves(self) -> list[Leaf]:
        """Returns the leaves of all state tensors. For a parameter without state so far, the tensors are zeros."""
        self._tensors = {(name, key): self._tensor(name, key, form) for name, keys in self._forms.items() for key, form in keys.items()
                         if isinstance(form, torch.Tensor)}
        self._copies = []
        return [leaf for (name, key), tensor in self._tensors.items() for leaf in self._leaves_of(name, key, tensor)]

    def exchange(self) -> None:
        """Copies numbers in the state, such as a count of steps, to ranks that hold no elements of a parameter. The rank that holds the parameter's
        first element sends them. On a rank without elements the optimizer skips the parameter and does not update the numbers. Collective."""
        cut = {name: shares[0][1] for name, shares in self._shares.items() if shares[0][1].is_cut and not self._is_flat(name)}
        if not cut:
            return
        state = self._optimizer.state
        mine = {name: {key: _number_of(value) for key, value in state[self._parameters[name]].items()}
                for name, share in cut.items() if share.count and share.first == 0 and state.get(self._parameters[name])}
        known = {name: values for each in _current.session().gather(mine) for name, values in each.items()}
        for name, share in cut.items():
            if share.count == 0:
                state.pop(self._parameters[name], None)
                if name in known:
                    forms = self._forms.get(name, {})
                    state[self._parameters[name]] = {key: _with_number(forms.get(key), value) for key, value in known[name].items()}

    def text(self) -> str:
        """Returns the state that is not in tensors as JSON: parameter groups, and numbers and strings per parameter."""
        plain = {each: {key: value for key, value in state.items() if not isinstance(value, torch.Tensor)}
                 for name, state in self._present() for each in self._names_of(name)}
        groups = [{key: value for key, value in group.items() if key != "params"} for group in self._optimizer.param_groups]
        return _plain_state.value_text(self.prefix, {"groups": groups, "state": plain})

    def take(self, text: str) -> None:
        """Restores the state from `text`, a result of text(), and from the leaves, whose arrays were loaded before. Raises ValueError if the saved
        state does not match the optimizer."""
        groups = [{key: value for key, value in group.items() if key != "params"} for group in self._optimizer.param_groups]
        plain: dict[str, dict] = {name: {} for name in self._parameters}
        taken = _plain_state.from_text(text, {"groups": groups, "state": plain})
        if len(taken["groups"]) != len(groups):
            raise ValueError(f"{self.prefix}: the checkpoint has {len(taken['groups'])} parameter groups, and this optimizer has {len(groups)}")
        for group, values in zip(self._optimizer.param_groups, taken["groups"]):
            group.update(values)
        for tensor, copy in self._copies:
            if not torch.equal(tensor, copy.array):
                raise ValueError(f"{copy.name} is {copy.array.item()} in the checkpoint, but {tensor.item()} for another parameter of the same flat "
                                 f"array, which has one value for all: wrap the module with use_orig_params=True")
        for name, parameter in self._parameters.items():
            self._optimizer.state.pop(parameter, None)
            if name in taken["state"]:
                tensors = {key: tensor for (owner, key), tensor in self._tensors.items() if owner == name}
                every = {**tensors, **taken["state"][name]}
                self._optimizer.state[parameter] = {key: every[key] for key in self._forms.get(name, every) if key in every}

    def _present(self) -> Iterator[tuple[str, dict]]:
        """Yields (name, state) of each parameter that has state. Raises ValueError if shapes or types have changed since load_state()."""
        for name, parameter in self._parameters.items():
            state = self._optimizer.state.get(parameter)
            if not state:
                continue
            forms = self._forms.get(name)
            if forms is None:
                raise ValueError(f"{self.prefix}/{path_of(name)}: the parameter has state now, but had none when load_state() was called. Set its "
                                 f"requires_grad and add its parameter group before load_state()")
            for key, value in state.items():
                if isinstance(value, torch.Tensor) != isinstance(forms.get(key), torch.Tensor):
                    raise ValueError(f"{self.prefix}/{path_of(name)}/{key} is now {kind_of(value)}, and was a "
                                     f"{type(forms.get(key)).__name__} when load_state() was called: the type must not change")
            yield name, state

    def _tensor(self, name, key, form):
        tensor = (self._optimizer.state.get(self._parameters[name]) or {}).get(key)
        if not isinstance(tensor, torch.Tensor):
            tensor = torch.zeros_like(form) if form.device.type != "meta" else torch.zeros(form.shape, dtype=form.dtype, device=form._original_device)
        return tensor

    def _leaves_of(self, name, key, tensor):
        if name not in self._shares:
            return [Leaf(f"{self.prefix}/{path_of(name)}/{key}", tensor)]
        leaves = []
        for number, (each, share) in enumerate(self._shares[name]):
            where = f"{self.prefix}/{path_of(each)}/{key}"
            if tensor.dim() and tensor.shape == self._parameters[name].shape:
                leaves += share_leaves(where, tensor, share)
            elif tensor.dim() == 0:
                leaves.append(Leaf(where, tensor.clone() if number else tensor))
                self._copies += [(tensor, leaves[-1])] if number else []
            else:
                raise TypeError(f"{where} has the shape {list(tensor.shape)}, neither that of this rank's part of the parameter nor of a number: "
                                f"checkpoints do not support "
                                f"the optimizer {type(self._optimizer).__name__} with FullyShardedDataParallel; use fully_shard()")
        return leaves

    def _names_of(self, name):
        return [each for each, _ in self._shares[name]] if name in self._shares else [name]

    def _is_flat(self, name: str) -> bool:
        """Returns whether the named parameter of the optimizer is a complete flat array of FullyShardedDataParallel."""
        return hasattr(self._parameters[name], "_shard_param_infos")

    def _forms_of_state(self) -> dict[str, dict]:
        """Returns the form of the state: {name: {key: tensor with the shape and type of the state tensor, or the value if it is not a tensor}}."""
        state = self._optimizer.state
        lacking = [parameter for parameter in self._parameters.values() if parameter.requires_grad and not state.get(parameter)]
        with contextlib.ExitStack() as undo:
            if lacking:
                _step_on_zeros(self._optimizer, lacking, undo)
            return {name: {key: self._form(name, key, value) for key, value in state[parameter].items()}
                    for name, parameter in self._parameters.items() if state.get(parameter)}

    def _form(self, name: str, key: Any, value: Any) -> Any:
        where = f"{self.prefix}/{path_of(name)}/{key}"
        if not isinstance(value, torch.Tensor):
            if isinstance(value, (list, tuple, dict)):
                raise TypeError(f"{where} is {kind_of(value)}, whose size changes from step to step: checkpoints do not support the "
                                f"optimizer {type(self._optimizer).__name__} as tensors; write its state_dict() to a file (trainrt.State.file)")
            _plain_state.value_text(where, value)
            return value
        if type(value) is not torch.Tensor:
            return value.detach()
        form = torch.empty_like(value, device="meta")
        form._original_device = value.device
        return form


def _number_of(value: Any) -> Any:
    """Returns the number in a tensor without axes, `None` for other tensors, and `value` itself if it is not a tensor."""
    return value if not isinstance(value, torch.Tensor) else value.item() if value.dim() == 0 else None


def _with_number(form: Any, number: Any) -> Any:
    """Returns `number`, as a tensor if `form` is a tensor. Returns zeros if `form` is a tensor with axes."""
    if not isinstance(form, torch.Tensor):
        return number
    tensor = torch.zeros(form.shape, dtype=form.dtype, device=form._original_device)
    return tensor.fill_(number) if tensor.dim() == 0 else tensor


@torch.no_grad()
def _step_on_zeros(optimizer: Any, parameters: list[Any], undo: contextlib.ExitStack) -> None:
    """Makes one step of `parameters` only, with zero gradients and a learning rate of 0. Closing `undo` reverts all changes. Raises TypeError for an
    optimizer that needs a closure."""
    every = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    undo.callback(_put_back, optimizer, [(each, each.grad) for each in every], [(each, each.clone()) for each in parameters],
                  [dict(group) for group in optimizer.param_groups])
    for each in every:
        each.grad = None
    for each in parameters:
        each.grad = torch.zeros_like(each)
    for group in optimizer.param_groups:
        if group.get("lr") is not None:
            group["lr"] = torch.zeros_like(group["lr"]) if isinstance(group["lr"], torch.Tensor) else 0.0
    hooks = {name: getattr(optimizer, name) for name in ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks") if hasattr(optimizer, name)}
    for name, value in hooks.items():
        setattr(optimizer, name, collections.OrderedDict())
        undo.callback(setattr, optimizer, name, value)
    try:
        type(optimizer).step(optimizer)  # step() of the instance may count steps for a scheduler
    except TypeError as error:
        raise TypeError(f"the optimizer {type(optimizer).__name__} makes no step without a closure ({error}), so its state is unknown before the "
                        f"training; write its state_dict() to a file (trainrt.State.file)") from None


@torch.no_grad()
def _put_back(optimizer, gradients, values, groups):
    for parameter, value in values:
        parameter.copy_(value)
        optimizer.state.pop(parameter, None)
    for parameter, gradient in gradients:
        parameter.grad = gradient
    for group, before in zip(optimizer.param_groups, groups):
        group.clear()
        group.update(before)
