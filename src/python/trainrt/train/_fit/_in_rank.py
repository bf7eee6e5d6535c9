"""`fit()` in a process that trainrt started: the train function runs on this rank, and on all others."""

import os
import runpy
import threading

from ... import _client
from ..._support import _notes
from ..._support._call_place import place_of_raise
from .._config import _settings
from .._results import _run_directory, _trainer_record
from .._results._result import Result
from .._sessions import _current
from .._sessions._runtime import RuntimeSession
from .._validation._validator import Validator
from ..errors import ControllerError, WorkerGroupError
from . import _hooks, _store_keys

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep  # the folder trainrt
_fit_count = 0  # number of calls of fit() in this process
_OPENED_BEFORE = "the run is already open, since trainrt.context(), report() or get_context() was called before fit()"


def fit(trainer, value_of_result=None):
    """Opens the run, runs the train function and closes the run. Returns the Result, on all ranks; if the run has already finished, without
    running the function. Raises TrainingFailedError. Collective, in the main thread.

    `value_of_result`: function of the session and of the value that the train function returned on this rank; it returns `Result.return_value`, which is not
    `None`. Collective, before the run closes. Default: the value of rank 0.
    """
    is_running, closes = _open(trainer)
    runtime = _client.context()
    if not is_running:
        if runtime.world_rank == 0:
            _trainer_record.note_changed_code(runtime.run_dir, trainer)
        return Result.from_path(runtime.run_dir)
    _check_gpus(trainer.scaling_config, runtime)
    session = RuntimeSession(runtime, trainer.train_spec())
    if runtime.world_rank == 0:
        _trainer_record.write(runtime.run_dir, trainer)
    try:
        returned = (value_of_result or _value_of_rank_zero)(session, run_function(trainer, session))
    except WorkerGroupError as failure:
        report_failure(runtime, failure.__cause__)
        runtime._reported_failure = failure  # if no code catches the exception, it is not reported a second time
        raise
    if closes:
        runtime.close_run()
    return Result.from_path(runtime.run_dir, return_value=returned)._with_config(trainer.train_loop_config)


def run_function(trainer, session):
    """Runs the train function between the hooks of its backend. Returns the value that it returned on this rank. Raises WorkerGroupError if it
    failed on this rank, and ControllerError if the run ends for another reason. Collective."""
    with _current.use(session):
        try:
            session.agree_on_resume()
            if session.spec.validation is not None and session.world_rank == 0:
                session.begin_validations(Validator(session.spec.validation, session.run_dir))
            if session.world_rank == 0:
                session.begin_copies()
                for callback in session.spec.callbacks:
                    callback._resume_from(session.get_checkpoint())
            returned = _hooks.run(trainer, session)
            session.runtime._finished_part = "the train function"
            session.wait_for_validations()
            session.wait_for_copies()
            session.remove_committed_directories()
            return returned
        except _client.Stop:
            raise
        except SystemExit as end:
            session.runtime._finished_part = f"the program by sys.exit() at {place_of_raise(end.__traceback__) or 'an unknown line'}"
            raise
        except Exception as error:
            if session.runtime._has_ended:  # the runtime already knows the cause: another rank failed, or the runtime did
                raise ControllerError(error) from error
            for callback in session.spec.callbacks:
                callback.after_exception(session.run_context(), {session.world_rank: error})
            raise WorkerGroupError(f"the train function failed on rank {session.world_rank}: {type(error).__name__}: {error}",
                                   {session.world_rank: error}) from error
        finally:
            session.copy_artifacts()
            session.end_validations()
            session.end_copies()


def report_failure(runtime, error):
    """Reports an exception to the runtime, which then ends the other ranks. The reported traceback begins at the user's code."""
    runtime._report_failure(type(error), error, user_traceback(error.__traceback__))


def user_traceback(trace):
    """Returns the traceback without the leading frames of this package and of runpy; the complete traceback if no other frames remain."""
    rest = trace
    while rest is not None and _is_inner(rest.tb_frame.f_code.co_filename):
        rest = rest.tb_next
    return rest or trace


