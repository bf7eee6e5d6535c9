"""Random numbers that no variable of a model counts: Keras on torch draws the masks of an unseeded Dropout from torch's own generator."""

import sys

from .._sessions import _framework_state


def seed_step():
    """Of torch on all devices, Python and NumPy: by run.seed, the step and the rank, so that they need no storing."""
    ctx = _framework_state.runtime()
    if ctx is not None and _is_on_torch():
        from ..torch._seeding import seed_all
        seed_all(ctx.step_seed)


def _is_on_torch():
    keras = sys.modules.get("keras")
    return keras is not None and "torch" in sys.modules and keras.backend.backend() == "torch"
