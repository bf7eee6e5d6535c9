"""fit() in a script that trainrt did not start: it starts the ranks, each of which runs the train function only."""

import hashlib
import os
import signal
import sys

from ... import _cluster
from . import _allocation, _local_ranks, _returns
from ..._support import _executable, _notes, _private_folder, _script, _pickling
from ..._support._storage import default_storage
from .._results import _record, _run_directory
from .._config import _settings
from .._results._result import Result
from .._config._scaling_config import ScalingConfig
from ..errors import ControllerError, RunStopped, WorkerGroupError

_STOPPED = 75
_default_names = {}  # how often each was given in this process


def fit_elsewhere(trainer):
    """Blocks until the ranks have ended. Returns the Result; raises TrainingFailedError, RunStopped, or KeyboardInterrupt."""
    run = Run(trainer)
    if run.is_finished():
        _notes.say(f"the run '{run.name}' has finished already: its Result is returned, and nothing is trained. Another "
                   f"RunConfig(name=...) is a new run")
        _record.note_changed_code(run.run_dir, trainer)
        return Result.from_path(run.run_dir)
    folder = _private_folder.make(run.storage)
    try:
        run.start(folder, {})
        return run.result(folder)
    finally:
        _private_folder.remove(folder)


class Run:
    """One start of the ranks."""

    def __init__(self, trainer):
        self.trainer = trainer
        self.scaling = trainer.scaling_config or ScalingConfig()
        for line in trainer.notes():
            _notes.say(line)
        found = {**_settings.settings(self.scaling), **trainer.settings()}
        self.storage = found.setdefault("run.storage_path", default_storage())
        self.name = found.get("run.name") or _default_name(trainer)
        found["run.name"] = self.name
        found.setdefault("failure.max_failures", "0")  # Ray Train's default
        self._settings = found
        self.run_dir = os.path.join(self.storage, self.name)
        self._processes = self._end = self._error_before = None

    def is_finished(self):
        """And with the same values: with others it may go on, or is refused, which trainrt decides."""
        return _run_directory.is_finished(self.run_dir) and _run_directory.has_values(self.run_dir, self._settings)

    def start(self, folder, options):
        """Sends the function to the ranks, and runs them."""
        _pickling.send(self.trainer, folder, options)
        self._error_before = _stamp(self.run_dir)
        command = [*_start_words(self.scaling), *_settings.trust_words(self.trainer.trust_owner), *_settings.words(self._settings), "--", _python(), "-m", "trainrt.train._fit._worker"]
        stop_signal = _local_ranks.stop_signal_of(command)
        self._processes = _local_ranks.Processes(command, self._environment(folder, command[0] == "srun"), stop_signal)
        self._end = self._processes.run()
        self._raise_unless_good(folder)

    def _environment(self, folder, is_srun):
        environment = {**os.environ, **_cluster.env_vars(), "TRAINRT_FIT": folder}
        cpus = self.scaling.num_cpus_per_worker
        if cpus:
            environment.setdefault("OMP_NUM_THREADS", str(max(1, int(cpus))))
        return _allocation.environment_of_srun(environment) if is_srun else environment

    def stop(self):
        """From another thread: the ranks stop and save."""
        self._processes.interrupt()

    def result(self, folder):
        return Result.from_path(self.run_dir, return_value=self.returned(folder, 0)).with_config(self.trainer.train_loop_config)

    def returned(self, folder, rank):
        """What the train function returned on that rank."""
        return _returns.returned_by(folder, rank)

    # ---- a bad end ----

    def _raise_unless_good(self, folder):
        if self._end.interrupted:
            raise KeyboardInterrupt
        if self._end.code == 0:
            return
        if self._end.code == _STOPPED:
            raise RunStopped(f"the run '{self.name}' was stopped, and all is saved: start the same script again to continue it")
        failures = _returns.failures_in(folder)
        if not failures:
            raise ControllerError(f"the run '{self.name}' failed ({_how(self._end.code)}): {self._why()}", exit_code=self._end.code)
        what = "; ".join(f"rank {rank}: {_returns.summary_of(error)}" for rank, error in failures.items())
        raise WorkerGroupError(f"the run '{self.name}' failed on {what}\n(all of it: {os.path.join(self.run_dir, 'error.txt')})", failures,
                               self._end.code) from next(iter(failures.values()))

    def _why(self):
        if _stamp(self.run_dir) != self._error_before:
            return _run_directory.error_text(self.run_dir).split("\nthrown as ")[0]  # without the stack of the runtime
        lines = [line for line in self._end.last_lines if "error" in line] or self._end.last_lines[-5:]
        why = "\n".join(lines)
        if why and "trainrt: " not in why:  # srun, or the shell
            why += ("\ntrainrt was not started: check that srun works here (`srun hostname`), or, outside of a job, remove its variables "
                    "(env -u SLURM_JOB_ID)")
        return why or "the lines of trainrt above say why"


def _how(code):
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit {code}"


def _stamp(run_dir):
    """Tells a new error.txt from an old one."""
    try:
        found = os.stat(os.path.join(run_dir, "error.txt"))
        return found.st_mtime_ns, found.st_size
    except OSError:
        return None


def _python():
    """The interpreter of this process; Python itself does not know it if it was started without PATH."""
    return sys.executable or os.readlink("/proc/self/exe")


def job_of_slurm():
    """What all starts of this job have, over requeues; None outside of one."""
    array = os.environ.get("SLURM_ARRAY_JOB_ID")
    return f"{array}_{os.environ.get('SLURM_ARRAY_TASK_ID')}" if array else os.environ.get("SLURM_JOB_ID")


def name_in_job(name):
    """The name, and in Slurm the job and a hash of the script's arguments, if it has some: a requeue continues the run, and another job, or
    another start in the same job with other arguments, is another run."""
    if not job_of_slurm():
        return name
    words = "\0".join(sys.argv[1:])
    return f"{name}-{job_of_slurm()}" + (f"-{hashlib.sha256(words.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}" if words else "")


def _default_name(trainer):
    """Of trainer and script, and of the job in Slurm. The second of a process gets -2."""
    name = name_in_job(trainer.default_name(_script.of_this_process()["path"]))
    _default_names[name] = _default_names.get(name, 0) + 1
    return name if _default_names[name] == 1 else f"{name}-{_default_names[name]}"


def _start_words(scaling):
    """srun inside an allocation, else trainrt -n."""
    program = _executable.trainrt()
    if not _allocation.takes_ranks(scaling.least_workers):
        _cluster.check_fits(scaling)
        return [program, "-n", str(scaling.most_workers)]
    ranks = scaling.most_workers
    if isinstance(scaling.num_workers, tuple):
        ranks = max(scaling.least_workers, min(ranks, _allocation.tasks() or ranks))
    words = ["srun", "--kill-on-bad-exit=0", "--wait=20", "--immediate=300", f"--ntasks={ranks}"]
    if scaling.num_cpus_per_worker:
        words.append(f"--cpus-per-task={max(1, int(scaling.num_cpus_per_worker))}")
    return [*words, *os.environ.get("TRAINRT_SRUN_ARGS", "").split(), program]
