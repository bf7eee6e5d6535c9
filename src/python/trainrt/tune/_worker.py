"""Main program of a rank of a trial: `python3 -m trainrt.tune._worker lr=0.1`, with the address of the script in TRAINRT_FIT."""

from __future__ import annotations

import os
import sys
from typing import Any

from .. import _client
from .._support import _call_place
from .._support._exchange_client import ExchangeClient
from ..train import Checkpoint
from ..train._fit import _from_script, _in_rank, _store_keys
from ..train._results import _run_directory, _trainer_record
from ..train._sessions import _objects
from ..train.errors import WorkerGroupError
from ._param_space import write_space
from ._trial_events import TrialEvents


def main() -> None:
    texts = dict(word.split("=", 1) for word in sys.argv[1:])
    script = ExchangeClient.from_environment()
    os.environ.pop("TRAINRT_TUNER_TITLE", None)
    _call_place.name_stage("the start of the train function")
    _store_keys.receive(script)
    runtime = _client.context()  # first, so that later failures are reported with the rank
    try:
        _run(script, texts, runtime)
    except WorkerGroupError as failure:
        _fail(runtime, failure.__cause__)
    except Exception as error:  # for example, the import of a module of the function failed
        _fail(runtime, error)


def _run(script: ExchangeClient, texts: dict[str, str], runtime: _client.Context) -> None:
    trainable, _ = _from_script.received(script, runtime)
    suggestion = _suggestion(script, runtime) if trainable.is_suggested else None
    trainer = trainable.trainer_of(texts, runtime.run_dir, runtime.world_size, suggestion)
    if runtime.world_rank == 0:
        _trainer_record.write(runtime.run_dir, trainer)
        write_space(os.path.dirname(runtime.run_dir), trainable.space)
    spec = trainer.train_spec()
    donor = _donor_of(runtime.run_dir)
    spec.first_checkpoint = donor or spec.first_checkpoint
    session = trainable.session(runtime, spec, script, texts)
    _in_rank.run_function(trainer, session)
    if donor is not None:
        session.take_reports()


def _suggestion(script: ExchangeClient, runtime: _client.Context) -> dict[str, Any]:
    """Returns the config that the searcher in the script suggests. All ranks of a trial get the same."""
    events = TrialEvents(script, runtime.run_name)

    def ask() -> bytes | None:  # the answer of rank 0, so that all ranks stop in the same round
        return _objects.broadcast(runtime, events.suggest() if runtime.world_rank == 0 else None)

    return events.suggestion(ask, runtime.stop_point)


def _donor_of(run_dir: str) -> Checkpoint | None:
    """Returns the checkpoint with files that a clone resumes from, or `None` for other trials. It is in the folder `clones` of the sweep, which may
    have been moved since the path was recorded."""
    recorded = (_run_directory.run_record(run_dir) or {}).get("config", {}).get("run.resume_from_checkpoint")
    sweep, trial = os.path.split(run_dir)
    path = os.path.join(sweep, "clones", trial, os.path.basename(recorded)) if recorded else None
    checkpoint = Checkpoint(path) if path and os.path.isdir(path) else None
    return checkpoint if checkpoint is not None and not checkpoint.is_native() else None


def _fail(runtime: _client.Context, error: Any) -> None:
    if not runtime._has_ended:
        _in_rank.report_failure(runtime, error)
    raise SystemExit(1)


if __name__ == "__main__":
    main()
