"""`fit()` in a script that trainrt did not start: launches ranks that run only the train function."""

import os
import signal
import sys
from typing import Any

from ... import _cluster
from ..._support import _executable, _notes, _pickling
from ..._support._exchange import Exchange
from ..._support._storage import default_storage
from .._config import _settings
from .._config._scaling import ScalingConfig
from .._results import _run_directory, _trainer_record
from .._results._result import Result
from ..errors import ControllerError, RunStopped, WorkerGroupError
from . import _allocation, _command, _outcomes, _run_names, _store_keys, _temporary_checkpoint

_STOPPED = 75  # exit code of a run that was stopped after saving


def fit(trainer):
    """Returns the Result of the run. Launches the ranks and waits for them, unless the run has already finished. Raises TrainingFailedError, RunStopped or
    KeyboardInterrupt."""
    run = LaunchedRun(trainer)
    if run.is_finished():
        _notes.say(f"the run '{run.name}' has finished already; fit() returns its Result without training. Choose another RunConfig(name=...) for a new "
                   f"run")
        _trainer_record.note_changed_code(run.run_dir, trainer)
        return Result.from_path(run.run_dir)
    with run.exchange() as exchange:
        run.start(exchange, {})
        return run.result(exchange)


class LaunchedRun:
    """One launch of the ranks of a run."""

    def __init__(self, trainer):
        self.trainer = trainer
        self.scaling = trainer.scaling_config or ScalingConfig()
        for line in trainer.notes():
            _notes.say(line)
        settings = {**_settings.settings(self.scaling), **trainer.settings()}
        self.storage = settings.setdefault("run.storage_path", default_storage())
        self.name = settings.get("run.name") or _run_names.default_name(type(trainer).__name__, self.storage)
        self._continue_advice = _run_names.continue_advice(self.name, has_default_name="run.name" not in settings)
        settings["run.name"] = self.name
        settings.setdefault("failure.max_failures", "0")  # Ray Train's default
        settings = {**_settings.DEFAULTS, **settings}
        self._settings = settings
        self.run_dir = os.path.join(self.storage, self.name)
        self._command: Any = None
        self._end: Any = None
        self._error_before = None

    def is_finished(self):
        """Returns whether the run has finished with the settings of this launch. If its settings differ, trainrt decides whether it may continue."""
        return _run_directory.is_finished(self.run_dir) and _run_directory.has_values(self.run_dir, self._settings)

    def exchange(self):
        """Returns a new Exchange for start()."""
        return Exchange(_allocation.hosts_of_exchange(self.scaling.min_workers))

    def start(self, exchange, options):
        """Offers the trainer to the ranks, launches them and waits for their end. Raises as fit() does.

        `options`: options of the workers, which JSON can hold: {"all_return": True} makes all ranks return the value of the function.
        """
        with _temporary_checkpoint.placed(self.trainer, self.storage) as trainer:
            self._run_ranks(trainer, exchange, options)
        self._raise_on_failure(exchange)

    def _run_ranks(self, trainer, exchange, options):
        _store_keys.offer(trainer.run_config, exchange)
        _pickling.send(_store_keys.without_filesystem(trainer), exchange, options)
        self._error_before = _error_stamp(self.run_dir)
        command = [*_launcher(self.scaling), *_settings.trust_arguments(self.trainer.trust_owner), *_settings.arguments(self._settings), "--", _python(), "-m",
                   "trainrt.train._fit._worker"]
        self._command = _command.LaunchedCommand(command, self._environment(exchange, command[0] == "srun"), _command.stop_signal_of(command))
        self._end = self._command.run()

    def stop(self):
        """Makes the ranks save and stop. Any thread may call it."""
        self._command.interrupt()

    def result(self, exchange):
        return Result.from_path(self.run_dir, return_value=self.returned(exchange, 0))._with_config(self.trainer.train_loop_config)

    def returned(self, exchange, rank):
        """Returns the value that the train function returned on `rank`."""
        return _outcomes.returned_by(exchange, rank)

    def _environment(self, exchange, is_srun):
        environment = {**os.environ, **_cluster.env_vars(), **exchange.variables(), "TRAINRT_FIT_TITLE": self.trainer.title()}
        cpus = self.scaling.requested_cpus
        if cpus:
            environment.setdefault("OMP_NUM_THREADS", str(max(1, int(cpus))))
        return _allocation.environment_of_srun(environment) if is_srun else environment

    # ---- failures ----

    def _raise_on_failure(self, exchange):
        if self._end.interrupted:
            raise KeyboardInterrupt
        if self._end.code == 0:
            return
        if self._end.code == _STOPPED:
            raise RunStopped(f"the run '{self.name}' was stopped and its state is saved; {self._continue_advice}")
        failures = _outcomes.failures_in(exchange)
        if not failures:
            raise ControllerError(f"the run '{self.name}' failed ({_exit_text(self._end.code)}): {self._cause()}", exit_code=self._end.code)
        raise WorkerGroupError(f"the run '{self.name}' failed on {_outcomes.summary_of_all(failures)}\n(complete text: "
                               f"{os.path.join(self.run_dir, 'error.txt')})", failures, self._end.code) from next(iter(failures.values()))

    def _cause(self):
        """Returns the error.txt of the run if it is new, else the last error lines of the command."""
        if _error_stamp(self.run_dir) != self._error_before:
            return _run_directory.error_without_trace(self.run_dir)
        cause = "\n".join(_error_lines(self._end.last_lines) or self._end.last_lines[-5:])
        if cause and "trainrt: " not in cause:  # the lines are messages of srun or of the shell
            cause += ("\ntrainrt did not start: check that srun works here (`srun hostname`), or, outside of a job, remove the variables of Slurm "
                      "(env -u SLURM_JOB_ID)")
        return cause or "see the messages of trainrt above"


