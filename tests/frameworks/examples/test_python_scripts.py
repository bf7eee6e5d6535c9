#!/usr/bin/python3
"""Scripts of jobs/python whose fit() starts the ranks, or that run one after another on launched ranks, print the lines that their guide shows."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.plain_scripts import require_torch  # noqa: E402
from runs.program_runs import *  # noqa: E402,F403

SCRIPTS = SOURCE / "jobs/python"


def setup():
    require_torch()


def start_alone(script, folder=None, *words):
    """Starts the script as a user does, with its runs in a new folder."""
    folder = folder or scratch()
    return Job([PYTHON, SCRIPTS / script, *words], env={**ONE_THREAD, "PYTHONPATH": BUILD / "python", "STORAGE": folder / "runs"}, cwd=folder)


def ended_well(job):
    job.code = job.wait(120)
    check_exit(job, FINISHED)
    return job


def script_alone(script, folder=None, *words):
    return ended_well(start_alone(script, folder, *words))


def check_prints(job, script, lines):
    printed = [line for line in job.out.splitlines() if not re.search(r"(it/s|s/it)", line)]
    for line in lines:
        check(line in printed, f"{script} does not print: {line}", job)


def print_lines(*scripts):
    """Runs several scripts at the same time, since each mostly waits for imports."""
    jobs = [(start_alone(script), script) for script in scripts]
    for job, script in jobs:
        check_prints(ended_well(job), script, PRINTED[script])


@test
def a_script_that_saves_continues_and_keeps_the_best():
    folder = scratch()
    job = script_alone("checkpoints.py", folder)
    check(re.search(r"last 5(\.0)? newest checkpoint_000005/files", job.out), "the Result", job)
    equal(re.findall(r"kept (\d)", job.out), ["4", "5"], "epochs of the checkpoints that are kept", job)
    again = script_alone("checkpoints.py", folder)
    check("has finished already" in again.err and "last 5" in again.out, "the finished run was trained again", again)


@test
def an_experiment_that_was_killed_is_restored_and_ends_with_the_same_loss():
    folder = scratch()
    whole, broken = start_alone("restore_experiment.py", None, "--num-epochs", 40), start_alone("restore_experiment.py", folder, "--num-epochs", 40)
    run_dir = folder / "runs/restore_experiment"
    wait_for_reports(run_dir, 3, broken, 60)
    check(not broken.ended(), "the run ended before it could be killed", broken)
    kill(processes_with(broken.token))
    broken.wait(60)
    again = script_alone("restore_experiment.py", folder)
    ended_well(whole)
    check("restored" not in whole.out, "a new run was restored", whole)
    check_prints(again, "restore_experiment.py", [f"restored {run_dir}", "epochs True 40", whole.out.splitlines()[-1]])
    equal(len(attempts(run_dir)), 2, "attempts", again)


PRINTED = {
    "checkpoint_of_all_ranks.py": ["model-rank=0.pt [3.0, 3.0, 3.0, 3.0]", "model-rank=1.pt [6.0, 6.0, 6.0, 6.0]"],
    "results.py": ["all of them [0.1, 0.7, 0.4]", "returned the value of rank 0", "error None", "best model 1", "kept [0.4, 0.7]", "again 0.4 True"],
    "fault_tolerance.py": ["rank 0 continues after epoch 2", "rank 1 failed: RuntimeError('this node has had enough')"],
    "preprocessors.py": ["rows of a worker 128 centred 1.0", "label [1] features float32 (1, 2)"],
    "own_backend.py": ["the ranks are about to train", "good morning, rank 0", "and have trained"],
    "run_configuration.py": ["my_train_run: ranks have reported [5.0, 5.5]", "reports 5 last 4.0 fast", "kept [4.0, 5.0]"],
    "experiment_tracking.py": ["tracked [0, 0, 1, 2, 2, 3]"],
    "ray_1_9.py": ["results [10, 11] iteration 5", "returned [10, 10]", "latest 4 10", "best checkpoint_000002", "second 10 run_002",
                   "kept ['checkpoint_000001']"],
    "tune_search.py": ["trials 10 errors 0 ended early True"],
    "tune_population.py": ["trials 4 clones True reports {12}", "error True"],
    "ray_1_9_quick_start.py": ["alone 3 losses", "workers [3, 3] learns True"],
    "ray_1_9_ddp.py": ["iteration 4 seen [51, 51]", "the same weights True learns True"]}

for side_by_side in (("checkpoint_of_all_ranks.py", "results.py"), ("fault_tolerance.py", "own_backend.py", "preprocessors.py"), ("run_configuration.py", "experiment_tracking.py"),
                     ("ray_1_9.py", "ray_1_9_quick_start.py", "ray_1_9_ddp.py")):
    names = "_and_".join(Path(script).stem for script in side_by_side)
    add_test(f"{names}_print_the_documented_lines", print_lines, *side_by_side)


# ---- scripts in sequence on the ranks of one launch, which imports torch once ----------------------------------------------

ONE_LAUNCH = {
    "pytorch_guide.py": ["loaded the model of epoch 2"],
    "configuring_training.py": ["config {'lr': 0.1, 'num_epochs': 10}", "checkpoint None", "error None"],
    "aggregated_metrics.py": ["samples 100 good True"],
    "scale_and_gpus.py": ["8 workers take {'CPU': 32.0, 'GPU': 16.0}", "workers 2 backend gloo interface ens5"],
    "persistent_storage.py": ["run experiment_name checkpoint checkpoint_000002/files", "files ['progress.csv', 'result.json', 'run.json']",
                              "checkpoints ['checkpoint_000000', 'checkpoint_000001', 'checkpoint_000002']"],
    "resume_from_checkpoint.py": ["metadata {'features': 4, 'epoch': 2}", "weights ['bias', 'weight']", "copied ['model.pt', 'optimizer.pt']", "continues True"],
    "reproducibility.py": ["the same True of 3"],
    "air_session.py": ["epoch 1 training_iteration 2", "checkpoints None [] error None", "log_dir air_session"]}
ONE_AFTER_THE_OTHER = """
import runpy, sys
for script in sys.argv[1:]:
    sys.argv = [script]
    runpy.run_path(script, run_name="__main__")
