#!/usr/bin/python3
"""failure.recovery = live: after a rank or a program has died, the run continues from the copy of its State in memory, and ends with the same bits
as an undisturbed run. If there is no usable copy, it continues from its newest checkpoint."""
import array
import random
import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403
from runs.program_runs import program_config, wait_for_programs  # noqa: E402

RANKS = 2
LOOP = {"epochs": 100, "batch_size": 16, "step_pause": 0.005, "report_every": 4, "dropout": 0.1, "optimizer": "adamw"}
DATA = {"samples": 320, "features": 64}  # 10 steps per epoch: 1000 steps
MEMORY = {"failure": {"recovery": "live", "max_failures": 20}}
CONTINUES = "continuing from the copy of the State in memory"
PROGRAM = """
    import os, sys, time
    import numpy, trainrt
    ctx = trainrt.context()

    def die_after(deaths):  # kills rank 1 if it was killed `deaths` times before
        file = sys.argv[0] + ".deaths"
        if ctx.world_rank == 1 and (os.path.getsize(file) if os.path.exists(file) else 0) == deaths:
            open(file, "a").write("x")
            os.kill(os.getppid(), 9)
            time.sleep(60)

    weights = numpy.zeros(SIZE)
    state = trainrt.State()
    state.tensor("model/weights", weights)
    state["epoch"], state["batch"], state["text"] = 0, 0, ""
    ctx.restore(state)
    BEGIN
    while state["epoch"] < 12:
        while state["batch"] < 10:
            gradient = numpy.random.default_rng(ctx.step_seed).normal(size=weights.size)
            ctx.all_reduce(gradient, "mean")
            weights += gradient
            state["batch"] += 1
            step = 10 * state["epoch"] + state["batch"]
            BEFORE
            ctx.step()
            BODY
            time.sleep(0.03)
        state["epoch"], state["batch"] = state["epoch"] + 1, 0
        ctx.report({"size": float(numpy.abs(weights).sum())})
    ctx.save()
"""


def start(config, *words, **options):
    return Job([TRAINRT, "-n", str(RANKS), "--config", config, *words], **options)


def finish(job, timeout=60):
    job.code = job.wait(timeout)
    check_exit(job, FINISHED)


def undisturbed(config):
    finish(start(config, "--run.name=whole", "--failure.recovery=restart"))
    return run_dir_of(config).parent / "whole"


def continued_steps(job):
    """Returns the steps at which the run continued from a copy."""
    return [int(step) for step in re.findall(CONTINUES + r" \(step (\d+)", job.err)]


def own_program(name, begin="pass", body="pass", before="pass", size=1000):
    script = scratch() / "train.py"
    script.write_text(textwrap.dedent(PROGRAM.replace("BEGIN", begin).replace("BODY", body).replace("BEFORE", before).replace("SIZE", str(size))))
    return program_config(f"/usr/bin/python3 {script}", name, checkpoint={"every": "off"}, **MEMORY)


def kill_and_wait(job, kills, victim):
    """Kills what `victim` returns, each time after the run has continued for a random time."""
    for number in range(1, kills + 1):
        time.sleep(random.uniform(0.3, 0.8))
        kill([victim()])
        wait_until(lambda: job.ended() or len(continued_steps(job)) == number, 30, f"the run to continue after kill {number}", job)


@test
def killed_ranks_cost_no_bit_and_no_checkpoint_is_needed():
    config = linear_config(scratch(), "killed", LOOP, DATA, {"every": "off"}, **MEMORY)
    whole = undisturbed(config)
    job = start(config)
    wait_for_reports(run_dir_of(config), 1, job)
    kill_and_wait(job, 4, lambda: job.wait_for_ranks(RANKS)[random.randrange(RANKS)])
    finish(job)
    steps = continued_steps(job)
    check(len(steps) == 4 and steps == sorted(set(steps)) and steps[0] > 0, f"the run continued at {steps}", job)
    check_iterations(run_dir_of(config))
    check_same_bits(run_dir_of(config), whole)
    check_verifies(run_dir_of(config))


@test
def killed_programs_and_their_ranks_cost_no_bit():
    config = own_program("killed")
    whole = undisturbed(config)
    job = start(config)
    wait_for_reports(run_dir_of(config), 1, job)
    kill_and_wait(job, 1, lambda: job.wait_for_ranks(RANKS)[1])
    wait_for_reports(run_dir_of(config), report_count(run_dir_of(config)) + 2, job)
    kill([wait_for_programs(job, RANKS)[0]])
    finish(job)
    equal(len(continued_steps(job)), 2, "restarts from a copy", job)
    check_iterations(run_dir_of(config))
    check_same_bits(run_dir_of(config), whole)