def _error_lines(lines):
    """Returns the lines that contain an error. If such a line ends with a colon, also returns the lines of the list that follows."""
    found, is_in_list = [], False
    for line in lines:
        is_error = "error" in line
        is_in_list = line.endswith(":") if is_error else is_in_list and not line.startswith("trainrt: ")
        if is_error or is_in_list:
            found.append(line)
    return found


def _exit_text(code):
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _error_stamp(run_dir):
    """Returns a value that changes when a new error.txt is written, or `None` if the file does not exist."""
    try:
        found = os.stat(os.path.join(run_dir, "error.txt"))
        return found.st_mtime_ns, found.st_size
    except OSError:
        return None


def _python():
    """Returns the path of this interpreter. `sys.executable` is empty if Python was started without PATH."""
    return sys.executable or os.readlink("/proc/self/exe")


def _note_missing_cpus(scaling):
    """Prints a note if `resources_per_worker` requests more CPUs for the ranks than this machine gives to this process."""
    here, requested = len(os.sched_getaffinity(0)), scaling.max_workers * (scaling.requested_cpus or 0)
    if requested > here:
        _notes.say(f"ScalingConfig(resources_per_worker={scaling.resources_per_worker!r}) requests {requested:g} CPUs for {scaling.max_workers} "
                   f"rank{'s' if scaling.max_workers > 1 else ''}, but this machine has {here}: the ranks share them. Request fewer CPUs, or start fit() in a "
                   f"Slurm job that has them")


def _launcher(scaling):
    """Returns the beginning of the command that starts the ranks: srun in a Slurm allocation, otherwise trainrt -n."""
    program = _executable.trainrt()
    if not _allocation.can_launch(scaling.min_workers):
        _cluster.check_fits(scaling)
        _note_missing_cpus(scaling)
        return [program, "-n", str(scaling.max_workers)]
    ranks = scaling.max_workers
    if isinstance(scaling.num_workers, tuple):
        ranks = max(scaling.min_workers, min(ranks, _allocation.task_count() or ranks))
    words = ["srun", "--kill-on-bad-exit=0", "--wait=20", "--immediate=300", f"--ntasks={ranks}"]
    if scaling.requested_cpus:
        words.append(f"--cpus-per-task={max(1, int(scaling.requested_cpus))}")
    return [*words, *os.environ.get("TRAINRT_SRUN_ARGS", "").split(), program]
