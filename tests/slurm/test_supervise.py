#!/usr/bin/python3
"""jobs/train.sbatch with `trainrt supervise` on a real Slurm of three nodes. A failed step is started again in the same allocation and ends
with the same bits as an uninterrupted run. A run that cannot succeed ends, and its record has the reason."""
import json
import os
import shutil
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403
from runs.trouble import trouble_config  # noqa: E402

CLUSTER = Cluster("sup")
NO_PROGRESS = 76
DATA = {"samples": 384, "features": 200}
LOOP = {"epochs": 40, "batch_size": 16, "dropout": 0.1, "optimizer": "adamw", "lr": 0.005}
EVERY = {"every": "2 reports"}


def config_of(name="run", loop=None, checkpoint=EVERY, **sections):
    return linear_config(scratch(), name, {**LOOP, **(loop or {})}, DATA, checkpoint, **sections)


_references = []


def reference():
    """Returns the directory of an uninterrupted run of 2 ranks."""
    if not _references:
        config = config_of("whole")
        check_exit(CLUSTER.run_srun(["-N2", "-n2"], config, timeout=120), FINISHED)
        _references.append(run_dir_of(config))
    return _references[0]


def running(job, run_dir, more=3):
    """Waits until the run has made `more` more reports."""
    count = report_count(run_dir)
    wait_until(lambda: report_count(run_dir) >= count + more, 60, f"{more} more reports", job)


