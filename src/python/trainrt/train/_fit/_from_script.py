"""The Trainer that a rank receives from the script that launched it."""

import time
from array import array
from typing import Any

from ..._support import _pickling
from ..._support._exchange_client import ScriptUnreachable

_STOP_LIMIT_S, _PAUSE_S = 60.0, 0.1


def received(script, runtime):
    """Returns the object and the options that the script has sent. Collective.

    If the script was killed meanwhile, its launcher stops the run: this function waits for the stop, so that the run counts as stopped and not as
    failed. Raises ScriptUnreachable or RuntimeError if no stop follows.
    """
    found: Any = None
    lost = None
    try:
        found = _pickling.fetched(script)
    except ScriptUnreachable as error:
        lost = error
    if runtime.all_reduce(array("d", [lost is not None]))[0] == 0:
        return _pickling.received(*found)
    limit = time.monotonic() + _STOP_LIMIT_S
    while time.monotonic() < limit:
        runtime.stop_point()
        time.sleep(_PAUSE_S)
    raise lost or RuntimeError("another rank cannot reach the script that called fit(); the log of that rank has the reason")
