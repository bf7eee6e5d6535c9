"""fit(): where does the function run?"""

from ..._support import _script
from . import _fit_in_rank, _fit_local, _launch
from .._sessions import _session


def fit(trainer):
    """On the ranks that are there, in this process, or on ranks that are started now."""
    if _script.importing is not None:
        raise RuntimeError(
            f"fit() was called while a worker imports {_script.importing}, to find the train function in it. Put what starts the training under\n"
            f"    if __name__ == \"__main__\":\n"
            f"        trainer.fit()\n"
            f"or start the whole script on every rank: srun trainrt -- python3 {_script.importing}")
    if _session.is_running():
        raise RuntimeError("fit() was called inside of a train function; a run starts no other")
    if trainer.scaling_config is not None and trainer.scaling_config.num_workers == 0:
        return _fit_local.fit_local(trainer)
    if _session.is_program_of_a_rank():
        return _fit_in_rank.fit_here(trainer)
    return _launch.fit_elsewhere(trainer)
