"""Golden runs: a stopped run, a stopped sweep and a checkpoint of each version of trainrt, in tests/golden/runs/VERSION, which later versions
must be able to read and continue. tests/golden/record.py records them, tests/multirank/checkpoints/test_golden.py continues them."""
import hashlib
import platform
import re

from runs.sweeps import *  # noqa: F403

GOLDEN = SOURCE / "tests/golden/runs"
NAME = "golden"  # name of the run, and of its config file without .ini

RUN_CONFIG = {
    "run": {"name": NAME, "storage_path": "runs", "seed": 7},
    "train": {"function": "linear"},
    "loop": {"epochs": 4, "batch_size": 8, "optimizer": "adamw", "lr": 0.01, "dropout": 0.1, "report_every": 8, "step_pause": 0.02},
    "checkpoint": {"every": "4 reports", "num_to_keep": 2},
    "data.train": {"format": "synthetic", "samples": 512, "shuffle": True}}
SWEEP_CONFIG = {
    "run": {"name": NAME, "storage_path": "runs", "seed": 7},
    "train": {"function": "linear"},
    "loop": {"epochs": 6, "optimizer": "adamw", "step_pause": 0.02},
    "checkpoint": {"num_to_keep": 1},
    "data.train": {"format": "synthetic", "samples": 256, "features": 4, "shuffle": True},
    "tune": {"metric": "loss", "mode": "min", "num_samples": 4, "max_concurrent_trials": 1, "scheduler": "asha"},
    "tune.asha": {"max_t": 6, "grace_period": 2, "reduction_factor": 2},
    "tune.space": {"lr": "loguniform(1e-4, 0.3)", "batch_size": "choice(16, 32)"}}


def version_of_source():
    return re.search(r'__version__ = "(.*)"', (SOURCE / "src/python/trainrt/_version.py").read_text())[1]


def versions():
    """Returns the folders of all versions that have golden runs."""
    return sorted(path for path in GOLDEN.iterdir() if path.is_dir())


def run_command():
    return ranks_command(2, f"{NAME}.ini")


def sweep_command():
    return [TRAINRT, "tune", "--config", f"{NAME}.ini"]


def finish(command, folder):
    """Runs the command, which starts or continues the run or sweep of the config in `folder`, to its end. Returns the run directory."""
    job = run(command(), cwd=folder)
    check_exit(job, FINISHED)
    return folder / "runs" / NAME


def run_digest(run_dir):
    """Returns the SHA-256 of the newest checkpoint's content and of the reported metrics."""
    return hashlib.sha256(repr([sorted(state_of(run_dir).items()), reported_metrics(run_dir)]).encode()).hexdigest()


def sweep_digest(sweep_dir):
    """Returns the SHA-256 of the config, the state, and the results of all trials."""
    job = run([TRAINRT, "tune", "status", sweep_dir, "--json"])
    check_exit(job, FINISHED)
    trials = [(trial["trial"], trial["state"], sorted(trial["config"].items()), run_digest(trial["path"])) for trial in json.loads(job.out)]
    return hashlib.sha256(repr(trials).encode()).hexdigest()


# {folder of a golden run: (function that returns the command to continue it, function that returns the digest of its result)}
KINDS = {"stopped_run": (run_command, run_digest), "stopped_sweep": (sweep_command, sweep_digest)}


def kind_of_cpu():
    """Returns the properties of this machine that may change the bits of a result: mathematical functions of the C library depend on them."""
    flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return {"machine": platform.machine(), "fma": "fma" in (flags[1].split() if flags else [])}