def ended(job, state, timeout=90):
    equal(job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", timeout=timeout), state, "state of the job", job)


def exit_code(job):
    return int(job.show()["ExitCode"].split(":")[0])


def reasons(run_dir):
    """Returns the reason of the end of each attempt, as shown by `trainrt result`."""
    shown = run([TRAINRT, "result", run_dir, "--json"])
    check_exit(shown, FINISHED)
    return [attempt["why"] for attempt in json.loads(shown.out)["attempts"]]


def check_complete(run_dir, job):
    check_iterations(run_dir)
    check_same_bits(run_dir, reference())
    check_verifies(run_dir)
    check_no_debris(run_dir, keep=2)
    equal(run_state(run_dir), "finished", "state of the run", job)


# ---- restarts in the same allocation ------------------------------------------------------------------------------------------


def killed_rank(shape, signal_number, how):
    whole = reference()
    config = config_of(loop={"step_pause": 0.005})
    run_dir = run_dir_of(config)
    job = CLUSTER.sbatch([*shape, "-n2", "-c1"], config)
    running(job, run_dir)
    wait_until(lambda: any(run_dir.glob("checkpoint_*/manifest.json")), 30, "a checkpoint", job)
    start = time.monotonic()
    kill([job.ranks()[1]], signal_number)
    job.wait_for("continuing from", timeout=60)
    took = time.monotonic() - start
    check(took < 30, f"{took:.0f} s from the kill of the rank to the restart", job)
    ended(job, "COMPLETED")
    equal(job.restarts(), 0, "requeues", job)
    whys = reasons(run_dir)
    equal(len(whys), 2, "number of attempts", job)
    check(re.fullmatch(how, whys[0]), f"another reason of the first attempt: {whys[0]}", job)
    equal(whys[1], "finished", "reason of the second attempt", job)
    check(re.search(r"trainrt supervise: attempt 1: .*: restarting the run in 1 s, restart 1 of 3", job.text), "the restart is not reported", job)
    check_complete(run_dir, job)
    check(whole != run_dir, "both runs have the same directory")


add_test("a_killed_rank_with_another_rank_on_its_node_is_restarted_in_the_allocation", killed_rank, ["-N1"], signal.SIGKILL,
         "failed: rank 0 .* rank 1 .* has exited .*|killed: rank [01-]+ on n1 by SIGKILL .*")
add_test("a_killed_rank_alone_on_its_node_is_restarted_in_the_allocation", killed_rank, ["-N2"], signal.SIGKILL, r"killed: rank 1 on n2 by SIGKILL \(srun exit 137\)")


@test
def a_killed_rank_in_a_job_of_one_node_continues_from_the_copy_of_its_state_in_memory():
    # No checkpoint is saved before the end, since a checkpoint that is newer than the copy would be used.
    config = config_of(loop={"step_pause": 0.01}, checkpoint={"every": "1000 reports"}, failure={"recovery": "live"})
    job = CLUSTER.sbatch(["-N1", "-n2", "-c1"], config)
    running(job, run_dir_of(config))
    kill([job.ranks()[1]])
    job.wait_for(r"continuing from the copy of the State in memory", timeout=60)
    ended(job, "COMPLETED")
    check_complete(run_dir_of(config), job)


@test
def ranks_that_outlive_their_srun_are_ended_before_the_next_attempt_starts():
    """Slurm normally ends them, but not if srun is killed while it launches them."""
    whole = reference()
    config = config_of(loop={"step_pause": 0.02})
    run_dir = run_dir_of(config)
    # Cores may be shared, so that Slurm starts a second step while the first one still runs.
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1"], config, srun_args="--overcommit -N1 -n2")
    wait_until(job.ranks, 30, "a rank to start", job)
    kill([pid for pid in job.processes() if name_of_process(pid).startswith("srun ")])
    ended(job, "COMPLETED")
    equal(job.restarts(), 0, "requeues", job)
    check("trainrt supervise: " in job.text.split("done;")[0], "srun was not killed", job)
    check("already running" not in job.text, "the next attempt started while the previous one was running", job)
    check_complete(run_dir, job)
    check_same_bits(run_dir, whole)


@test
def an_srun_that_exits_with_0_without_running_the_step_counts_as_failed():
    """Slurm's srun does this if a node fails while the step is launched."""
    folder = scratch("bin")
    wrapper = folder / "srun"
    wrapper.write_text(f'#!/bin/sh\nmkdir {folder}/once 2>/dev/null && exit 0\nexec {shutil.which("srun")} "$@"\n')
    wrapper.chmod(0o755)
    config = config_of()
    job = CLUSTER.sbatch(["-N1", "-n2", "-c1", f"--export=ALL,PATH={folder}:{os.environ['PATH']}"], config)
    ended(job, "COMPLETED")
    check("srun could not start the step" in job.text, "the failure is not reported", job)
    check_complete(run_dir_of(config), job)


@test
def cpus_that_slurm_reserves_for_an_ended_step_do_not_delay_the_restart():
    """Slurm reserves them if slurmstepd is killed and slurmd returns. In this test another step of the job uses the node and does not end."""
    config = config_of(loop={"step_pause": 0.02})
    folder = scratch("bin")
    wrapper = folder / "srun"
    wrapper.write_text(f'#!/bin/sh\n[ -d {folder}/once ] && [ ! -d {folder}/twice ] && mkdir {folder}/twice && {{\n'
                       f'  setsid env -u SLURM_OVERLAP {shutil.which("srun")} -n2 sleep 600 >/dev/null 2>&1 &\n  sleep 2; }}\n'
                       f'mkdir {folder}/once 2>/dev/null\nexec {shutil.which("srun")} "$@"\n')
    wrapper.chmod(0o755)
    job = CLUSTER.sbatch(["-N1", "-n2", "-c1", f"--export=ALL,PATH={folder}:{os.environ['PATH']}"], config)
    running(job, run_dir_of(config))
    kill([job.ranks()[1]])
    ended(job, "COMPLETED")
    check((folder / "twice").is_dir(), "there was no restart", job)
    check_complete(run_dir_of(config), job)


@test
def after_a_node_failure_an_elastic_run_continues_and_a_fixed_run_is_requeued():
    """n3 fails under two jobs; one of them may continue with 2 of its 3 workers (sbatch --no-kill)."""
    slow = {"epochs": 12, "batch_size": 32, "step_pause": 1, "dropout": 0}
    elastic, rigid = (config_of(name, slow, scaling={"min_workers": least}) for name, least in (("elastic", 2), ("rigid", 0)))
    continued = CLUSTER.sbatch(["-N3", "-n3", "-c1", "--no-kill"], elastic)
    requeued = CLUSTER.sbatch(["-N3", "-n3", "-c1"], rigid)
    for job, config in ((continued, elastic), (requeued, rigid)):
        running(job, run_dir_of(config), more=1)
    CLUSTER.kill_node("n3", with_processes=False)
    continued.wait_for("continuing with 2 of 3 workers, on n1,n2", timeout=90)
    CLUSTER.start_node("n3")
    requeued.wait_for_restart(1, timeout=60)
    for job, config in ((continued, elastic), (requeued, rigid)):
        ended(job, "COMPLETED", timeout=180)
        check_iterations(run_dir_of(config), slow["epochs"])
        check_verifies(run_dir_of(config))
    whys, nodes = reasons(run_dir_of(elastic)), [attempt["nodes"] for attempt in attempts(run_dir_of(elastic))]
    check(re.match(r"(killed: )?lost node n3|failed: ", whys[0]), f"another reason of the first attempt of the elastic run: {whys}", continued)
    equal((whys[-1], nodes[0], nodes[-1]), ("finished", ["n1", "n2", "n3"], ["n1", "n2"]), "end and nodes of the elastic run", continued)
    equal(continued.restarts(), 0, "requeues of the elastic run", continued)
    # After n3 returns, Slurm may end the processes of the restarted job there, mistaking them for the old ones; the allocation then lacks n3.
    shrank = "Slurm has taken a node out of the allocation" in requeued.text
    equal(requeued.restarts(), 2 if shrank else 1, "requeues of the fixed run", requeued)
    whys = reasons(run_dir_of(rigid))
    check("node failure" in whys[0], f"another reason of the first attempt of the requeued run: {whys}", requeued)
    equal(whys[-1], "finished", "end of the requeued run", requeued)


# ---- permanent failures ----------------------------------------------------------------------------------


def gives_up(config, code, attempts_made, last_word):
    """Checks that the job fails with `code` after `attempts_made` attempts, is not requeued, and prints a hint last."""
    run_dir = run_dir_of(config)
    job = CLUSTER.sbatch(["-N1", "-n2", "-c1"], config)
    ended(job, "FAILED")
    equal(exit_code(job), code, "exit code of the job", job)
    equal(job.restarts(), 0, "requeues", job)
    equal(len(attempts(run_dir)), attempts_made, "number of attempts", job)
    messages = [line for line in job.text.splitlines() if line.startswith("trainrt supervise: ")]
    check(re.search(last_word, messages[-1]), f"the last message is {messages[-1]!r}, expected {last_word!r}", job)
    return job


@test
def a_train_function_that_always_fails_is_given_up_after_max_failures():
    config = trouble_config({"trouble": "throw"}, failure={"max_failures": 1})
    job = gives_up(config, FAILED, 2, r"no such luck.*restarted 1 time in this allocation \(failure.max_failures\).*submit the job again")
    check("restarting the run in 1 s, restart 1 of 1" in job.text, "the restart is not reported", job)
    equal(run_state(run_dir_of(config)), "failed", "state of the run", job)
    equal([why[:8] for why in reasons(run_dir_of(config))], ["failed: "] * 2, "reasons of the attempts", job)


@test
def restarts_of_programs_by_their_ranks_count_as_failures():
    folder = scratch()
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "failure": {"max_failures": 2},
                                               "train": {"program": f"/bin/sh -c 'echo >> {folder}/starts; exit 3'"}})
    job = gives_up(config, FAILED, 3, r"exited with 3.*restarted 2 times in this allocation \(failure.max_failures\)")
    equal(len((folder / "starts").read_text().splitlines()), 6, "starts of programs", job)


