"""A rank of a trial that a Tuner has started: python3 -m trainrt.tune._worker lr=0.1, with the private folder in TRAINRT_FIT."""

import os
import sys

from .._support import _call_place
from .. import _client
from ..train import Checkpoint
from ..train._fit import _fit_in_rank
from ..train._results import _record, _run_directory
from .._support import _pickling
from ..train.errors import WorkerGroupError
from ._param_space import write_space
from ._trainable import TrialSession


def main():
    texts = dict(word.split("=", 1) for word in sys.argv[1:])
    folder = os.environ.pop("TRAINRT_FIT")
    _call_place.name_stage("the start of the train function")
    runtime = _client.context()  # first of all: what fails from here on is told with its rank
    try:
        _run(folder, texts, runtime)
    except WorkerGroupError as failure:
        _fail(runtime, failure.__cause__)
    except Exception as error:  # of the script's import, say
        _fail(runtime, error)


def _run(folder, texts, runtime):
    trainable = _pickling.receive(folder, _pickling.options_of(folder))
    trainer = trainable.trainer_of(texts, runtime.run_name)
    if runtime.world_rank == 0:
        _record.write(runtime.run_dir, trainer)
        write_space(os.path.dirname(runtime.run_dir), trainable.space)
    job = trainer.job()
    donor = _donor_of(runtime.run_dir)
    job.first_checkpoint = donor or job.first_checkpoint
    session = TrialSession(runtime, job, trainable.stop)
    _fit_in_rank.run_function(trainer, session)
    if donor is not None:
        session.take_reports()


def _donor_of(run_dir):
    """The checkpoint that a clone goes on from, if it has files; None of any other trial. It is in the folder `clones` of the sweep, which may
    have been moved since the path was recorded."""
    recorded = (_run_directory.run_record(run_dir) or {}).get("config", {}).get("run.resume_from_checkpoint")
    sweep, trial = os.path.split(run_dir)
    path = os.path.join(sweep, "clones", trial, os.path.basename(recorded)) if recorded else None
    checkpoint = Checkpoint(path) if path and os.path.isdir(path) else None
    return checkpoint if checkpoint is not None and not checkpoint.is_native() else None


def _fail(runtime, error):
    if not runtime._has_ended:
        _fit_in_rank.tell(runtime, error)
    raise SystemExit(1)


if __name__ == "__main__":
    main()
