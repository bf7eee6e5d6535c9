"""Main program of a rank that `fit()` launched: `python3 -m trainrt.train._fit._worker`, with the private folder in TRAINRT_FIT."""

import os

from ... import _client
from ..._support import _call_place, _pickling
from .._results import _trainer_record
from .._sessions._runtime import RuntimeSession
from ..errors import WorkerGroupError
from . import _in_rank, _outcomes


def main():
    folder = os.environ.pop("TRAINRT_FIT")
    os.environ.pop("TRAINRT_FIT_TITLE", None)
    _call_place.name_stage("the start of the train function")
    runtime = _client.context()  # before anything that may fail, so that failures are reported with their rank
    _outcomes.clear_failures(folder, runtime.world_rank, runtime.world_size)
    try:
        _run(folder, runtime)
    except WorkerGroupError as failure:
        _fail(folder, runtime, failure.__cause__)
    except Exception as error:  # for example, the import of the script failed
        _fail(folder, runtime, error)


def _run(folder, runtime):
    call = _pickling.options_of(folder)
    trainer = _pickling.receive(folder, call)
    if runtime.world_rank == 0:
        _trainer_record.write(runtime.run_dir, trainer)
    returned = _in_rank.run_function(trainer, RuntimeSession(runtime, trainer.train_spec()))
    if runtime.world_rank == 0 or call.get("all_return"):
        _outcomes.write_returned(folder, runtime.world_rank, returned)


def _fail(folder, runtime, error):
    """Sends the exception to the script, and reports it to the runtime, which may end this process. Exits with 1. An exception of the runtime is
    only followed by the exit."""
    if not runtime._has_ended:
        _outcomes.write_failure(folder, runtime.world_rank, error, _in_rank.user_traceback(error.__traceback__))
        _in_rank.report_failure(runtime, error)
    raise SystemExit(1)


if __name__ == "__main__":
    main()
