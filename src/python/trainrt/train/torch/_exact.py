"""check_exact(): does a training continue from a checkpoint as if nothing had been?"""

import torch

from . import _seeding
from ._contents import Contents

_OTHER_SEED = 987654321  # of random numbers that no checkpoint brings back


class NotExact(AssertionError):
    """After a checkpoint the training went on with other numbers than without."""


def check_exact(step_function, module, optimizer=None, scheduler=None, *, steps=3, data=None, **parts):
    """Runs some steps, puts everything back as a checkpoint would, runs them again, and raises NotExact with the step and the name of the
    first tensor that differs. In the end all is as it was before, so call it in front of the training, with what save_state() is given.

    step_function() makes one step; with `data`, a loader of prepare_data_loader(), it is step_function(batch). On several ranks all call it.
    What no checkpoint holds is found this way: random numbers that do not follow from the step, counters in the module, buffers that are
    not persistent.
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
            raise NotExact(f"step {number} after a checkpoint differs: {different}. Something that influences it is in no checkpoint: random numbers "
                           f"that do not follow from the step (prepare_data_loader() sees to that), or what save_state() is not given")


def _run(step_function, steps, data, contents):
    """What there is after each step."""
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


def _taken(contents):
    return {leaf.key: leaf.array.clone() for leaf in contents.refresh()}, contents.texts()


def _put_back(contents, state):
    tensors, texts = state
    for leaf in contents.refresh():
        leaf.array.copy_(tensors[leaf.key])
    contents.take(texts)


def _first_difference(one, other):
    for key, tensor in one[0].items():
        if not _same_bits(tensor, other[0][key]):
            apart = (tensor.double() - other[0][key].double()).abs().max().item()
            return f"tensor '{key if isinstance(key, str) else key[0]}', by {apart:.3g} at most"
    return next((f"'{name}' is {text} and {other[1][name]}" for name, text in one[1].items() if text != other[1][name]), None)


def _same_bits(one, other):
    """NaN is NaN."""
    as_bytes = [each.reshape(-1).contiguous().view(torch.uint8) for each in (one, other)]
    return torch.equal(*as_bytes)
