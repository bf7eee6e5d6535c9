"""Shared by all end-to-end tests: the register of tests, background programs that end with the test, configs, and the comparison of runs bit
for bit.

A test file is run as `python3 tests/.../test_x.py BUILD_DIR [WORD ...]`; with words, only tests with one of the words in their names are run.
"""
import atexit
import fnmatch
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
FINISHED, USAGE, FAILED, STOPPED = 0, 64, 70, 75  # exit codes of trainrt

# ---- the register of tests ---------------------------------------------------------------------------------------------


class Failure(Exception):
    """A check failed."""


class Skipped(Exception):
    """The test cannot run on this machine."""


_tests = []


def test(function):
    """Registers a test; its name states the promise that it checks."""
    _tests.append((function.__name__, function))
    return function


def add_test(name, function, *arguments):
    """Registers a test with arguments under `name`."""
    _tests.append((name, lambda: function(*arguments)))


def check(kept, why, job=None):
    """Raises Failure with the reason `why` unless `kept`. The last output of `job` is added."""
    if not kept:
        raise Failure(why + (f"\n{job.tail()}" if job is not None else ""))


def raises(kind, *words, of):
    """Checks that `of()` raises an error of type `kind` with all words in its message, and returns the error."""
    try:
        of()
    except kind as error:
        for word in words:
            check(word in str(error), f"the error lacks {word!r}: {error}")
        return error
    raise Failure(f"no {kind.__name__} was raised")


def equal(found, expected, label, job=None):
    check(found == expected, f"{label}: found {found!r}, expected {expected!r}", job)


def skip(reason):
    raise Skipped(reason)


def main(setup=None, teardown=None):
    """Runs the chosen tests and exits. `setup` may skip all of them; `teardown` is always called."""
    sys.stdout.reconfigure(line_buffering=True)
    words = sys.argv[2:]
    chosen = [(name, function) for name, function in _tests if not words or any(word in name for word in words)]
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    try:
        try:
            if setup is not None:
                setup()
        except Skipped as reason:
            print(f"skipped: {reason}")
            counts["skipped"] = len(chosen)
            chosen = []
        except Failure as failure:
            print(f"FAILED setup: {failure}")
            counts["failed"] = len(chosen)
            chosen = []
        for name, function in chosen:
            counts[_run_one(name, function)] += 1
    finally:
        if teardown is not None:
            teardown()
        left = _end_processes(_TOKEN)
    if left:
        counts["failed"] += 1
        print(f"FAILED no_process_is_left: {left} still ran when the tests had ended")
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    sys.exit(1 if counts["failed"] else 0)


def _run_one(name, function):
    start = time.monotonic()
    try:
        function()
        print(f"ok {name} ({time.monotonic() - start:.1f} s)")
        return "passed"
    except Skipped as reason:
        print(f"skipped: {name}: {reason}")
        return "skipped"
    except Failure as failure:
        print(f"FAILED {name}: after {time.monotonic() - start:.1f} s: {failure}")
    except Exception:  # noqa: BLE001  an error of the test itself must not hide the tests after it
        print(f"FAILED {name}: {traceback.format_exc()}")
    finally:
        for job in list(_running):
            job.end()
    return "failed"


def interrupted(*_):
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    sys.exit(130)  # through every `finally` and atexit


for _signal in (signal.SIGINT, signal.SIGTERM):
    signal.signal(_signal, interrupted)

# ---- folders and tools --------------------------------------------------------------------------------------------------

if len(sys.argv) < 2:
    sys.exit(f"usage: {sys.argv[0]} BUILD_DIR [WORD ...]")
BUILD = Path(sys.argv[1]).resolve()
TRAINRT = str(BUILD / "trainrt")
MPIEXEC = shutil.which("mpiexec.mpich") or shutil.which("mpiexec")

# A variable in the environment of all processes of a test, by which they are found in any session.
_TOKEN = f"TRAINRT_TEST={os.getpid()}.{time.time_ns()}"
_scratch = None


def scratch_root():
    """Returns the parent directory of all scratch(). It is removed when the tests end, unless TRAINRT_KEEP is set."""
    global _scratch
    if _scratch is None:
        _scratch = Path(tempfile.mkdtemp(prefix="trainrt-" + Path(sys.argv[0]).stem + "-"))
        if "TRAINRT_KEEP" not in os.environ:
            atexit.register(shutil.rmtree, _scratch, ignore_errors=True)
    return _scratch


