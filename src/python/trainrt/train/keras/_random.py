"""Random numbers that no variable of the model determines: Keras on torch draws the masks of an unseeded Dropout from torch's default generator."""

import sys

from .._sessions import _framework_state


def seed_step():
    """Seeds the generators of torch, Python and NumPy from run.seed, the step and the rank, if Keras runs on torch. So checkpoints need not hold
    their states."""
    ctx = _framework_state.runtime()
    if ctx is not None and _is_on_torch():
        from ..torch._seeding import seed_all
        seed_all(ctx.step_seed)


def _is_on_torch():
    keras = sys.modules.get("keras")
    return keras is not None and "torch" in sys.modules and keras.backend.backend() == "torch"
