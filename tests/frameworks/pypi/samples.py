"""The samples of jobs/python/frameworks: each learns on its ranks, and restarts after a lost rank with the same last report."""
import environments
from cases import LIMIT_S
from frameworks import TORCH, Framework
from harness import FINISHED, SOURCE, TRAINRT, check, check_exit, check_iterations, check_verifies, equal, reports, run, scratch

FOLDER = SOURCE / "jobs/python/frameworks"
KILLED = SOURCE / "tests/frameworks/scripts/killed_sample.py"


def _sample(name, environment, requirements, package):
    return Framework(f"sample_{name}", f"{name}.py", environment, requirements, package, variables={"HF_HUB_OFFLINE": "1", "TF_CPP_MIN_LOG_LEVEL": "3"})


SAMPLES = [_sample("accelerate_plugins", "torch", ("torch", "deepspeed"), "accelerate"),
           _sample("accelerate_trainer", *TORCH, "accelerate"),
           _sample("deepspeed_trainer", "torch", ("torch", "deepspeed"), "deepspeed"),
           _sample("horovod_quick_start", "horovod", ("pybind11", "horovod"), "horovod"),
           _sample("jax_quick_start", *TORCH, "jax"),
           _sample("keras_any_batch", *TORCH, "keras"),
           _sample("lightgbm_quick_start", *TORCH, "lightgbm"),
           _sample("lightning_quick_start", *TORCH, "lightning"),
           _sample("tensorflow_mnist", "tensorflow", ("tensorflow", "tf_keras"), "tensorflow-cpu"),
           _sample("tensorflow_shards", "tensorflow", ("tensorflow", "tf_keras"), "tensorflow-cpu"),
           _sample("transformers_quick_start", *TORCH, "transformers"),
           _sample("xgboost_quick_start", *TORCH, "xgboost-cpu")]
RANKS = {"sample_keras_any_batch": 1}
_whole = {}  # sample -> the last report of an undisturbed run


def _ended(sample, *words):
    """Returns the reports of a run, and its job."""
    folder = scratch(sample.name)
    name = sample.script.removesuffix(".py")
    env = {**environments.activated(sample, environments.ready(sample)), "OMP_NUM_THREADS": 1, "HOME": folder}
    marker = [folder / "killed"] if words else []
    job = run([TRAINRT, "-n", RANKS.get(sample.name, 2), "--", "python3", *words, FOLDER / sample.script, *marker], timeout=LIMIT_S, env=env, cwd=folder)
    check_exit(job, FINISHED)
    check("last report: {" in job.out, "fit() returned no Result", job)
    check_iterations(folder / "runs" / name)
    check_verifies(folder / "runs" / name)
    equal((folder / "killed").exists(), bool(words), "whether a rank was killed", job)
    return [{key: value for key, value in row.items() if key in ("loss", "accuracy")} for row in reports(folder / "runs" / name)], job


def undisturbed(sample):
    rows, job = _ended(sample)
    check(rows[-1]["loss"] < 0.8 * rows[0]["loss"], f"the loss stays high: {rows}", job)
    _whole[sample.name] = rows[-1]


def rank_killed(sample):
    rows, job = _ended(sample, KILLED)
    check("restart 1" in job.out + job.err, "the run was not restarted", job)
    equal(rows[-1], _whole[sample.name], "the last report", job)


def cases_of_samples():
    """Returns (sample, name, function) for each case."""
    names = {path.name for path in FOLDER.glob("*.py")}
    equal({sample.script for sample in SAMPLES}, names, "samples in the table")
    return [(sample, name, function) for sample in SAMPLES for name, function in (("undisturbed", undisturbed), ("rank_killed", rank_killed))]
