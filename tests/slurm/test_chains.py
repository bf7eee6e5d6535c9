#!/usr/bin/python3
"""The scripts and commands of jobs/chains on a real Slurm: chains of jobs that continue one run, arrays of runs, and job scripts on nodes
without the program."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403

CLUSTER = Cluster("chain")
EPOCHS = 20
CHAINS = SOURCE / "jobs/chains"
ENV = {"TRAINRT": TRAINRT, "TRAINRT_JOBS": SOURCE / "jobs"}


def config_of(name="run", **loop):
    return linear_config(scratch(), name, {"epochs": EPOCHS, "step_pause": 0.05, **loop}, {"samples": 256, "features": 4})


def without_pauses(config):
    """Removes the pauses for later attempts. The running attempt has read the config, and its pauses leave time to stop it."""
    config.write_text(re.sub("step_pause *=.*", "step_pause = 0", config.read_text()))


def submitted(words, output):
    """Runs a command that submits jobs; returns the jobs, which write to `output`."""
    job = run(words, submits=True, env={**CLUSTER.env, **ENV})
    check(job.code == 0, f"exit {job.code}", job)
    return [BatchJob(CLUSTER, number.split(";")[0], output) for number in job.out.split()]


def continued_by_the_next(jobs, config, output):
    """Stops the first job, and checks that the second finishes the run and the third does nothing."""
    first, second, third = jobs
    run_dir = run_dir_of(config)
    wait_for_reports(run_dir, 3, first)
    without_pauses(config)
    equal([job.state() for job in (second, third)], ["PENDING", "PENDING"], "states of the later jobs", first)
    CLUSTER.call("scancel", "--batch", "--signal=USR1", first.id)
    equal(first.wait_for_state("FAILED", "COMPLETED"), "FAILED", "state of the job that stopped", first)
    equal(first.show().get("ExitCode"), "75:0", "exit code", first)
    for job in (second, third):
        equal(job.wait_for_state("COMPLETED", "FAILED"), "COMPLETED", f"state of job {job.id}", job)
    equal(run_state(run_dir), "finished", "state of the run", third)
    check_iterations(run_dir, EPOCHS)
    equal([attempt["owner"]["job_id"] for attempt in attempts(run_dir)], [first.id, second.id], "jobs of the attempts", third)
    equal([job.restarts() for job in jobs], [0, 0, 0], "requeues")


@test
def a_chain_by_singleton_continues_one_run():
    config, output = config_of(), scratch() / "out"
    command = ["sbatch", "--parsable", "--no-requeue", "--dependency=singleton", "--job-name=mine", "-N1", "-n1", f"--output={output}",
               SOURCE / "jobs/train.sbatch", config]
    jobs = [job for _ in range(3) for job in submitted(command, output)]
    continued_by_the_next(jobs, config, output)


@test
def a_chain_by_afterany_continues_one_run():
    config, output = config_of(), scratch() / "out"
    jobs = submitted([CHAINS / "submit_chain.sh", "3", "-N1", "-n1", f"--output={output}", SOURCE / "jobs/train.sbatch", config], output)
    continued_by_the_next(jobs, config, output)


@test
def an_array_starts_a_separate_run_for_each_seed():
    config, output = config_of(epochs=3, step_pause=0), scratch() / "out"
    (job,) = submitted(["sbatch", "--parsable", "--array=1-2", "-n1", f"--output={output}", CHAINS / "array.sbatch", config], output)
    storage = config.parent / "runs"
    wait_until(lambda: [run_state(path.parent) for path in storage.glob("seeds-*/run.json")] == ["finished"] * 2, 60,
               "two runs", job)
    seeds = {path.name: json.loads((path / "run.json").read_text())["config"]["run.seed"] for path in storage.iterdir()}
    equal(seeds, {"seeds-1": "1", "seeds-2": "2"}, "seeds of the runs", job)


@test
def an_array_of_one_task_at_a_time_is_a_chain():
    config, output = config_of(), scratch() / "out"
    (job,) = submitted(["sbatch", "--parsable", "--array=1-2%1", "--no-requeue", "-N1", "-n1", f"--output={output}", SOURCE / "jobs/train.sbatch", config], output)
    run_dir = run_dir_of(config)
    wait_for_reports(run_dir, 3, job)
    without_pauses(config)
    CLUSTER.call("scancel", "--batch", "--signal=USR1", f"{job.id}_1")
    wait_until(lambda: run_state(run_dir) == "finished", 60, "the second task to finish the run", job)
    equal(len(attempts(run_dir)), 2, "attempts", job)


@test
def the_error_of_a_script_without_the_program_tells_which_module_or_variable_to_set():
    config, folder = config_of(), scratch()
    broken = folder / "trainrt"
    broken.write_text("#!/bin/sh\necho 'error while loading shared libraries' >&2\nexit 127\n")
    broken.chmod(0o755)
    bare = {"PATH": "/usr/bin:/bin", "SLURM_SUBMIT_DIR": folder, "TRAINRT_JOBS": SOURCE / "jobs"}
    for script in ("train.sbatch", "tune.sbatch", "program.sbatch", "chains/array.sbatch"):
        for more in ({}, {"TRAINRT": folder / "no"}, {"TRAINRT": broken}):
            job = run(["bash", SOURCE / "jobs" / script, config], env={**bare, "SLURM_ARRAY_TASK_ID": "1", **more}, cwd=folder)
            check_exit(job, USAGE)
            check("module load trainrt" in job.err and "set TRAINRT" in job.err, f"{script} does not say what to do", job)
            check("command not found" not in job.err and "No such file" not in job.err, f"{script} ends in an error of the shell", job)
    (folder / "trainrt-works").symlink_to("/bin/true")
    alone = run(["bash", SOURCE / "jobs/train.sbatch"], env={"PATH": "/usr/bin:/bin", "SLURM_SUBMIT_DIR": folder, "TRAINRT": folder / "trainrt-works"}, cwd=folder)
    check_exit(alone, USAGE)
    check("no config given; usage: sbatch train.sbatch CONFIG" in alone.err and "TRAINRT_JOBS is not set" in alone.err, "the usage", alone)
    for words in ([], ["0", "x"], ["two", "x"], ["2"]):
        check_exit(run([CHAINS / "submit_chain.sh", *words]), USAGE)
    check_exit(run(["bash", CHAINS / "array.sbatch", config], env=bare), USAGE)


main(setup=lambda: CLUSTER.up(1), teardown=CLUSTER.down)
