#!/usr/bin/python3
"""jobs/tune.sbatch on a real Slurm. Trials are steps of the job, several at once; several jobs share a sweep. After a requeue or
cancellation the sweep continues, and no trial is lost or run twice."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from runs import sweeps  # noqa: E402
from cluster import *  # noqa: E402,F403
from runs.fashion import fashion_config  # noqa: E402
from harness import *  # noqa: E402,F403

CLUSTER = Cluster("tune")


def sweep_config(name, loop=None, **tune):
    return linear_config(scratch(), name, loop={"epochs": 6, **(loop or {})},
                         tune={"metric": "loss", "mode": "min", **tune}, **{"tune.space": {"lr": "loguniform(1e-4, 0.3)"}})


def trials_of(config):
    job = run([TRAINRT, "tune", "status", run_dir_of(config), "--json"])
    return json.loads(job.out) if job.code == 0 else []


def jobs_of(config):
    """Returns the IDs of the jobs that have started attempts of trials."""
    return {attempt["owner"]["job_id"] for trial in run_dir_of(config).glob("trial_*/") for attempt in attempts(trial)}


def ended(job, state="COMPLETED", timeout=120):
    equal(job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", timeout=timeout), state, "state of the job", job)


def check_all_over(config, count, job):
    trials = trials_of(config)
    equal([trial["state"] for trial in trials], ["finished"] * count, "states", job)
    for trial in trials:
        check_iterations(trial["path"], 6)
    return trials


@test
def trials_are_steps_of_the_job_that_run_at_the_same_time():
    config = sweep_config("steps", num_samples=4, workers=2)
    job = CLUSTER.sbatch(["-N2", "-n4"], config, script="tune.sbatch")
    ended(job)
    trials = check_all_over(config, 4, job)
    check("2 at the same time" in job.text, "trials did not run at the same time", job)
    equal({attempt["ranks"] for trial in trials for attempt in attempts(trial["path"])}, {2}, "ranks of the trials", job)


@test
def several_jobs_share_a_sweep_and_a_cancelled_job_loses_no_trial():
    config = sweep_config("array", {"step_pause": 0.02}, num_samples=6)
    jobs = [CLUSTER.sbatch(["-N1", "-n1"], config, script="tune.sbatch") for _ in range(2)]
    wait_until(lambda: len(jobs_of(config)) == 2, 60, "both jobs to have trials", jobs[0])
    jobs[1].cancel()
    ended(jobs[1], "CANCELLED")
    ended(jobs[0])
    trials = check_all_over(config, 6, jobs[0])
    check(sum(trial["attempts"] for trial in trials) > 6, "the cancelled job had no trial", jobs[0])


@test
def a_requeued_job_continues_its_sweep():
    config = sweep_config("requeue", {"step_pause": 0.02}, num_samples=4)
    job = CLUSTER.sbatch(["-N1", "-n2"], config, script="tune.sbatch")
    wait_until(lambda: len(list(run_dir_of(config).glob("trial_*/result.json"))) >= 2, 60, "two trials to report", job)
    CLUSTER.call("scontrol", "requeue", job.id)
    job.wait_for_restart(1)
    ended(job)
    trials = check_all_over(config, 4, job)
    check(sum(trial["attempts"] for trial in trials) > 4, "no trial was interrupted", job)


@test
def slices_of_one_step_on_two_nodes_continue_after_a_requeue():
    config = sweep_config("slices", {"step_pause": 0.02}, num_samples=6, workers=2, place="slices")
    job = CLUSTER.sbatch(["-N2", "-n4"], config, script="tune.sbatch")
    wait_until(lambda: len(list(run_dir_of(config).glob("trial_*/result.json"))) >= 2, 60, "two trials to report", job)
    CLUSTER.call("scontrol", "requeue", job.id)
    job.wait_for_restart(1)
    ended(job)
    trials = check_all_over(config, 6, job)
    check(sum(trial["attempts"] for trial in trials) > 6, "no trial was interrupted", job)
    owners = {(attempt["owner"]["host"], attempt["owner"]["pid"]) for trial in trials for attempt in attempts(trial["path"])}
    equal(len(owners), 4, "first ranks of 2 slices in 2 starts", job)


@test
def a_population_trains_as_steps_of_a_job_and_survives_a_requeue():
    config = sweeps.pbt_config(scratch(), loop={"step_pause": 0.01})
    job = CLUSTER.sbatch(["-N2", "-n2"], config, script="tune.sbatch")
    wait_until(lambda: len(list(run_dir_of(config).glob("trial_*/result.json"))) >= 2, 60, "two trials to report", job)
    CLUSTER.call("scontrol", "requeue", job.id)
    job.wait_for_restart(1)
    ended(job)
    clones = sweeps.check_clones(config, sweeps.check_each_once(config, 6))
    check(clones, "no trial became a clone", job)


def images_are_swept(scheduler, samples, space, **sections):
    """Runs a sweep on FashionMNIST; checks that each trial ends exactly once and that the best one learns. Returns the config and trials."""
    config = fashion_config(scratch(), scheduler, images=1024, loop={"epochs": 6},
                            tune={"metric": "test_accuracy", "num_samples": samples, "scheduler": scheduler}, **{"tune.space": space}, **sections)
    job = CLUSTER.sbatch(["-N2", "-n2"], config, script="tune.sbatch")
    ended(job)
    trials = sweeps.check_each_once(config, 4)
    check(max(trial["best"] for trial in trials) > 0.5, f"no trial has learned: {[trial['best'] for trial in trials]}", job)
    return config, trials


@test
def asha_on_images_stops_the_worse_trials():
    config, trials = images_are_swept("asha", 1, {"lr": "grid(0.05, 1e-5, 0.03, 1e-6)"}, **{"tune.asha": {"max_t": 9, "reduction_factor": 3}})
    check(sum(trial["training_iteration"] for trial in trials) < 4 * 6, "no trial was stopped early")
    complete = [trial for trial in trials if not trial.get("why")]
    check(complete, "no trial ran to its end")
    sweeps.check_as_alone(config, complete[0])


@test
def a_clone_on_images_has_the_same_bits_as_a_single_run():
    config, trials = images_are_swept("pbt", 1, {"lr": "grid(1e-5, 0.02, 0.03, 0.05)"}, **{"tune.pbt": {"perturbation_interval": 2, "quantile_fraction": 0.25},
                                                                                       "tune.mutations": {"lr": "loguniform(1e-5, 0.1)"}})
    clones = sweeps.clones_of(config)
    check(clones, "no trial became a clone")
    first = {number: {"loop.lr": rate} for number, rate in enumerate(("1e-5", "0.02", "0.03", "0.05"))}
    changed = max(clones, key=lambda each: each[1])
    check_same_bits(trials[changed[0]]["path"], sweeps.line_alone(config, clones, first, *changed))


TUNER = """
import os, shutil, time
from trainrt import tune