def _is_inner(file):
    return file.startswith((_PACKAGE, "<frozen ")) or file == runpy.__file__


def _value_of_rank_zero(session, returned):
    """Returns the value of rank 0 on all ranks. If it cannot be pickled, the other ranks get `None`."""
    try:
        return session.broadcast(returned)
    except TypeError as error:
        _notes.warn(f"Result.return_value is None on all ranks except 0: {error}")
        return returned if session.world_rank == 0 else None


# ---- opening the run ---------------------------------------------------------------------------------------------------------------


def _open(trainer):
    """Opens the run of the trainer's configs. Returns whether the train function must run, and whether this fit() closes the run."""
    global _fit_count
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("fit() was called in a thread; in a process that trainrt started, all ranks call it in the same order in the main thread")
    _check_trust(trainer.trust_owner)
    _fit_count += 1
    for line in trainer.notes():
        _notes.say(line)
    settings = trainer.settings()
    settings.pop("scaling.gpus_per_worker", None)  # the launch has given GPUs to each rank
    if _fit_count == 1 and _client.has_context():
        _check_open_run(settings, _client.context())
        return True, False
    _client.use_store_keys(_store_keys.of(trainer.run_config))
    return _client.open_run(settings, _fit_count, _settings.DEFAULTS), True


def _check_trust(users):
    """Raises ValueError unless the launch was given these users as trusted owners, because only the arguments of the launch decide."""
    missing = _names(users) - _names(os.environ.get("TRAINRT_TRUST_OWNER"))
    if missing:
        raise ValueError(f"restore(trust_owner={users!r}): trainrt started this script without this option; start it with: "
                         f"trainrt --trust-owner={users} -- ...")


def _names(text):
    return {name.strip() for name in (text or "").split(",")} - {""}


def _check_open_run(settings, runtime):
    """Raises ValueError if the open run does not match the trainer's run name or number of workers, or if the trainer has datasets. Prints a note for
    each other setting that does not apply to the open run."""
    name = settings.get("run.name", runtime.run_name)
    if name != runtime.run_name:
        raise ValueError(f"RunConfig(name={name!r}): the run '{runtime.run_name}' is open already, since trainrt.context(), report() or get_context() was "
                         f"called before fit(). Call them in the train function, or start with --run.name={name}")
    _check_workers(settings, runtime.world_size)
    _note_ignored_settings(settings, runtime.run_dir)


def _check_workers(settings, launched):
    max_workers = int(settings.get("scaling.num_workers", launched))
    min_workers = int(settings.get("scaling.min_workers", max_workers))
    if not min_workers <= launched <= max_workers:
        given = max_workers if min_workers == max_workers else f"({min_workers}, {max_workers})"
        raise ValueError(f"ScalingConfig(num_workers={given}): {launched} ranks were launched; launch as many ranks, or leave num_workers out")


def _note_ignored_settings(settings, run_dir):
    if any(key.startswith("data.") for key in settings):
        raise ValueError(f"fit() has datasets=..., but {_OPENED_BEFORE}, without datasets. Call these functions in the train function")
    config = {**(_run_directory.run_record(run_dir) or {}).get("config", {}), "run.storage_path": os.path.dirname(run_dir)}
    for key, text in settings.items():
        if key.startswith("loop.train_loop_") or key in ("run.name", "scaling.num_workers", "scaling.min_workers"):
            continue
        if not _is_same(text, config.get(key)):
            _notes.say(f"{key} = {text} does not apply: {_OPENED_BEFORE}, with {config.get(key, 'no value')}. Call these in the train function, or "
                       f"start with --{key}='{text}'")


def _is_same(given, recorded):
    return given == recorded or (os.path.isabs(given) and recorded is not None and os.path.realpath(given) == os.path.realpath(recorded))


def _check_gpus(scaling, runtime):
    if scaling is not None and scaling.use_gpu and not runtime.gpus:
        raise ValueError(f"ScalingConfig(use_gpu=True): {scaling.num_gpus_per_worker} GPU per worker requested, but rank {runtime.world_rank} has no GPU. "
                         f"Request GPUs from the batch system (srun --gpus-per-node=N), or set use_gpu=False")