def scratch(name=""):
    """Makes a new directory in scratch_root() and returns it."""
    return Path(tempfile.mkdtemp(prefix=(name or "t") + "-", dir=scratch_root()))


def put_scratch_into(folder):
    """Makes scratch() use `folder`. Must be called before the first scratch()."""
    tempfile.tempdir = str(folder)


def program_file(text, name="program.py"):
    """Writes an executable file in a new directory and returns its path."""
    path = scratch("program") / name
    path.write_text(text)
    path.chmod(0o755)
    return path


# ---- processes -----------------------------------------------------------------------------------------------------------


def processes_with(token):
    """Returns the pids of living processes, without zombies, that have `token` in their environment."""
    found = []
    wanted = token.encode()
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if wanted in file.read().split(b"\0"):
                    found.append(int(entry))
        except OSError:
            continue
    return found


def environment_of(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            pairs = file.read().decode(errors="replace").split("\0")
        return dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    except OSError:
        return {}


def parent_of(pid):
    """Returns the pid of the parent, or 0 if the process does not exist."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rsplit(b")", 1)[1].split()[1])
    except OSError:
        return 0


def name_of_process(pid):
    """Returns the command line of a process, or "" if the process does not exist."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def is_standby(pid):
    """Returns whether the process waits as a standby, to replace a rank after a failure, or is about to wait: the pipe on which it waits is
    open in it and in its parent."""
    try:
        if Path(f"/proc/{pid}/comm").read_text().strip() == "trainrt-standby":
            return True
        number = environment_of(pid).get("TRAINRT_STANDBY")
        if number is None:
            return False
        pipe = os.readlink(f"/proc/{pid}/fd/{number}")
        return pipe.startswith("pipe:") and pipe in open_files_of(parent_of(pid))
    except OSError:
        return False


def open_files_of(pid):
    """Returns the targets of the file descriptors of a process."""
    found = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.append(os.readlink(f"/proc/{pid}/fd/{name}"))
        except OSError:  # it was closed meanwhile
            continue
    return found


def is_stopped(pid):
    """Returns whether the process is stopped by SIGSTOP."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rsplit(b")", 1)[1].split()[0] == b"T"
    except OSError:
        return False


def kill(pids, signal_number=signal.SIGKILL):
    for pid in pids:
        try:
            os.kill(pid, signal_number)
        except ProcessLookupError:
            pass


def _end_processes(token):
    """Kills all processes with `token`, including those that start meanwhile, and returns their command lines."""
    killed = []
    for _ in range(100):
        pids = processes_with(token)
        if not pids:
            break
        for pid in pids:
            try:
                killed.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:120])
            except OSError:
                pass
        kill(pids)
        time.sleep(0.02)
    return killed


def _clean_environment():
    """Returns the environment without the variables that would affect trainrt or a launcher if the tests run in a job."""
    found = {key: value for key, value in os.environ.items() if not re.match(r"SLURM|SBATCH_|SRUN_|PMI|OMPI_|TRAINRT_|HYDRA_", key)}
    return {**found, "XDG_STATE_HOME": scratch_root() / "state", "XDG_CONFIG_HOME": scratch_root() / "config"}  # a user's own settings must not affect the tests


_running = []
_job_numbers = itertools.count(1)  # tests may start jobs from several threads


class Job:
    """A program in the background, with its output in files. It is killed at the end of the test, with all processes that it started.
    `submits`: it submits Slurm jobs, which inherit its environment and must not be killed when it ends."""

    def __init__(self, command, env=None, cwd=None, trainrt=TRAINRT, submits=False):
        self.token = f"TRAINRT_JOB={next(_job_numbers)}.{_TOKEN}"
        self._trainrt = os.path.realpath(trainrt)
        self._folder = scratch("job")
        environment = {**_clean_environment(), **(env or {})}
        for mark in (_TOKEN,) if submits else (_TOKEN, self.token):
            environment.__setitem__(*mark.split("=", 1))
        environment["TEST_SCRATCH"] = _scratch  # for programs that need a folder of their own
        with open(self._folder / "out", "wb") as out, open(self._folder / "err", "wb") as err:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            env={key: str(value) for key, value in environment.items()}, cwd=cwd, start_new_session=True)
        self.command = command
        _running.append(self)

    @property
    def out(self):
        return (self._folder / "out").read_text(errors="replace")

    @property
    def err(self):
        return (self._folder / "err").read_text(errors="replace")

    def tail(self):
        text = self.out + self.err
        return "\n".join("    | " + line for line in text.splitlines()[-25:]) or "    | (no output)"

    def ended(self):
        return self.process.poll() is not None

    def wait(self, timeout=60):
        """Waits for the end and returns the exit code. Raises Failure after `timeout` seconds."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            tail = self.tail()
            self.end()
            raise Failure(f"{' '.join(map(str, self.command))} did not end within {timeout} s\n{tail}") from None
        self.end()
        return code

    def end(self):
        """Kills the processes of the job that are still running."""
        _end_processes(self.token)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self in _running:
            _running.remove(self)

    def ranks(self):
        """Returns the pids of the running trainrt processes of this job by rank. The process of `trainrt -n` that starts the ranks has no
        rank, a standby waits to become one, and a child between vfork and exec looks like its parent; all are left out."""
        rank_of = {}
        for pid in processes_with(self.token):
            try:
                if os.path.realpath(f"/proc/{pid}/exe") != self._trainrt or is_standby(pid):
                    continue
            except OSError:
                continue
            env = environment_of(pid)
            rank_of[pid] = next((int(env[key]) for key in ("PMIX_RANK", "PMI_RANK", "SLURM_PROCID") if key in env), None)
        if any(rank is not None for rank in rank_of.values()):
            rank_of = {pid: rank for pid, rank in rank_of.items() if rank is not None}
        return {rank or 0: pid for pid, rank in rank_of.items() if rank_of.get(parent_of(pid), -1) != rank}

    def wait_for_ranks(self, count, timeout=30):
        """Waits until `count` ranks run and returns their pids by rank."""
        found = {}

        def all_there():
            found.clear()
            found.update(self.ranks())  # the result of one scan, since another scan could miss a busy process
            return len(found) == count or self.ended()

        wait_until(all_there, timeout, f"{count} ranks to start", self)
        return found

    def wait_for(self, pattern, timeout=30):
        """Waits until the output matches `pattern`. Raises Failure on timeout or if the job ends first."""
        wait_until(lambda: re.search(pattern, self.out + self.err) or self.ended(), timeout, f"the output {pattern!r}", self)
        check(re.search(pattern, self.out + self.err), f"the job ended without {pattern!r} (exit {self.process.returncode})", self)


def wait_until(condition, timeout, label, job=None):
    """Waits until `condition()` is true. A condition that takes much CPU time, such as a scan of all processes, is evaluated less often."""
    limit = time.monotonic() + timeout
    cpu_s = time.process_time()
    while not condition():
        check(time.monotonic() < limit, f"waited {timeout} s for {label}", job)
        time.sleep(min(max(0.01, 10 * (time.process_time() - cpu_s)), 0.05))
        cpu_s = time.process_time()


def run(command, timeout=60, **options):
    """Runs a command to its end and returns the job, with its exit code in `code`."""
    job = Job(command, **options)
    job.code = job.wait(timeout)
    return job


def ranks_command(ranks, config, *words, first_env=None, other_env=None):
    """Returns an mpiexec command. `first_env`: variables of rank 0 only; `other_env`: of all other ranks."""
    if MPIEXEC is None:
        skip("mpiexec.mpich not found (package mpich)")
    program = [TRAINRT, "--config", str(config), *words]
    if not first_env and not other_env:
        return [MPIEXEC, "-n", str(ranks), *program]

    def of(variables):
        return [word for pair in (variables or {}).items() for word in ("-env", *map(str, pair))]

    rest = [":", "-n", str(ranks - 1), *of(other_env), *program] if ranks > 1 else []
    return [MPIEXEC, "-n", "1", *of(first_env), *program, *rest]


def start_ranks(ranks, config, *words, first_env=None, other_env=None, **options):
    return Job(ranks_command(ranks, config, *words, first_env=first_env, other_env=other_env), **options)


def run_ranks(ranks, config, *words, timeout=60, **options):
    job = start_ranks(ranks, config, *words, **options)
    job.code = job.wait(timeout)
    return job


def own_mount(path, options="mode=755"):
    """Returns a command prefix that mounts an empty tmpfs at `path` for that command only. `options`: mount options of the tmpfs."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        skip("needs root and mount namespaces")
    return ["unshare", "-m", "sh", "-c", f"mount -t tmpfs -o {options} tmpfs {path} && exec \"$@\"", "sh"]


# ---- configs and run directories -----------------------------------------------------------------------------------------


def write_config(path, sections):
    """Writes sections such as {"loop": {"epochs": 3}} as an INI file and returns its path."""
    lines = []
    for section, keys in sections.items():
        lines.append(f"[{section}]")
        lines += [f"{key} = {str(value).lower() if isinstance(value, bool) else value}" for key, value in keys.items()]
    Path(path).write_text("\n".join(lines) + "\n")
    return Path(path)


def linear_config(folder, name, loop=None, data=None, checkpoint=None, storage=None, **sections):
    """Writes the config of a run of `linear` with its run directory in folder/runs, and returns its path. The data is synthetic unless `data`
    has a format."""
    data = {**({} if "format" in (data or {}) else {"format": "synthetic", "samples": 512, "features": 8}), "shuffle": True, **(data or {})}
    return write_config(Path(folder) / f"{name}.ini", {
        "run": {"name": name, "storage_path": storage or Path(folder) / "runs", "seed": 5},
        "train": {"function": "linear"},
        "loop": {"epochs": 3, "batch_size": 16, "lr": 0.01, **(loop or {})},
        "data.train": data,
        "checkpoint": {"num_to_keep": 2, **(checkpoint or {})},
        **sections})


def run_dir_of(config):
    config = Path(config)
    return config.parent / "runs" / config.stem


def reports(run_dir):
    """Returns the complete lines of result.json. The last line of a running run may be incomplete."""
    try:
        text = (Path(run_dir) / "result.json").read_text()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def report_count(run_dir):
    try:
        return (Path(run_dir) / "result.json").read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def wait_for_reports(run_dir, count, job, timeout=30):
    wait_until(lambda: report_count(run_dir) >= count or job.ended(), timeout, f"report {count} of {run_dir}", job)


def attempts(run_dir):
    return [json.loads(path.read_text()) for path in sorted((Path(run_dir) / "attempts").glob("*.json"))]


def run_state(run_dir):
    return json.loads((Path(run_dir) / "run.json").read_text())["state"]


def check_iterations(run_dir, count=None):
    """Checks that result.json, progress.csv and metrics.h5 have the iterations 1 to n, each once."""
    rows = reports(run_dir)
    numbers = [row["_training_iteration"] for row in rows]
    check(numbers == list(range(1, len(numbers) + 1)), f"iterations in result.json are not 1..n: {numbers}")
    if count is not None:
        equal(len(numbers), count, "number of reports")
    table = (Path(run_dir) / "progress.csv").read_text().splitlines()
    column = table[0].split(",").index("_training_iteration")
    equal([int(line.split(",")[column]) for line in table[1:]], numbers, "iterations in progress.csv")
    import h5py
    with h5py.File(Path(run_dir) / "metrics.h5", "r") as file:
        equal([int(number) for number in file["iteration"][()]], numbers, "iterations in metrics.h5")


def reported_metrics(run_dir):
    """Returns the metrics that the train function reported: keys that do not start with '_', floats as hexadecimal text."""
    return [{key: value.hex() if isinstance(value, float) else value for key, value in row.items() if not key.startswith("_")}
            for row in reports(run_dir)]


def checkpoints(run_dir):
    return sorted(Path(run_dir).glob("checkpoint_*"))


def read_checkpoint(directory):
    """Returns each tensor and value of a checkpoint as (type, shape, bytes) by name, read through the links of state.h5."""
    import h5py
    found = {}

    def walk(group, prefix):
        for name in group:
            item = group[name]
            if isinstance(item, h5py.Group):
                walk(item, f"{prefix}{name}/")
            elif item.dtype.hasobject:  # texts of variable length
                found[prefix + name] = ("text", item.shape, repr(item[()]))
            else:
                found[prefix + name] = (str(item.dtype), item.shape, item[()].tobytes())

    with h5py.File(Path(directory) / "state.h5", "r") as file:
        walk(file, "")
    return found


def step_of_checkpoint(directory):
    """Returns the step in the manifest of a checkpoint. Its other files may be missing."""
    return json.loads((Path(directory) / "manifest.json").read_text())["step"]


def state_of(run_dir):
    """Returns the content of the newest checkpoint of a run."""
    directories = checkpoints(run_dir)
    check(directories, f"{run_dir} has no checkpoint")
    return read_checkpoint(directories[-1])


def step_of(run_dir):
    return int.from_bytes(state_of(run_dir)["trainrt/step"][2], "little")


def check_same_bits(run_dir, reference):
    """Checks that two runs have the same checkpoint content and the same reported metrics, bit for bit."""
    expected, found = state_of(reference), state_of(run_dir)
    check("model/weights" in expected or len(expected) > 8, f"{reference} holds no model: {sorted(expected)}")
    check(found.keys() == expected.keys(), f"different names: {sorted(found.keys() ^ expected.keys())}")
    different = [name for name in expected if found[name] != expected[name]]
    check(not different, f"different bits than in the undisturbed run: {different}")
    metrics, wanted = reported_metrics(run_dir), reported_metrics(reference)
    equal(len(metrics), len(wanted), "number of reports")
    for number, pair in enumerate(zip(metrics, wanted), 1):
        check(pair[0] == pair[1], f"report {number} differs from the undisturbed run: {pair[0]}, expected {pair[1]}")


def listed(title):
    """Returns the plug-ins under a title of `trainrt list all`, with their help by name."""
    part = next(part for part in run([TRAINRT, "list", "all"]).out.split("\n\n") if part.startswith(title + "\n"))
    return dict(re.findall(r"^  ([\w.-]+) +(.*)$", part, re.M))


_sink_files = []


def is_file_of_a_sink(name):
    """The help of a sink that writes a file begins with the file's name: "progress.csv: one row per report"."""
    if not _sink_files:
        _sink_files.extend(help.split(":")[0] for help in listed("metric sinks").values())
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in _sink_files)


