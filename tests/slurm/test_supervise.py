#!/usr/bin/python3
"""jobs/train.sbatch, and with it `trainrt supervise`, on a real Slurm of three nodes: what dies is started again in the same
allocation and ends with the bits of a run that nothing happened to; what cannot work ends, with the reason on record."""
import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403

CLUSTER = Cluster("sup")
NO_PROGRESS = 76
DATA = {"samples": 384, "features": 200}
LOOP = {"epochs": 60, "batch_size": 16, "dropout": 0.1, "optimizer": "adamw", "lr": 0.005}
EVERY = {"every": "2 reports"}


def config_of(name="run", loop=None, **sections):
    return linear_config(scratch(), name, {**LOOP, **(loop or {})}, DATA, EVERY, **sections)


_references = []


def reference():
    """The run directory of 2 ranks that nothing happened to."""
    if not _references:
        config = config_of("whole")
        check_exit(CLUSTER.run_srun(["-N2", "-n2"], config, timeout=120), FINISHED)
        _references.append(run_dir_of(config))
    return _references[0]


def running(job, run_dir, more=3):
    """Until the run has made a few more reports than now."""
    count = report_count(run_dir)
    wait_until(lambda: report_count(run_dir) >= count + more, 60, f"{more} more reports", job)


def ended(job, state, timeout=90):
    equal(job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", timeout=timeout), state, "state of the job", job)


def exit_code(job):
    return int(job.show()["ExitCode"].split(":")[0])


def reasons(run_dir):
    """Why each attempt ended, as `trainrt result` tells it."""
    shown = run([TRAINRT, "result", run_dir, "--json"])
    check_exit(shown, FINISHED)
    return [attempt["why"] for attempt in json.loads(shown.out)["attempts"]]


def check_whole(run_dir, job):
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
    start = time.monotonic()
    kill([job.ranks()[1]], signal_number)
    job.wait_for("continuing from", timeout=60)
    took = time.monotonic() - start
    check(took < 30, f"{took:.0f} s from the rank's death to the restart", job)
    ended(job, "COMPLETED")
    equal(job.restarts(), 0, "requeues", job)
    whys = reasons(run_dir)
    equal(len(whys), 2, "number of attempts", job)
    check(re.fullmatch(how, whys[0]), f"reason of the first attempt: {whys[0]}", job)
    equal(whys[1], "finished", "reason of the second attempt", job)
    check(re.search(r"trainrt supervise: attempt 1: .*: starting the step again in 1 s, restart 1 of 3", job.text), "it does not say what it does", job)
    check_whole(run_dir, job)
    check(whole != run_dir, "the same run")


add_test("a_killed_rank_with_others_on_its_node_is_restarted_in_the_allocation", killed_rank, ["-N1"], signal.SIGKILL,
         "failed: rank 0 .* rank 1 .* is gone .*|killed: rank [01-]+ on n1 by SIGKILL .*")
add_test("a_rank_that_is_killed_alone_on_its_node_is_restarted_in_the_allocation", killed_rank, ["-N2"], signal.SIGKILL, r"killed: rank 1 on n2 by SIGKILL \(srun exit 137\)")
add_test("a_rank_that_crashes_alone_on_its_node_is_restarted_in_the_allocation", killed_rank, ["-N2"], signal.SIGSEGV, r"killed: rank 1 on n2 by SIGSEGV \(srun exit 139\)")



# ---- what does not get better by repeating it ----------------------------------------------------------------------------------


def gives_up(code, attempts_made, why, loop=None, failure=None, prepare=None):
    """The job fails with that code after so many attempts, is not requeued, and says what to do."""
    config = config_of(loop=loop, failure=failure or {})
    run_dir = run_dir_of(config)
    if prepare:
        prepare(run_dir)
    job = CLUSTER.sbatch(["-N1", "-n2", "-c1"], config)
    ended(job, "FAILED")
    equal(exit_code(job), code, "exit code of the job", job)
    equal(job.restarts(), 0, "requeues", job)
    found = attempts(run_dir) if run_dir.exists() else []
    equal(len(found), attempts_made, "number of attempts", job)
    last = [line for line in job.text.splitlines() if line.startswith("trainrt supervise: ")][-1]
    check(re.search(why, last), f"the last word is {last!r}, expected {why!r}", job)
    return job


def full_of_dirt(run_dir):
    """No checkpoint can be committed: what should be its directory is a file, for each number."""
    run_dir.mkdir(parents=True)


@test
def a_train_function_that_always_fails_is_given_up_after_max_failures():
    # It dies in its first step: a checkpoint that is due there finds no place to be written, and the first such ends the run.
    failing = {"max_failures": 1, "max_no_progress": 0}
    job = gives_up(FAILED, 2, r"started again 1 time in this allocation \(failure.max_failures\).*submit the job again", loop=CRASH, failure=failing)
    check("starting the step again in 1 s, restart 1 of 1" in job.text, "it does not say that it tries again", job)


@test
def attempts_that_get_no_further_end_with_76():
    job = gives_up(NO_PROGRESS, 2, r"2 attempts in a row got no further.*max_no_progress.*submit the job again", loop=CRASH,
                   failure={"max_failures": 10, "max_no_progress": 2})
    # Somebody's own script starts it again, without supervise: refused, and no attempt is made.
    again = CLUSTER.run_srun(["-N1", "-n2"], job.config, env={"SLURM_JOB_ID": job.id}) if False else None
    check(again is None, "")


@test
def a_config_that_cannot_work_is_not_repeated():
    gives_up(USAGE, 0, "mend what the error above says", loop={"optimizer": "none"})
