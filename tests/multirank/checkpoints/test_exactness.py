#!/usr/bin/python3
"""The main promise: a run that is stopped or killed any number of times ends with the same weights, optimizer state and reported
metrics, bit for bit, as an uninterrupted run on the same number of ranks."""
import random
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

# An epoch has 11 steps with 2 ranks and 8 with 3 ranks, so with BY_STEPS most reports come within an epoch. The last batch is smaller.
BY_STEPS = {"epochs": 30, "batch_size": 16, "report_every": 6, "dropout": 0.1}
BY_EPOCHS = {"epochs": 40, "batch_size": 16, "dropout": 0.1}
DATA = {"samples": 352, "features": 1000}
SIGNALS = {2: ((signal.SIGUSR1, 0), (signal.SIGTERM, "mpiexec"), (signal.SIGINT, 1), (signal.SIGUSR2, 1), (signal.SIGUSR1, "mpiexec")),
           3: ((signal.SIGUSR2, 0), (signal.SIGINT, "mpiexec"), (signal.SIGUSR1, 1), (signal.SIGTERM, 2))}


def config_of(folder, name, loop, every="4 reports"):
    return linear_config(folder, name, loop, DATA, {"every": every})


def finish(ranks, config):
    job = run_ranks(ranks, config)
    check_exit(job, FINISHED)


def stop(ranks, config, signal_number, whom):
    """Starts or continues the run, and after a few reports sends a signal to `whom`: "mpiexec" or a rank."""
    before = report_count(run_dir_of(config))
    job = start_ranks(ranks, config)
    wait_for_reports(run_dir_of(config), before + random.randint(1, 3), job)
    time.sleep(random.uniform(0, 0.02))
    check(not job.ended(), "the run ended before it could be stopped: make it longer", job)
    kill([job.process.pid if whom == "mpiexec" else job.ranks()[whom]], signal_number)
    job.code = job.wait(30)
    if job.code == FINISHED and run_state(run_dir_of(config)) == "finished":
        raise Failure(f"the run ended before it could be stopped: make it longer\n{job.tail()}")
    # If mpiexec itself gets the signal, MPICH's mpiexec exits with 0 in one of ten cases, even if the ranks exit with 75.
    check(job.code == STOPPED or (job.code == 0 and whom == "mpiexec"), f"exit {job.code}, expected {STOPPED}", job)
    equal(attempts(run_dir_of(config))[-1]["exit_code"], STOPPED, "exit_code of the attempt", job)
    text = job.out + job.err
    equal(text.count(f"stopped by {signal.Signals(signal_number).name}"), 1, "messages that name the signal", job)
    check("Run the same command again" in text.splitlines()[-1], "the last line does not ask the user to run the command again", job)
    equal(run_state(run_dir_of(config)), "stopped", "state in run.json", job)


_references = {}


def reference(ranks, loop, every):
    """Returns the config of an uninterrupted run, which runs once for all tests that compare with it."""
    key = f"{ranks} {loop} {every}"
    if key not in _references:
        _references[key] = config_of(scratch(), "whole", loop, every)
        finish(ranks, _references[key])
    return _references[key]


def stops_leave_the_same_bits(ranks, loop, every):
    whole, stopped = reference(ranks, loop, every), config_of(scratch(), "stopped", loop, every)
    for signal_number, whom in SIGNALS[ranks]:
        stop(ranks, stopped, signal_number, whom)
        check_iterations(run_dir_of(stopped))
    finish(ranks, stopped)
    compare(stopped, whole)


def kills_leave_the_same_bits(ranks, loop, every):
    whole, killed = reference(ranks, loop, every), config_of(scratch(), "killed", loop, every)
    for _ in range(4):
        before = report_count(run_dir_of(killed))
        job = start_ranks(ranks, killed)
        job.wait_for_ranks(ranks)
        wait_for_reports(run_dir_of(killed), random.randint(max(before - 2, 1), before + 5), job)
        time.sleep(random.uniform(0, 0.05))
        check(not job.ended(), "the run ended before it could be killed: make it longer", job)
        pids = list(job.ranks().values())
        kill(pids)
        code = job.wait(30)
        check_exit_after_kill(job, code)
    finish(ranks, killed)
    compare(killed, whole)


