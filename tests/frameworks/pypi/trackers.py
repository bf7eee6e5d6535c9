"""TensorBoard, Prometheus, W&B, MLflow and Comet show all reports of a run that was stopped and killed, as their own readers read them."""
import json
import signal

import environments
from cases import LIMIT_S, SCRIPTS
from frameworks import Framework
from harness import FINISHED, TRAINRT, Job, check, check_exit, equal, kill, reports, run, scratch, wait_until

PROGRAMS = ("wandb", "mlflow", "comet")
PACKAGES = {"tensorboard": "tensorboard", "prometheus": "prometheus_client", "wandb": "wandb", "mlflow": "mlflow", "comet": "comet_ml"}
TRACKERS = {name: Framework(f"sink_{name}", "", "trackers", ("trackers",), package) for name, package in PACKAGES.items()}
LAST = 800

_run_dirs = []


def tracked_run():
    """Makes a run with all sinks once, and returns its directory."""
    if _run_dirs:
        return _run_dirs[0]
    tracker = TRACKERS["wandb"]
    environment = environments.ready(tracker)
    folder = scratch("trackers")
    run_dir = folder / "runs/tracked"
    words = [TRAINRT, "--run.name=tracked", f"--run.storage_path={folder}/runs", "--run.seed=7", f"--metrics.sinks=csv, {', '.join(PACKAGES)}"]
    for name in PROGRAMS:
        words += [f"--sink.{name}.program=python3 -m trainrt.sinks.{name}", f"--sink.{name}.wait=120"]
    words += ["--sink.tensorboard.histograms=weights", "--sink.tensorboard.histogram_interval=100"]
    words += ["--", "python3", SCRIPTS / "tracked_run.py"]
    variables = {**environments.activated(tracker, environment), "WANDB_MODE": "offline", "HOME": folder}
    for count, action in ((80, signal.SIGTERM), (200, signal.SIGKILL), (LAST, None)):
        job = Job(words, cwd=folder, env=variables)
        if action is not None:
            wait_until(lambda: kept(run_dir) >= count or job.ended(), LIMIT_S, f"report {count} in all trackers", job)
            kill([job.process.pid], action)
        job.code = job.wait(LIMIT_S)
        check(action is None or job.code != FINISHED, "the signal came after the end of the run", job)
    check_exit(job, FINISHED)
    equal([line["_training_iteration"] for line in reports(run_dir)], list(range(1, LAST + 1)), "reports", job)
    _run_dirs.append(run_dir)
    return run_dir


def kept(run_dir):
    notes = [run_dir / f"sink_{name}.json" for name in PROGRAMS]
    return min(json.loads(note.read_text())["kept"] if note.exists() else 0 for note in notes)


def found_by(name):
    run_dir = tracked_run()
    python = environments.ready(TRACKERS[name]) / "bin/python3"
    job = run([python, SCRIPTS / "read_trackers.py", name, run_dir], timeout=LIMIT_S, cwd=run_dir.parent)
    check_exit(job, 0)
    return json.loads(job.out.splitlines()[-1]), job


def expected(step):
    return {"loss": 1 / step, "val/accuracy": step / LAST, "nan": "nan", "infinite": "inf" if step % 2 else "-inf"}


def check_values(name, exact, first=1, once=True):
    """Checks that all reports from `first` on exist in order, with their values, and without duplicates if `once`."""
    found, job = found_by(name)
    smile = "μ _u1f642_" if name == "mlflow" else "μ 🙂"  # MLflow allows only letters
    check("text" not in found and smile in found, f"keys: {sorted(found)}", job)
    for key in expected(1):
        steps = [step for step, _ in found[key]]
        equal(steps if once else sorted(set(steps)), list(range(first, LAST + 1)), f"steps of {key}", job)
        for step, value in found[key]:
            wanted = expected(step)[key]
            close = value == wanted if exact or isinstance(wanted, str) else abs(value - wanted) < 1e-6 * wanted
            check(close, f"{key} at step {step} is {value}, not {wanted}", job)
    return found


def cases_of_trackers():
    """Returns (framework, name, function) for each case."""
    for name, exact, first, once in (("tensorboard", False, 1, True), ("prometheus", True, LAST, True), ("mlflow", True, 1, True),
                                     ("wandb", True, 1, False), ("comet", True, 1, False)):  # these cannot list the stored steps, so a restart may repeat some
        yield TRACKERS[name], "stopped_and_killed", lambda _, words=(name, exact, first, once): check_values(*words)
