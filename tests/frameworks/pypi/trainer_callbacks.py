"""trainrt.train.lightning, .huggingface.transformers, .tensorflow, .jax and .horovod: their trainers and callbacks report and save, and a run
that lost a rank ends with the same weights."""
import json

import environments
from frameworks import TORCH, Framework
from harness import BUILD, FINISHED, SOURCE, TRAINRT, check, check_exit, equal, run, scratch

LIGHTNING = Framework("trainrt_train_lightning", "lightning_report.py", *TORCH, "lightning")
TRANSFORMERS = Framework("trainrt_train_transformers", "transformers_report.py", *TORCH, "transformers", variables={"HF_HUB_OFFLINE": "1"})
KERAS = Framework("trainrt_train_tensorflow", "keras_report.py", "tensorflow", ("tensorflow", "tf_keras"), "tensorflow-cpu")
JAX = Framework("trainrt_train_jax", "jax_report.py", *TORCH, "jax")
HOROVOD = Framework("trainrt_train_horovod", "horovod_report.py", "horovod", ("pybind11", "horovod"), "horovod")
KILL_AT = {LIGHTNING.name: 3, TRANSFORMERS.name: 15, KERAS.name: 3, JAX.name: 3, HOROVOD.name: 3}  # the step for TRANSFORMERS, otherwise the epoch
FILES = {LIGHTNING.name: {"checkpoint.ckpt"}, TRANSFORMERS.name: {"model.safetensors", "optimizer.pt", "rng_state_0.pth", "rng_state_1.pth"},
         KERAS.name: {"model.keras"}, JAX.name: {"weights.npz"}, HOROVOD.name: {"state.pt"}}
_quiet = {}  # digest of an undisturbed run


def _results(framework, name, launcher=(), **more):
    environment, folder = environments.ready(framework), scratch(framework.name)
    env = {**environments.activated(framework, environment), "PYTHONPATH": BUILD / "python", "TRAINRT_EXECUTABLE": TRAINRT, "RUNS": folder,
           "OMP_NUM_THREADS": 1, "HOME": folder, **more}
    job = run([*launcher, "python3", SOURCE / "tests/frameworks/scripts" / framework.script, name], timeout=300, env=env, cwd=folder)
    check_exit(job, FINISHED)
    found = [json.loads(line[7:]) for line in job.out.splitlines() if line.startswith("RESULT ")]
    for each in found:
        equal(each["size"], 2, "number of ranks in the framework", job)
    check("KILL_AT" not in more or (folder / f"killed-{name}").exists(), "no rank was killed", job)
    return found, job


def _result(framework, name, **more):
    [found], job = _results(framework, name, **more)
    return found, job


def two_ranks(framework):
    found, job = _result(framework, "quiet")
    check(FILES[framework.name] <= set(found["files"]), f"files of the checkpoint: {found['files']}", job)
    equal((found["metrics"]["_training_iteration"], found["metrics"].get("step", 30)), (5, 30), "reports and steps", job)
    check("loss" in found["metrics"], f"metrics: {found['metrics']}", job)
    _quiet[framework.name] = found["digest"]


def worker_killed(framework):
    found, job = _result(framework, "killed", KILL_AT=KILL_AT[framework.name])
    equal(found["digest"], _quiet[framework.name], "the weights of an undisturbed run", job)


def steps_within_epochs(framework):
    """Saves every four steps; an epoch has six. A rank is killed in the last step of the last epoch; the run continues after the fourth step."""
    quiet, job = _result(framework, "steps", EVERY=4)
    equal(quiet["metrics"]["_training_iteration"], 5 + 5, "reports", job)
    killed, job = _result(framework, "steps-killed", EVERY=4, KILL_AT=4)
    check("begins at step 28" in job.out, "the run did not continue within the epoch", job)
    equal(killed["digest"], quiet["digest"], "the weights of an undisturbed run", job)


def fits_twice(framework):
    """Calls fit() twice on launched ranks. The framework's setup must serve both runs, or must be repeatable."""
    found, job = _results(framework, "twice", launcher=[TRAINRT, "-n", 2, "--"], FITS=2)
    equal([each["digest"] for each in found], 2 * [_quiet[framework.name]], "the weights of each run", job)


def over_shards(framework):
    quiet, job = _result(framework, "shards", DATA="shard")
    equal(quiet["metrics"]["step"], 30, "steps", job)
    killed, job = _result(framework, "shards-killed", DATA="shard", KILL_AT=KILL_AT[framework.name])
    equal(killed["digest"], quiet["digest"], "the weights of an undisturbed run", job)


def trainer_of_ray_2_1(framework):
    """TransformersTrainer, with gradient accumulation. A rank is killed within an epoch, three steps after a save."""
    quiet, job = _result(framework, "rows", DATA="rows", ACCUMULATION=2)
    equal((quiet["metrics"]["step"], quiet["metrics"]["epoch"], "eval_loss" in quiet["metrics"]), (48, 3, True), "step, epoch and evaluation", job)
    check(FILES[framework.name] <= set(quiet["files"]), f"files of the checkpoint: {quiet['files']}", job)
    killed, job = _result(framework, "rows-killed", DATA="rows", ACCUMULATION=2, KILL_AT=23)
    equal(killed["digest"], quiet["digest"], "the weights of an undisturbed run", job)


def trainer_of_ray_2_4(framework):
    """LightningTrainer over datasets. A rank is killed within an epoch; the run continues at the start of the epoch, or after its fourth step."""
    quiet, job = _result(framework, "builder", DATA="shard")
    equal((quiet["metrics"]["step"], "validation_loss" in quiet["metrics"]), (30, True), "steps and validation", job)
    for every, step in ((0, 18), (4, 20)):
        killed, job = _result(framework, f"builder-killed-{every}", DATA="shard", KILL_AT=3, EVERY=every)
        check(f"begins at step {step}" in job.out, "the run did not continue at this step", job)
        equal(killed["digest"], quiet["digest"], "the weights of an undisturbed run", job)


def cases_of_callbacks():
    """Returns (framework, name, function) for each case."""
    return [*((each, name, function) for each in (LIGHTNING, TRANSFORMERS, KERAS, JAX, HOROVOD) for name, function in (("2_ranks", two_ranks), ("worker_killed", worker_killed))),
            *((each, "fits_twice", fits_twice) for each in (KERAS, JAX, HOROVOD)), (TRANSFORMERS, "over_shards", over_shards),
            (TRANSFORMERS, "trainer_of_ray_2_1", trainer_of_ray_2_1),
            (LIGHTNING, "steps_within_epochs", steps_within_epochs), (LIGHTNING, "trainer_of_ray_2_4", trainer_of_ray_2_4)]