def train(config):
    step = 0
    if tune.get_checkpoint():
        with tune.get_checkpoint().as_directory() as folder:
            step = int(open(folder + "/step").read())
    while step < 6:
        time.sleep(0.3)
        step += 1
        folder = os.path.join(os.environ["TEST_SCRATCH"], f"{os.getpid()}-{step}")
        os.mkdir(folder)
        with open(folder + "/step", "w") as file:
            file.write(str(step))
        tune.report({"loss": config["lr"] / step}, checkpoint=tune.Checkpoint(folder))
        shutil.rmtree(folder)

if __name__ == "__main__":
    grid = tune.Tuner(train, param_space={"lr": tune.uniform(0, 1)}, tune_config=tune.TuneConfig(metric="loss", mode="min", num_samples=5),
                      run_config=tune.RunConfig(name="python", storage_path=os.environ["RUNS"])).fit()
    print("GRID", len(grid), grid.num_terminated, grid.num_errors)
"""


@test
def a_tuner_in_a_batch_script_starts_trials_as_steps_and_continues_after_a_requeue():
    folder = scratch()
    (folder / "tune.py").write_text(TUNER)
    (folder / "tune.sh").write_text(f"#!/bin/bash\nexport PYTHONPATH={BUILD}/python RUNS={folder}/runs TEST_SCRATCH={folder}\nexec {sys.executable} {folder}/tune.py\n")
    job = CLUSTER.sbatch(["-N2", "-n2", "--requeue", "--open-mode=append"], script=folder / "tune.sh")
    wait_until(lambda: len(list(folder.glob("runs/python/trial_*/result.json"))) >= 2, 60, "two trials to report", job)
    CLUSTER.call("scontrol", "requeue", job.id)
    job.wait_for_restart(1)
    ended(job)
    check("GRID 5 5 0" in job.text and "2 at the same time" in job.text, "the results of the grid are wrong", job)
    trials = check_all_over(folder / "python.ini", 5, job)
    check(sum(trial["attempts"] for trial in trials) > 5, "no trial was interrupted", job)


@test
def more_workers_than_the_job_has_tasks_are_an_error():
    config = sweep_config("large", num_samples=1, workers=3)
    job = CLUSTER.sbatch(["-N1", "-n2"], config, script="tune.sbatch")
    ended(job, "FAILED")
    check("tune.workers = 3, but the job has only 2 tasks" in job.text, "the reason is not printed", job)


main(lambda: CLUSTER.up(2), CLUSTER.down)
