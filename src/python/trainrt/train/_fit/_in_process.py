"""`fit()` with num_workers=0: the train function runs in this process as one rank, and no run directory is written."""

from .._results._result import Result
from .._sessions import _current
from .._sessions._local import LocalSession
from ..errors import WorkerGroupError
from . import _hooks


def fit(trainer):
    """Returns the Result. Its checkpoint exists until the process exits. Raises WorkerGroupError if the train function fails."""
    session = LocalSession(trainer.train_spec())
    with _current.use(session):
        try:
            returned = _hooks.run(trainer, session)
        except Exception as error:
            raise WorkerGroupError(f"the train function failed: {type(error).__name__}: {error}", {0: error}) from error
    return Result._of_local(session, returned)