@test
def a_run_that_dies_three_times_before_its_next_copy_continues_from_its_checkpoint():
    config = own_program("dies", "die_after(1); die_after(2); die_after(3)", "if step == 20: ctx.save()\n            if step == 50: die_after(0)")
    job = start(config)
    finish(job)
    check(re.search(CONTINUES + r"(.|\n)*continuing from \S*checkpoint_000000 \(step 20", job.err), "first the copy, then the checkpoint", job)
    equal(len(continued_steps(job)), 3, "restarts from a copy", job)


def standbys(job):
    return {pid for pid in processes_with(job.token) if is_standby(pid)}


def wait_for_standbys(job):
    wait_until(lambda: len(standbys(job)) == RANKS or job.ended(), 30, "the standby", job)
    check(not job.ended(), "the run has ended", job)
    return standbys(job)


@test
def processes_that_wait_replace_the_ranks_of_a_run_and_end_with_it():
    config = linear_config(scratch(), "run", LOOP, DATA, {"every": "off"}, **MEMORY)
    job = start(config)
    waiting = wait_for_standbys(job)
    wait_until(lambda: all(name_of_process(pid).startswith("trainrt-standby ") for pid in waiting), 10, "the name in the output of ps", job)
    kill([job.wait_for_ranks(RANKS)[1]])
    wait_until(lambda: continued_steps(job), 30, "the run to continue", job)
    equal(set(job.wait_for_ranks(RANKS).values()), waiting, "processes of the ranks", job)
    check(not any("standby" in name_of_process(pid) for pid in waiting), "ranks have the name of a standby process", job)
    gone = wait_for_standbys(job)
    kill(list(gone)[:1])
    wait_until(lambda: not standbys(job) & gone, 30, "the other process of the standby to end", job)
    finish(job, 90)
    second = attempts(run_dir_of(config))[1]
    check(second["from_copy"] and second["first_step"] == continued_steps(job)[0], f"the record of attempt 2: {second}")
    listed = run([TRAINRT, "result", run_dir_of(config)])
    check(f"{second['first_step']} to {second['last_step']} (from memory)" in listed.out, "the steps of attempt 2", listed)


@test
def processes_that_wait_end_if_the_process_that_started_them_is_killed():
    config = linear_config(scratch(), "run", LOOP, DATA, {"every": "off"}, **MEMORY)
    job = start(config)
    waiting = wait_for_standbys(job)
    # Tests the signal that waiting processes get when their parent dies. They are stopped, so that the end of their pipe cannot end them first.
    kill(waiting, signal.SIGSTOP)
    kill([job.process.pid])
    kill(waiting, signal.SIGCONT)
    wait_until(lambda: not processes_with(job.token), 30, "all processes to end", job)


@test
def no_processes_wait_for_a_run_without_copies():
    config = linear_config(scratch(), "run", LOOP, DATA, {"every": "off"})
    job = start(config)
    wait_for_reports(run_dir_of(config), 10, job)
    equal(standbys(job), set(), "standby processes", job)
    job.end()


@test
def a_mistake_in_the_train_function_ends_the_run_as_without_copies():
    config = own_program("mistake", before="if step == 45: raise TypeError('a mistake')")
    job = start(config)
    job.code = job.wait(60)
    check_exit(job, FAILED)
    check("failed twice in the same way at step 44" in job.err, "the end after the second failure", job)
    equal(len(continued_steps(job)), 1, "restarts from a copy", job)


@test
def a_program_whose_values_grow_keeps_its_copies():
    config = own_program("grows", body="state['text'] += 300 * 'x'")
    job = start(config)
    wait_until(lambda: report_count(run_dir_of(config)) >= 10 or job.ended(), 60, "10 reports", job)
    kill([job.wait_for_ranks(RANKS)[1]])
    finish(job)
    check(continued_steps(job) and continued_steps(job)[0] > 60, f"the run continued at {continued_steps(job)}", job)


