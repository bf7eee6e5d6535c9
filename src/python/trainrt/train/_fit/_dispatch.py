"""`fit()`: decides where the train function runs."""

from types import ModuleType

from ..._support import _script
from .._config._logging import apply_level
from .._sessions import _current
from . import _by_launch, _first_checkpoint, _in_process, _in_rank, _restored_run


def fit(trainer):
    """Runs the trainer and returns its Result.

    With num_workers=0 the train function runs in this process; in a process that trainrt started, on this rank and all others; elsewhere, on ranks that are
    launched now. Raises RuntimeError in a train function, and while a child process of multiprocessing imports the script.
    """
    require_script("fit()")
    apply_level(trainer.run_config)
    way: ModuleType = _by_launch
    if trainer.scaling_config is not None and trainer.scaling_config.num_workers == 0:
        way = _in_process
    elif _current.is_rank_program():
        way = _in_rank
    if trainer._older_directory is not None and way is not _in_process:
        _restored_run.set_aside(*trainer._older_directory)
        trainer._older_directory = None
    try:
        return way.fit(trainer)
    finally:
        _first_checkpoint.remove_copy(trainer._first_path)


def require_script(call):
    """Raises RuntimeError in a train function, and while a child process of multiprocessing imports the script. `call`: the call that starts a run."""
    _script.require_own_start(call)
    if _current.is_running():
        raise RuntimeError(f"{call} was called inside of a train function, which cannot start another run; call it in the script")
