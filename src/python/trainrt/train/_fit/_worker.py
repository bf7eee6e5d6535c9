"""A rank that fit() of a script has started: python3 -m trainrt.train._fit._worker, with the private folder in TRAINRT_FIT."""

import os

from ..._support import _call_place
from ... import _client
from . import _fit_in_rank, _returns
from .._results import _record
from ..._support import _pickling
from .._sessions._runtime_session import RuntimeSession
from ..errors import WorkerGroupError


def main():
    folder = os.environ.pop("TRAINRT_FIT")
    _call_place.name_stage("the start of the train function")
    runtime = _client.context()  # first of all: what fails from here on is told with its rank
    _returns.clear_failures(folder, runtime.world_rank, runtime.world_size)
    try:
        _run(folder, runtime)
    except WorkerGroupError as failure:
        _fail(folder, runtime, failure.__cause__)
    except Exception as error:  # of the script's import, say
        _fail(folder, runtime, error)


def _run(folder, runtime):
    call = _pickling.options_of(folder)
    trainer = _pickling.receive(folder, call)
    if runtime.world_rank == 0:
        _record.write(runtime.run_dir, trainer)
    returned = _fit_in_rank.run_function(trainer, RuntimeSession(runtime, trainer.job()))
    if runtime.world_rank == 0 or call.get("all_return"):
        _returns.leave_returned(folder, runtime.world_rank, returned)


def _fail(folder, runtime, error):
    """Leaves the exception for the script, and tells the runtime, which may end this process at once. Not if it is the runtime's own."""
    if not runtime._has_ended:
        _returns.leave_failure(folder, runtime.world_rank, error, _fit_in_rank.of_the_user(error.__traceback__))
        _fit_in_rank.tell(runtime, error)
    raise SystemExit(1)


if __name__ == "__main__":
    main()