def compare(config, whole):
    run_dir = run_dir_of(config)
    check_iterations(run_dir)
    check_same_bits(run_dir, run_dir_of(whole))
    check_no_debris(run_dir, keep=2)
    check_verifies(run_dir)


for ranks, optimizer, loop, every in ((2, "sgd", BY_STEPS, "5 reports"), (2, "adamw", BY_EPOCHS, "4 reports"),
                                      (3, "adamw", BY_STEPS, "4 reports"), (3, "sgd", BY_EPOCHS, "5 reports"),
                                      (2, "adamw", BY_STEPS, "25 steps")):
    name = f"with_{ranks}_ranks_{optimizer}_reports_by_{'steps' if 'report_every' in loop else 'epochs'}_saved_every_{every.replace(' ', '_')}"
    add_test(f"stops_leave_the_same_bits_{name}", stops_leave_the_same_bits, ranks, {**loop, "optimizer": optimizer}, every)
    add_test(f"kills_leave_the_same_bits_{name}", kills_leave_the_same_bits, ranks, {**loop, "optimizer": optimizer}, every)


@test
def the_last_checkpoint_holds_the_final_state_of_the_train_function():
    """This holds for any checkpoint interval, even with steps after the last report, so a finished run can continue with more epochs."""
    folder = scratch()
    loop = {"epochs": 3, "report_every": 9, "optimizer": "adamw"}  # 33 steps, 3 reports
    whole = linear_config(folder, "whole", {**loop, "epochs": 5}, DATA)
    finish(2, whole)
    expected = None
    for name, every in (("often", "1 steps"), ("seldom", "1000 reports"), ("never", "off")):
        config = linear_config(folder, name, loop, DATA, {"every": every})
        finish(2, config)
        found = state_of(run_dir_of(config))
        expected = expected or found
        equal(step_of(run_dir_of(config)), 33, f"step of the last checkpoint with checkpoint.every = {every}")
        # Other values may differ: the position after the last step of an epoch has two representations.
        different = [key for key in expected if key.startswith(("model/", "optimizer/", "sums/")) and found.get(key) != expected[key]]
        check(not different, f"values that differ between checkpoint.every = {every} and '1 steps': {different}")
        job = run_ranks(2, config, "--loop.epochs=5", "--checkpoint.every=1 reports")
        check_exit(job, FINISHED)
        check_same_bits(run_dir_of(config), run_dir_of(whole))


@test
def a_second_signal_while_stopping_changes_nothing():
    folder = scratch()
    config, whole = config_of(folder, "run", {**BY_EPOCHS, "optimizer": "adamw"}), reference(2, {**BY_EPOCHS, "optimizer": "adamw"}, "4 reports")
    job = start_ranks(2, config)
    wait_for_reports(run_dir_of(config), 3, job)
    for _ in range(3):
        kill(job.ranks().values(), signal.SIGTERM)
        kill(job.ranks().values(), signal.SIGUSR1)
    job.code = job.wait(30)
    check_exit(job, STOPPED)
    finish(2, config)
    compare(config, whole)


@test
def checkpoint_intervals_do_not_change_the_bits():
    folder = scratch()
    loop = {**BY_EPOCHS, "epochs": 6}
    configs = [config_of(folder, name, loop, every) for name, every in (("a", "1 reports"), ("b", "7 steps"), ("c", "0.02 s"))]
    for config in configs:
        finish(2, config)
    for config in configs[1:]:
        check_same_bits(run_dir_of(config), run_dir_of(configs[0]))


main()
