"""check_exact(), which checks that a training resumed from a checkpoint computes bit-identical tensors."""

from __future__ import annotations

from typing import Any, Callable

import torch

from . import _seeding
from ._contents import Contents

_OTHER_SEED = 987654321  # seed of the second run; random numbers that a checkpoint does not restore then differ from the first run


class NotExact(AssertionError):
    """Raised by check_exact() if a training resumed from a checkpoint computes numbers that differ from those of the uninterrupted training.

    Examples
    --------
    >>> import torch
    >>> from trainrt.train.torch import NotExact, check_exact
    >>> model = torch.nn.Linear(2, 1)
    >>> def step():
    ...     with torch.no_grad():
    ...         model.weight.add_(torch.rand(1))       # no checkpoint restores these random numbers
    >>> try:
    ...     check_exact(step, model)
    ... except NotExact as error:
    ...     print(str(error).split(":")[0])
    step 1 after a checkpoint differs
    """


def check_exact(step_function: Callable[..., Any], module: torch.nn.Module, optimizer: Any = None, scheduler: Any = None, *, steps: int = 3,
                data: Any = None, **parts: Any) -> None:
    """Runs some steps, restores all state as a checkpoint would, repeats the steps, and compares all tensors. Collective.

    The check finds state that checkpoints do not contain, for example counters in the module, buffers that are not persistent, and random numbers
    that depend on more than the step. Call check_exact() before the training; at the end, check_exact() restores the initial state.

    Parameters
    ----------
    step_function : function
        Makes one training step. Called with a batch as argument if `data` is given.
    module, optimizer, scheduler, parts
        Objects to restore and compare, as in save_state().
    steps : int
        Number of steps.
    data : loader of prepare_data_loader(), optional

    Raises
    ------
    NotExact
        A tensor differs. The message names the step and the first tensor that differs.

    Examples
    --------
    >>> import torch
    >>> from trainrt.train.torch import check_exact
    >>> model = torch.nn.Linear(2, 1)
    >>> optimizer = torch.optim.AdamW(model.parameters())
    >>> def step():
    ...     optimizer.zero_grad()
    ...     model(torch.ones(4, 2)).square().mean().backward()
    ...     optimizer.step()
    >>> check_exact(step, model, optimizer)
    """
    contents = Contents({"model": module, "optimizer": optimizer, "scheduler": scheduler, "data": data, **parts})
    begin = _taken(contents)
    try:
        first = _run(step_function, steps, data, contents)
        _put_back(contents, begin)
        _seeding.seed_all(_OTHER_SEED)
        second = _run(step_function, steps, data, contents)
    finally:
        _put_back(contents, begin)
    for number, (one, other) in enumerate(zip(first, second), 1):
        different = _first_difference(one, other)
        if different:
            raise NotExact(f"step {number} after a checkpoint differs: {different}. The checkpoint lacks something that influences the step: random "
                           f"numbers that depend on more than the step (prepare_data_loader() seeds them), or an object that is not passed to "
                           f"save_state()")


def _run(step_function: Callable[..., Any], steps: int, data: Any, contents: Contents) -> list[Any]:
    """Makes `steps` steps and returns the state after each step."""
    states = []
    if data is None:
        for _ in range(steps):
            step_function()
            states.append(_taken(contents))
        return states
    for batch in data:
        step_function(batch)
        states.append(_taken(contents))
        if len(states) == steps:
            break
    return states


def _taken(contents: Contents) -> tuple[dict[Any, Any], dict[str, str]]:
    return {leaf.key: leaf.array.clone() for leaf in contents.refresh()}, contents.texts()


def _put_back(contents: Contents, state: tuple[dict[Any, Any], dict[str, str]]) -> None:
    tensors, texts = state
    for leaf in contents.refresh():
        leaf.array.copy_(tensors[leaf.key])
    contents.take(texts)


def _first_difference(one: Any, other: Any) -> str | None:
    for key, tensor in one[0].items():
        if not _same_bits(tensor, other[0][key]):
            apart = (tensor.double() - other[0][key].double()).abs().max().item()
            return f"tensor '{key if isinstance(key, str) else key[0]}', by up to {apart:.3g}"
    return next((f"'{name}' was {text} at first, and {other[1][name]} when the steps were repeated from the checkpoint"
                 for name, text in one[1].items() if text != other[1][name]), None)


def _same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Returns whether all bits are equal; a NaN equals the same NaN."""
    as_bytes = [each.reshape(-1).contiguous().view(torch.uint8) for each in (one, other)]
    return torch.equal(*as_bytes)