@test
def copies_do_not_change_the_state_that_a_checkpoint_in_flight_holds():
    script = scratch() / "steps.py"
    script.write_text(textwrap.dedent("""
        import time, numpy, trainrt
        ctx = trainrt.context()
        weights = numpy.zeros(2_000_000)
        state = trainrt.State()
        state.tensor("weights", weights)
        state["step"] = 0
        ctx.restore(state)
        while state["step"] < 60:
            state["step"] += 1
            weights[:] = state["step"]
            ctx.step()
            time.sleep(0.02)
        ctx.save()
        """))
    config = program_config(f"/usr/bin/python3 {script}", "steps", checkpoint={"every": "3 steps", "num_to_keep": 0}, **MEMORY)
    finish(start(config, env={"LD_PRELOAD": BUILD / "tests/fault_shim.so", "TRAINRT_FAULTS": "pwrite:slow=150:shard-"}))
    for directory in checkpoints(run_dir_of(config)):
        values = set(array.array("d", read_checkpoint(directory)["weights"][2]))
        equal(values, {float(step_of_checkpoint(directory))}, f"values in {directory.name}")


@test
def the_check_and_the_start_of_a_run_with_copies_print_how_it_recovers():
    config = linear_config(scratch(), "run", {"epochs": 2}, DATA, **MEMORY)
    checked = run([TRAINRT, "check", "--config", config])
    check("recovery        from copies in memory if `trainrt -n`" in checked.out, "the check", checked)
    restarting = run([TRAINRT, "check", "--config", config, "--failure.recovery=restart"])
    check("recovery  " not in restarting.out, "the check of a run without copies", restarting)
    job = start(config)
    finish(job)
    equal(job.err.count("recovery: from copies in memory (standby processes: 1 per rank)"), 1, "lines at the start", job)


@test
def a_run_whose_ranks_were_not_started_by_trainrt_says_that_it_makes_no_copies():
    config = linear_config(scratch(), "run", {"epochs": 2}, DATA, **MEMORY)
    job = run_ranks(RANKS, config)
    check_exit(job, FINISHED)
    check("no copies of the State are made in memory" in job.err and "`trainrt -n`" in job.err, "the warning", job)


def check_recovery_without_copies(job, config, whole, shortage):
    """Kills a rank of a run that warns of the `shortage`, a regular expression, and checks that it continues from its checkpoint."""
    wait_until(lambda: checkpoints(run_dir_of(config)) or job.ended(), 30, "a checkpoint", job)
    kill([job.wait_for_ranks(RANKS)[1]])
    finish(job)
    warning = f"no copies of the State are made in memory .*: {shortage}. After a failure, the run continues from its newest checkpoint"
    check(re.search(warning, job.err), "the warning with figures", job)
    equal(continued_steps(job), [], "restarts from a copy", job)
    check(re.search(r"continuing from \S*checkpoint_", job.err), "the restart from a checkpoint", job)
    check_same_bits(run_dir_of(config), whole)


@test
def copies_that_need_too_much_memory_are_not_made_and_the_run_recovers_from_its_checkpoint():
    config = linear_config(scratch(), "run", LOOP | {"epochs": 60}, DATA, {"every": "100 steps"}, **MEMORY)
    whole = undisturbed(config)
    job = start(config, "--failure.memory=1 KiB")
    check_recovery_without_copies(job, config, whole, "two copies .* take .* KiB of memory, more than the 1.0 KiB that may be used")
    check_iterations(run_dir_of(config))


@test
def memory_for_copies_that_the_system_does_not_give_costs_copies_but_not_the_run():
    config = linear_config(scratch(), "run", LOOP | {"epochs": 60}, DATA, {"every": "100 steps"}, **MEMORY)
    whole = undisturbed(config)
    job = start(config, env={"LD_PRELOAD": BUILD / "tests/fault_shim.so", "TRAINRT_FAULTS": "fallocate:ENOSPC:trainrt state"})
    shortage = r"cannot reserve \d+ bytes of memory for copies of the State: No space left on device"
    check_recovery_without_copies(job, config, whole, shortage)
    check_iterations(run_dir_of(config))


@test
def copies_above_a_limit_of_the_kernel_cost_copies_but_not_the_run():
    config = own_program("run", body="if step % 20 == 0: ctx.save()", size=300_000)  # the copies take 4.8 MB
    whole = undisturbed(config)
    limits = ["sh", "-c", 'trap "" XFSZ; ulimit -f 8192; exec "$@"', "sh"]  # 4 MiB, for each file
    job = Job([*limits, TRAINRT, "-n", str(RANKS), "--config", config])
    check_recovery_without_copies(job, config, whole, r"cannot reserve \d+ bytes of memory for copies of the State: File too large")


main()
