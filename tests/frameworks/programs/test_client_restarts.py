#!/usr/bin/python3
"""A program that uses the client fails at any point: the same rank processes start all programs again from the last checkpoint, and the
run ends with the bits of an undisturbed run."""
import random
import shutil
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.program_runs import *  # noqa: E402,F403

RESTARTS = {"failure": {"max_failures": 5}}
FIRST_START = "import os, sys, time\nfirst_start = os.environ['TORCHELASTIC_RESTART_COUNT'] == '0'\n"
# Ten steps on integers. Each step depends on the step before, on all ranks.
COUNTS = FIRST_START + """
numbers = numpy.zeros(3, numpy.int64)
state = trainrt.State()
state.tensor("numbers", numbers)
{before}
ctx.restore(state)
while ctx.step_count < 10:
    part = numpy.full(3, ctx.step_count + ctx.world_rank, numpy.int64)
    ctx.all_reduce(part, "sum")
    numbers[:] = 3 * numbers + part
    {inside}
    ctx.step()
ctx.save()
"""


def counting(name="run", before="", inside="", **sections):
    text = COUNTS.format(before=before, inside=inside.replace("\n", "\n    "))
    return program_config(python(text), name, checkpoint={"every": "5 steps"}, **{**RESTARTS, **sections})


def check_counted(config, job, ranks):
    """Checks that the run ends like an undisturbed run, after one restart in place."""
    check_exit(job, FINISHED)
    whole = counting("whole")
    check_exit(run_program(ranks, whole), FINISHED)
    check_same_bits(run_dir_of(config), run_dir_of(whole))
    equal([record["exit_code"] for record in attempts(run_dir_of(config))], [FAILED, 0], "attempts", job)
    check_verifies(run_dir_of(config))


def kills_in_place(ranks):
    config = linear_program(loop={"step_pause": 0.005}, **RESTARTS)
    run_dir = run_dir_of(config)
    job = start_program(ranks, config)
    before = None
    for _ in range(2):
        wait_for_reports(run_dir, report_count(run_dir) + random.randint(1, 3), job, 60)
        time.sleep(random.uniform(0, 0.05))
        check(not job.ended(), "the run ended before it could be killed: make it longer", job)
        children = wait_for_programs(job, ranks)
        before = before or job.ranks()
        kill([children[random.randrange(ranks)]])
        wait_until(lambda: job.ended() or not set(children.values()) & set(programs(job).values()), 20, "the end of all programs", job)
    wait_for_programs(job, ranks)
    equal(job.ranks(), before, "the same rank processes", job)
    job.code = job.wait(90)
    check_exit(job, FINISHED)
    equal([record["exit_code"] for record in attempts(run_dir)], [FAILED, FAILED, 0], "attempts", job)
    check("was ended by SIGKILL" in job.err and "restart 2 of 5 (failure.max_failures)" in job.err, "the restarts are not logged", job)
    whole = linear_program("whole")
    check_exit(run_program(ranks, whole), FINISHED)
    check_iterations(run_dir)
    check_same_bits(run_dir, run_dir_of(whole))
    check_no_debris(run_dir, keep=2)
    check_verifies(run_dir)


for ranks in (1, 3):
    add_test(f"kills_of_programs_of_{ranks}_ranks_leave_the_same_bits", kills_in_place, ranks)


@test
def a_program_killed_during_a_checkpoint_leaves_no_rank_waiting():
    folder = scratch()
    before = f"""
@state.before_save
def pause():
    if first_start and ctx.world_rank == 1:
        open("{folder}/saving", "w").close()
        time.sleep(1000)
"""
    config = counting(before=before)
    job = start_program(3, config)
    wait_until(lambda: (folder / "saving").exists() or job.ended(), 60, "a checkpoint", job)
    kill([programs(job)[1]])
    job.code = job.wait(60)
    check_counted(config, job, 3)


@test
def a_failed_program_ends_the_programs_that_compute_or_wait():
    """Rank 0 waits in a collective that rank 1 never enters, and rank 2 computes for ever."""
    config = counting(inside="if first_start and ctx.step_count == 6:\n    if ctx.world_rank == 1:\n        raise ValueError('bad batch')\n"
                             "    time.sleep(1000 * (ctx.world_rank == 2))")
    job = run_program(3, config)
    check("rank 1 on " in job.err and "failed: ValueError: bad batch: restarting the run, restart 1 of 5" in job.err, "the cause", job)
    check_counted(config, job, 3)


@test
def a_program_that_always_fails_ends_the_run_with_its_error():
    config = counting(inside="if ctx.world_rank == 1:\n    raise ValueError('bad batch')", failure={"max_failures": 1})
    job = run_program(2, config)
    check_exit(job, FAILED)
    text = error_of(config)
    for word in ("the program of rank 1 on ", "failed: ValueError: bad batch", "Traceback"):
        check(word in text, f"error.txt lacks {word!r}: {text}", job)
    check("given up after 2 failures (failure.max_failures = 1)" in job.err, "the end is not logged", job)
    for words in ("Traceback (most recent call last)", "restart 1 of 1"):
        equal(job.err.count(words), 1, f"number of texts '{words}'", job)
    check(job.err.index("Traceback") < job.err.index("trainrt: error: the program of rank 1"), "the traceback comes after the reason", job)
    equal(len(attempts(run_dir_of(config))), 2, "attempts", job)


