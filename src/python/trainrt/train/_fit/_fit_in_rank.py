"""fit() in a program of trainrt: the train function runs on this rank, as on all others."""

import os
import runpy
import threading

from ... import _client
from ..._support._call_place import place_of_raise
from . import _hooks
from ..._support import _notes
from .._results import _record, _run_directory
from .._sessions import _session
from .._results._result import Result
from .._sessions._runtime_session import RuntimeSession
from .._validation._validator import Validator
from ..errors import ControllerError, WorkerGroupError

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_fits = 0  # in this process


def fit_here(trainer):
    """Opens the run, runs the function, closes the run. The same Result on all ranks; of a run that has finished already, at once."""
    is_running, closes = _open(trainer)
    runtime = _client.context()
    if not is_running:
        if runtime.world_rank == 0:
            _record.note_changed_code(runtime.run_dir, trainer)
        return Result.from_path(runtime.run_dir)
    _check_gpus(trainer.scaling_config, runtime)
    session = RuntimeSession(runtime, trainer.job())
    if runtime.world_rank == 0:
        _record.write(runtime.run_dir, trainer)
    try:
        returned = _shared(session, run_function(trainer, session))
    except WorkerGroupError as failure:
        tell(runtime, failure.__cause__)
        runtime._reported_failure = failure  # if nobody catches it, it needs no second telling
        raise
    if closes:
        runtime.close_run()
    return Result.from_path(runtime.run_dir, return_value=returned).with_config(trainer.train_loop_config)


def run_function(trainer, session):
    """The train function between the hooks of its backend; returns what it returned here. WorkerGroupError if it failed here, and
    ControllerError if the run ends for another reason."""
    with _session.use(session):
        try:
            session.look_together()
            if session.job.validation is not None and session.world_rank == 0:
                session.begin_validations(Validator(session.job.validation, session.run_dir))
            returned = _hooks.run(trainer, session)
            session.runtime._finished_part = "the train function"
            session.wait_for_validations()
            session.remove_what_is_committed()
            return returned
        except _client.Stop:
            raise
        except SystemExit as end:
            session.runtime._finished_part = f"the program by sys.exit() at {place_of_raise(end.__traceback__) or 'an unknown line'}"
            raise
        except Exception as error:
            if session.runtime._has_ended:  # another rank, or the runtime, has failed, and it is known there
                raise ControllerError(str(error)) from error
            for callback in session.job.callbacks:
                callback.after_exception(session.run_context(), {session.world_rank: error})
            raise WorkerGroupError(f"the train function failed on rank {session.world_rank}: {type(error).__name__}: {error}",
                                   {session.world_rank: error}) from error
        finally:
            session.end_validations()


def tell(runtime, error):
    """Tells the runtime what failed, with the traceback from the user's code on; it ends the other ranks."""
    runtime._report_failure(type(error), error, of_the_user(error.__traceback__))


def of_the_user(trace):
    """The traceback without the frames of this package and of runpy that led to the user's code; all of it if there is no other."""
    rest = trace
    while rest is not None and _is_inner(rest.tb_frame.f_code.co_filename):
        rest = rest.tb_next
    return rest or trace


def _is_inner(file):
    return file.startswith((_PACKAGE, "<frozen ")) or file == runpy.__file__


def _shared(session, returned):
    """Rank 0's value, on all ranks; None if it cannot travel."""
    try:
        return session.broadcast(returned)
    except TypeError as error:
        _notes.say(f"Result.return_value is None but on rank 0: {error}")
        return returned if session.world_rank == 0 else None


# ---- the run ---------------------------------------------------------------------------------------------------------------


def _open(trainer):
    """Opens the run as the configs say: (whether there is something to run, whether it is this fit()'s to close)."""
    global _fits
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("fit() was called in a thread; in a program of trainrt all ranks call it in the same order, from the main thread")
    _require_trust(trainer.trust_owner)
    _fits += 1
    for line in trainer.notes():
        _notes.say(line)
    settings = trainer.settings()
    settings.pop("scaling.gpus_per_worker", None)  # the launch has given each rank its GPUs
    if _fits == 1 and _client.has_context():
        return _already_open(settings, _client.context())
    return _client.open_run(settings, _fits), True


def _require_trust(users):
    """The ranks that run already open the run: what they were started with counts."""
    missing = {user.strip() for user in (users or "").split(",")} - {user.strip() for user in os.environ.get("TRAINRT_TRUST_OWNER", "").split(",")} - {""}
    if missing:
        raise ValueError(f"restore(trust_owner={users!r}): trainrt has started this script, and must be told: trainrt --trust-owner={users} -- ...")


def _already_open(settings, runtime):
    """What the script did before has opened the run of the launch: it must be the one that the script means."""
    name = settings.get("run.name", runtime.run_name)
    if name != runtime.run_name:
        raise ValueError(f"RunConfig(name={name!r}), and the run '{runtime.run_name}' is open already, since trainrt.context(), report() or "
                         f"get_context() came before fit(): call them in the train function, or start with --run.name={name}")
    _check_workers(settings, runtime.world_size)
    _tell_what_does_not_apply(settings, runtime.run_dir)
    return True, False


def _check_workers(settings, there):
    most = int(settings.get("scaling.num_workers", there))
    least = int(settings.get("scaling.min_workers", most))
    if not least <= there <= most:
        asked = most if least == most else f"({least}, {most})"
        raise ValueError(f"ScalingConfig(num_workers={asked}), and {there} ranks were launched: start as many, or leave it out")


def _tell_what_does_not_apply(settings, run_dir):
    if any(key.startswith("data.") for key in settings):
        raise ValueError("fit() was given datasets=..., and the run is open already without them, since trainrt.context(), report() or "
                         "get_context() came before fit(): call them in the train function")
    config = {**(_run_directory.run_record(run_dir) or {}).get("config", {}), "run.storage_path": os.path.dirname(run_dir)}
    for key, text in settings.items():
        if key.startswith("loop.train_loop_") or key in ("run.name", "scaling.num_workers", "scaling.min_workers"):
            continue
        if not _is_same(text, config.get(key)):
            _notes.say(f"fit() asks for {key} = {text}, and it does not apply: the run is open already with {config.get(key, 'none')}, since "
                       f"trainrt.context(), report() or get_context() came before fit(). Call them in the train function, or start with "
                       f"--{key}='{text}'")


def _is_same(asked, there):
    return asked == there or (os.path.isabs(asked) and there is not None and os.path.realpath(asked) == os.path.realpath(there))


def _check_gpus(scaling, runtime):
    if scaling is not None and scaling.use_gpu and not runtime.gpus:
        raise ValueError(f"ScalingConfig(use_gpu=True) asks for {scaling.num_gpus_per_worker} GPU a worker, and rank {runtime.world_rank} "
                         f"has 0: ask the batch system for GPUs (srun --gpus-per-node=N), or set use_gpu=False")
