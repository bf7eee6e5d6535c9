"""Main program of a rank that `fit()` launched: `python3 -m trainrt.train._fit._worker`, with the address of the script in TRAINRT_FIT."""

import os

from ... import _client
from ..._support import _call_place
from ..._support._exchange_client import ExchangeClient
from .._config._logging import apply_level
from .._results import _trainer_record
from .._sessions._runtime import RuntimeSession
from ..errors import WorkerGroupError
from . import _from_script, _in_rank, _outcomes, _store_keys


def main():
    script = ExchangeClient.from_environment()
    os.environ.pop("TRAINRT_FIT_TITLE", None)
    _call_place.name_stage("the start of the train function")
    _store_keys.receive(script)
    runtime = _client.context()  # before anything that may fail, so that failures are reported with their rank
    _outcomes.clear_failures(script, runtime.world_rank, runtime.world_size)
    try:
        _run(script, runtime)
    except WorkerGroupError as failure:
        _fail(script, runtime, failure.__cause__)
    except Exception as error:  # for example, the import of a module of the train function failed
        _fail(script, runtime, error)


def _run(script, runtime):
    trainer, options = _from_script.received(script, runtime)
    apply_level(trainer.run_config)
    if runtime.world_rank == 0:
        _trainer_record.write(runtime.run_dir, trainer)
    returned = _in_rank.run_function(trainer, RuntimeSession(runtime, trainer.train_spec()))
    if runtime.world_rank == 0 or options.get("all_return"):
        _outcomes.send_returned(script, runtime.world_rank, returned)


def _fail(script, runtime, error):
    """Sends the exception to the script, and reports it to the runtime, which may end this process. Then exits with 1. If the runtime has already ended the
    run, only exits."""
    if not runtime._has_ended:
        _outcomes.send_failure(script, runtime.world_rank, error, _in_rank.user_traceback(error.__traceback__))
        _in_rank.report_failure(runtime, error)
    raise SystemExit(1)


if __name__ == "__main__":
    main()