"""


@test
def scripts_on_launched_ranks_print_the_documented_lines():
    folder = scratch()
    program = program_file(ONE_AFTER_THE_OTHER)
    job = Job([TRAINRT, "-n", 2, "--failure.max_failures=0", "--", PYTHON, program, *(SCRIPTS / script for script in ONE_LAUNCH)],
              env={**ONE_THREAD, "CUDA_VISIBLE_DEVICES": ""}, cwd=folder)
    ended_well(job)
    for script, lines in ONE_LAUNCH.items():
        check_prints(job, script, lines)
    artifacts = folder / "runs/experiment_name/artifacts"
    equal(sorted(path.name for path in artifacts.glob("artifact-*")), [f"artifact-rank={rank}-iter={i}.txt" for rank in (0, 1) for i in range(3)], "artifacts")


@test
def every_script_is_short_and_run_by_a_test():
    """The tables in the guides of jobs must list every script, too."""
    tools = {"token_files.py"}  # tests/frameworks/data/test_token_files.py
    run_above = {*PRINTED, *ONE_LAUNCH, "checkpoints.py", "restore_experiment.py", "torch_datasets.py", "torch_fashion_mnist.py", "torch_linear.py", "torch_quick_start.py"}
    readme = (SOURCE / "jobs/README.md").read_text()
    samples = (SOURCE / "jobs/ray_samples.md").read_text()
    equal({path.name for path in SCRIPTS.glob("*.py")}, run_above | tools, "scripts")
    for path in (SCRIPTS / name for name in run_above):
        check(len(path.read_text().splitlines()) <= 80, f"{path.name} has more than 80 lines")
        check(f"`{path.name}`" in readme, f"jobs/README.md does not list {path.name}")
        check(f"`{path.name}`" in samples, f"jobs/ray_samples.md does not map a sample of Ray Train to {path.name}")


main(setup)