@test
def attempts_without_progress_end_with_76_under_supervise_and_without_it():
    config = trouble_config({"trouble": "throw"}, failure={"max_no_progress": 2})
    gives_up(config, NO_PROGRESS, 2, r"2 attempts in a row got no further.*max_no_progress.*submit the job again")
    # A user's script starts the step several times without supervise.
    circle = run(["sbatch", "--parsable", "-N1", "-n2", f"--output={scratch()}/out", "--wait", "--wrap",
                  f"for i in 1 2 3; do srun --kill-on-bad-exit=0 {TRAINRT} --config {config}; c=$?; done; exit $c"], env=CLUSTER.env, submits=True)
    equal(circle.code, NO_PROGRESS, "exit code of the script", circle)
    equal(len(attempts(run_dir_of(config))), 4, "attempts of both jobs", circle)


@test
def an_invalid_config_is_not_started_again():
    gives_up(config_of(loop={"optimizer": "none"}), USAGE, 0, "Do what the error above advises")


@test
def a_job_is_requeued_at_most_max_requeues_times():
    config = config_of(loop={"epochs": 100000}, failure={"max_requeues": 0})
    job = CLUSTER.sbatch(["-N1", "-n2", "-c1"], config)
    running(job, run_dir_of(config))
    CLUSTER.call("scancel", "--signal=USR1", f"{job.id}.0")
    ended(job, "FAILED")
    equal((exit_code(job), job.restarts()), (FAILED, 0), "exit code and requeues", job)
    check(re.search("trainrt supervise: .*stopped by SIGUSR1.*max_requeues.*Submit it again", job.text), "the reason is not printed", job)
    equal((run_state(run_dir_of(config)), reasons(run_dir_of(config))), ("stopped", ["stopped by SIGUSR1"]), "state and reason", job)


