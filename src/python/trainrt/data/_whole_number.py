"""Checks integers that callers pass."""

import operator


def whole_number(argument, number, least=None, most=None):
    """Returns `number` as an int. `argument` names it in messages. Raises TypeError if it is not an integer (a bool is not one), and
    ValueError if it is below `least` or above `most`."""
    try:
        found = None if isinstance(number, bool) else operator.index(number)
    except TypeError:
        found = None
    if found is None:
        raise TypeError(f"{argument}: {number!r} is not an integer")
    if (least is not None and found < least) or (most is not None and found > most):
        raise ValueError(f"{argument}: {found} is not {f'from {least} to {most}' if most is not None else f'{least} or more'}")
    return found
