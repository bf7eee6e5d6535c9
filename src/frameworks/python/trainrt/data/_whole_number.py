"""Whole numbers that callers give."""

import operator


def whole_number(what, number, least=None, most=None):
    """As an int. `what`: the argument, for messages. TypeError for what is none (a bool is none), ValueError beyond the limits."""
    try:
        found = None if isinstance(number, bool) else operator.index(number)
    except TypeError:
        found = None
    if found is None:
        raise TypeError(f"{what}: {number!r} is no whole number")
    if (least is not None and found < least) or (most is not None and found > most):
        raise ValueError(f"{what}: {found} is not {f'from {least} to {most}' if most is not None else f'{least} or more'}")
    return found