@test
def the_same_mistake_twice_at_the_same_step_ends_the_run():
    for wrong, words in (("raise ValueError('bad batch')", "ValueError: bad batch"), ("ctx.report({'loss': [1, 2]})", "TypeError: metric 'loss' is a list")):
        config = counting(inside=f"if ctx.step_count == 2:\n    {wrong}")
        job = run_program(2, config)
        check_exit(job, FAILED)
        check(words in job.err and "; failed twice in the same way at step 2" in job.err, "the repeated error is not named", job)
        equal(len(attempts(run_dir_of(config))), 2, "attempts", job)


@test
def a_failure_that_may_be_temporary_is_repeated_max_failures_times():
    config = counting(inside="if ctx.step_count == 2:\n    raise OSError('no answer')", failure={"max_failures": 2})
    job = run_program(2, config)
    check_exit(job, FAILED)
    check("given up after 3 failures (failure.max_failures = 2)" in job.err, "the restarts are not reported", job)


@test
def a_program_that_exits_with_0_ends_with_a_checkpoint_of_its_state():
    text = COUNTS.replace("ctx.save()\n", "{after}\n")
    for code, number in (("", 1), ("sys.exit(3)", 0), ("raise SystemExit(ctx.world_rank)", 0)):
        config = program_config(python(text.format(before="", inside="", after=code)), checkpoint={"every": "100 s"}, failure={"max_failures": 0})
        job = run_program(2, config)
        check_exit(job, FINISHED if number else FAILED)
        equal(len(checkpoints(run_dir_of(config))), number, f"checkpoints after {code!r}", job)
        check("without saving" not in job.err, "a warning", job)
        if number:
            whole = counting("whole")
            check_exit(run_program(2, whole), FINISHED)
            check_same_bits(run_dir_of(config), run_dir_of(whole))


@test
def a_state_that_cannot_be_read_at_the_end_is_a_warning():
    text = COUNTS.replace("ctx.save()\n", "@state.before_save\ndef fails():\n    raise KeyError('w')\n")
    job = run_program(2, program_config(python(text.format(before="", inside="")), checkpoint={"every": "100 s"}))
    check_exit(job, FINISHED)
    for word in ("could not be saved at the end of the program: KeyError: 'w'", "the program ended at step 10 without saving",
                 "Call trainrt.context().save() at the end of the program"):
        check(word in job.err, f"the warning lacks {word!r}", job)


@test
def a_stop_after_a_restart_loses_nothing():
    """A stop request to a rank applies to a program that was started after the restart."""
    config = counting(inside="if first_start and ctx.step_count == 6:\n    os._exit(3)\ntime.sleep(0.2)")
    job = start_program(2, config)
    wait_until(lambda: job.ended() or len(attempts(run_dir_of(config))) == 2, 60, "a restart", job)
    wait_for_programs(job, 2)
    kill([job.ranks()[1]], signal.SIGUSR1)
    job.code = job.wait(60)
    check_exit(job, STOPPED)
    check_exit(run_program(2, config), FINISHED)
    whole = counting("whole")
    check_exit(run_program(2, whole), FINISHED)
    check_same_bits(run_dir_of(config), run_dir_of(whole))


@test
def a_program_that_others_wait_for_beyond_the_timeout_is_named():
    config = counting(inside="if ctx.world_rank == 1:\n    time.sleep(1000)", failure={"max_failures": 0, "collective_timeout": 2})
    job = run_program(3, config)
    check_exit(job, FAILED)
    text = error_of(config).splitlines()[0]
    check("has waited 2 s (failure.collective_timeout) in step() at " in text and "for rank 1 (last call: all_reduce()" in text, f"error.txt: {text}", job)


@test
def a_failed_program_and_a_failed_checkpoint_end_the_run_and_are_both_named():
    if shutil.which("strace") is None:
        skip("strace is not installed")
    folder = scratch()
    text = """
import os
weights = numpy.random.default_rng(1).random(1 << 20)
state = trainrt.State()
state.tensor("weights", weights)
ctx.restore(state)
ctx.step()
ctx.report({"loss": 1.0})
os._exit(3)
"""
    config = program_config(python(text), checkpoint={"every": "1 reports", "max_failed": 1}, failure={"max_failures": 3, "storage_timeout": 1})
    slow = ["strace", "-f", "-o", scratch() / "calls", "-e", "trace=fallocate", "-e", "inject=fallocate:delay_enter=1500000"]  # longer than the program takes to exit
    job = run([*own_mount(folder, "size=4m,mode=700"), *slow, TRAINRT, "--config", config, f"--run.storage_path={folder}"], env=ONE_THREAD)
    check_exit(job, FAILED)
    check("exited with 3" in job.err and "and then: the checkpoint at step 1 could not be written" in job.err, "the causes", job)
    check("restarting the run" not in job.err, "the run restarts although the checkpoint failed", job)


main()