def logs_besides_signs(run_dir):
    """Returns the files in logs/ except the status files of the ranks (ranks-attempt-N.jsonl)."""
    return [path.name for path in (Path(run_dir) / "logs").iterdir() if not re.fullmatch(r"ranks-attempt-\d{6}\.jsonl", path.name)]


def check_no_debris(run_dir, keep=None):
    """Checks that a run directory without a running attempt has no temporary files, and at most `keep` checkpoints."""
    run_dir = Path(run_dir)
    plain = {"run.json", "params.json", "result.json", "excluded_nodes.json", "mirror.json", "attempts", "artifacts", "logs"}
    left = [path.name for path in run_dir.iterdir() if path.name not in plain and not is_file_of_a_sink(path.name) and
            not re.fullmatch(r"checkpoint_\d{6}", path.name)]
    left += [f"attempts/{path.name}" for path in (run_dir / "attempts").iterdir() if not re.fullmatch(r"\d{6}\.json", path.name)]
    left += [path.name for path in run_dir.parent.glob(".trainrt*")]
    check(not left, f"debris in {run_dir}: {left}")
    if keep is not None:
        check(len(checkpoints(run_dir)) <= keep, f"{len(checkpoints(run_dir))} checkpoints, {keep} should be kept")


def check_verifies(run_dir):
    job = run([TRAINRT, "verify", str(run_dir)])
    check(job.code == FINISHED and "DAMAGED" not in job.out and "ok" in job.out, f"trainrt verify: exit {job.code}", job)


def check_exit_after_kill(job, code):
    """Checks the exit code of mpiexec after its ranks were killed. mpiexec of MPICH 4.2 may exit with 0 if all ranks of any MPI program are killed
    soon after their start."""
    versions = run([MPIEXEC, "--version"]).out if code == FINISHED else ""
    check(code not in (FINISHED, STOPPED) or re.search(r"Version:\s+4\.2\.", versions), f"exit {code} after kill -9", job)


def check_exit(job, code):
    check(job.code == code, f"exit {job.code}, expected {code}", job)
