"""fit() with num_workers=0: the function runs in this process, as one rank, and nothing is kept."""

from . import _hooks
from .._sessions import _session
from .._sessions._local_session import LocalSession
from .._results._result import Result
from ..errors import WorkerGroupError


def fit_local(trainer):
    """The Result has what was reported; its checkpoint lives as long as the process."""
    session = LocalSession(trainer.job())
    with _session.use(session):
        try:
            returned = _hooks.run(trainer, session)
        except Exception as error:
            raise WorkerGroupError(f"the train function failed: {type(error).__name__}: {error}", {0: error}) from error
    return Result.of_local(session, returned)