@test
def supervise_outside_an_allocation_or_under_srun_is_refused_with_a_hint():
    config = config_of()
    alone = run([TRAINRT, "supervise", "--config", config])
    check_exit(alone, USAGE)
    check(f"trainrt -n N --config {config}" in alone.err, "the hint is missing", alone)
    under_srun = run(["srun", "-n2", TRAINRT, "supervise", "--config", config], env=CLUSTER.env)
    check_exit(under_srun, USAGE)
    equal(under_srun.err.count("starts srun itself"), 1, "number of messages", under_srun)
    check(not run_dir_of(config).exists(), "a run directory was left")


# ---- requeues ------------------------------------------------------------------------------------------------------------------


@test
def a_task_of_an_array_requeues_only_itself():
    """Tests the last task, because its job ID is that of the array."""
    config = config_of(loop={"step_pause": 0.01})
    run_dir = run_dir_of(config)
    other = run(["sbatch", "--parsable", "--array=1-2", "-N1", "-n2", "--signal=USR1@0", "--output=/dev/null", f"--export=ALL,WORDS={config}",
                 "--wrap", f'[ "$SLURM_ARRAY_TASK_ID" = 1 ] && exec sleep 60; exec {TRAINRT} supervise --config $WORDS'], env=CLUSTER.env,
                submits=True)
    equal(other.code, 0, "exit of sbatch", other)
    first, last = (BatchJob(CLUSTER, f"{other.out.strip()}_{task}", Path("/dev/null")) for task in (1, 2))
    wait_until(lambda: first.state() == last.state() == "RUNNING", 30, "both tasks to run", last)
    equal((first.show()["JobId"] != last.show()["JobId"], last.show()["JobId"]), (True, other.out.strip()), "job numbers", other)
    running(last, run_dir)
    CLUSTER.call("scancel", "--signal=USR1", f"{last.id}.0")
    # The test does not call hurry(), which updates the start time by scontrol: for a task of an array, each update postpones the start.
    wait_until(lambda: last.restarts() == 1 and last.state() in ("RUNNING", "COMPLETED"), 60, "the restart", last)
    ended(last, "COMPLETED")
    equal((first.restarts(), first.state()), (0, "RUNNING"), "requeues and state of the other task")
    check_complete(run_dir, last)
    first.cancel()


@test
def without_scontrol_the_batch_script_requeues_the_job():
    config = config_of(loop={"step_pause": 0.01})
    inside = scratch() / "inside"
    inside.mkdir()
    for program in ("srun", "sh"):
        (inside / program).symlink_to(shutil.which(program))
    container = scratch() / "trainrt"
    container.write_text(f'#!/bin/sh\nPATH={inside} exec {TRAINRT} "$@"\n')
    container.chmod(0o755)
    job = CLUSTER.sbatch(["-N1", "-n2", "-c1", f"--export=ALL,TRAINRT={container}"], config)
    running(job, run_dir_of(config))
    CLUSTER.call("scancel", "--signal=USR1", f"{job.id}.0")
    job.wait_for_restart(1)
    ended(job, "COMPLETED")
    check("could not be requeued (scontrol was not found): exit code 75 leaves the requeue to the batch script" in job.text, "the message is missing", job)
    check_complete(run_dir_of(config), job)


@test
def a_start_warns_of_a_checkpoint_that_will_be_purged_from_the_storage():
    config = config_of(loop={"epochs": 1})
    check_exit(run([TRAINRT, "--config", config]), FINISHED)
    old = time.time() - 54 * 86400
    os.utime(checkpoints(run_dir_of(config))[-1] / "manifest.json", (old, old))
    job = CLUSTER.sbatch(["-N1", "-n1", "-c1"], config, "--storage.purge_days=60")
    ended(job, "COMPLETED")
    check("54 days old" in job.text and "storage.purge_days" in job.text, "the warning is missing", job)


main(setup=CLUSTER.up, teardown=CLUSTER.down)
