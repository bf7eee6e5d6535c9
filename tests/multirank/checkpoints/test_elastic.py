#!/usr/bin/python3
"""An elastic run (scaling.min_workers) continues with fewer, and later more, ranks and keeps its global batch. It takes the same steps
as an uninterrupted run, sees each sample once, and reports the same metrics except for rounding."""
import random
import signal
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

# 8 steps per epoch. 3 ranks cannot split a full global batch (64 samples) or the last one (32 samples) evenly.
LOOP = {"epochs": 15, "batch_size": 16, "report_every": 7, "lr": 0.02}
DATA = {"samples": 480, "features": 50}
STEPS = 15 * 8


def config_of(folder, name, scaling, **loop):
    return linear_config(folder, name, {**LOOP, **loop}, DATA, scaling=scaling)


def finish(ranks, config, *words):
    job = run_ranks(ranks, config, *words)
    check_exit(job, FINISHED)
    return job


def interrupt(ranks, config, with_kill=False):
    """Starts or continues the run; some steps after its second new report, stops it by a signal or kills its ranks."""
    before = report_count(run_dir_of(config))
    job = start_ranks(ranks, config)
    job.wait_for_ranks(ranks)
    wait_for_reports(run_dir_of(config), before + 2, job)
    time.sleep(random.uniform(0, 0.1))
    check(not job.ended(), "the run ended before it could be stopped: make it longer", job)
    if with_kill:
        kill(job.ranks().values())
        job.wait(60)
        return job
    kill([job.ranks()[ranks - 1]], signal.SIGUSR1)
    job.code = job.wait(60)
    check_exit(job, STOPPED)
    return job


def doubles(state, name):
    data = state[name][2]
    return struct.unpack(f"{len(data) // 8}d", data)


def check_seen(config):
    """Checks a stopped run: the ranks together have seen each sample of the global batches since the last report exactly once."""
    state = state_of(run_dir_of(config))
    step = step_of(run_dir_of(config))
    reported = report_count(run_dir_of(config)) * LOOP["report_every"]
    expected = sum(32 if number % 8 == 0 else 64 for number in range(reported + 1, step + 1))
    equal(sum(doubles(state, "sums/seen")), expected, f"samples seen since the report at step {reported}, at step {step}")


def close(found, expected, what):
    check(abs(found - expected) <= 1e-4 * abs(expected), f"{what}: {found}, expected about {expected}")


def check_like(config, whole):
    run_dir = run_dir_of(config)
    equal(step_of(run_dir), STEPS, "steps")
    check_iterations(run_dir, STEPS // LOOP["report_every"])
    check_verifies(run_dir)
    for number, (found, expected) in enumerate(zip(reports(run_dir), reports(run_dir_of(whole))), 1):
        close(found["loss"], expected["loss"], f"loss of report {number}")
        equal(found["epoch"], expected["epoch"], f"epoch of report {number}")


def loss_falls(config):
    rows = reports(run_dir_of(config))
    check(rows[-1]["loss"] < 0.2 * rows[0]["loss"], f"the model does not learn: {rows[0]['loss']} to {rows[-1]['loss']}")


@test
def a_run_of_4_ranks_continues_with_3_then_2_then_4_and_gets_the_same_results():
    folder = scratch()
    whole = config_of(folder, "whole", {})
    finish(4, whole)
    loss_falls(whole)
    config = config_of(folder, "elastic", {"min_workers": 2, "num_workers": 4}, step_pause=0.02)
    for ranks, shown in ((4, False), (3, True), (2, True)):
        job = interrupt(ranks, config)
        equal(f"elastic: {ranks} ranks share the global batches of 4 workers" in job.err, shown, "the message about shared global batches is printed", job)
        check_seen(config)
    finish(4, config, "--loop.step_pause=0")
    check_like(config, whole)
    equal([attempt["ranks"] for attempt in attempts(run_dir_of(config))], [4, 3, 2, 4], "ranks of the attempts")


@test
def a_killed_run_continues_with_fewer_and_then_with_more_ranks_than_at_its_start():
    folder = scratch()
    whole = config_of(folder, "whole", {})
    finish(3, whole)
    config = config_of(folder, "elastic", {"min_workers": 1}, step_pause=0.02)
    for ranks in (3, 2, 1, 4):
        interrupt(ranks, config, with_kill=True)
        equal(json.loads((run_dir_of(config) / "run.json").read_text())["workers"], 3, "workers in run.json")
    finish(2, config, "--loop.step_pause=0")
    run_dir = run_dir_of(config)
    equal(step_of(run_dir), step_of(run_dir_of(whole)), "steps")
    check_iterations(run_dir, report_count(run_dir_of(whole)))
    for number, (found, expected) in enumerate(zip(reports(run_dir), reports(run_dir_of(whole))), 1):
        close(found["loss"], expected["loss"], f"loss of report {number}")


@test
def an_elastic_run_with_all_its_workers_has_the_same_bits_as_a_fixed_run():
    folder = scratch()
    plain, elastic = config_of(folder, "plain", {}), config_of(folder, "elastic", {"min_workers": 1, "num_workers": 3})
    finish(3, plain)
    finish(3, elastic)
    check_same_bits(run_dir_of(elastic), run_dir_of(plain))


@test
def ranks_without_samples_in_a_global_batch_do_not_change_the_results():
    folder = scratch()
    loop = {"batch_size": 1, "epochs": 1, "report_every": 60}
    whole, config = config_of(folder, "whole", {}, **loop), config_of(folder, "elastic", {"min_workers": 1}, **loop, step_pause=0.005)
    finish(2, whole)
    interrupt_after_first_report(config)
    finish(4, config, "--loop.step_pause=0")
    equal(step_of(run_dir_of(config)), step_of(run_dir_of(whole)), "steps")
    for number, (found, expected) in enumerate(zip(reports(run_dir_of(config)), reports(run_dir_of(whole))), 1):
        close(found["loss"], expected["loss"], f"loss of report {number}")


def interrupt_after_first_report(config):
    job = start_ranks(2, config)
    wait_for_reports(run_dir_of(config), 1, job)
    kill([job.wait_for_ranks(2)[0]], signal.SIGUSR1)
    job.code = job.wait(60)
    check_exit(job, STOPPED)


@test
def a_restart_on_another_number_of_ranks_needs_the_key_on_resize():
    folder = scratch()
    config = config_of(folder, "run", {})
    interrupt_after_first_report(config)
    before = {path: path.read_bytes() for path in run_dir_of(config).rglob("*") if path.is_file()}
    job = run_ranks(3, config)
    check_exit(job, USAGE)
    equal(job.err.count("error:"), 1, "number of messages", job)
    for word in ("32 samples (16 for each of 2 workers)", "48 samples (16 for each of 3 workers)", "--scaling.on_resize=keep_global_batch",
                 "--scaling.on_resize=keep_batch"):
        check(word in job.err, f"the message lacks {word!r}", job)
    equal({path: path.read_bytes() for path in run_dir_of(config).rglob("*") if path.is_file()}, before, "files of the run")
    job = finish(3, config, "--scaling.on_resize=keep_batch")
    check("the global batch was 32 samples" in job.err and "is 48 samples (16 for each of 3 workers) from attempt" in job.err, "the change is not reported", job)
    finish(3, config, "--loop.epochs=16")  # 48 samples are now the global batch of the run
    check_exit(run_ranks(2, config, "--loop.epochs=17"), USAGE)


@test
def a_restart_that_keeps_the_global_batch_takes_the_same_steps_as_an_uninterrupted_run():
    folder = scratch()
    whole, config = config_of(folder, "whole", {}), config_of(folder, "run", {"on_resize": "keep_global_batch"})
    finish(2, whole)
    interrupt_after_first_report(config)
    job = finish(3, config)
    check("3 ranks share the global batches of 2 workers" in job.err, "the ranks and workers are not reported", job)
    equal(step_of(run_dir_of(config)), step_of(run_dir_of(whole)), "steps")
    for number, (found, expected) in enumerate(zip(reports(run_dir_of(config)), reports(run_dir_of(whole))), 1):
        close(found["loss"], expected["loss"], f"loss of report {number}")


@test
def a_run_without_a_checkpoint_restarts_on_any_number_of_ranks():
    config = linear_config(scratch(), "run", {"epochs": 2, "step_pause": 0.02}, checkpoint={"every": "off"})
    job = start_ranks(2, config)
    wait_for_reports(run_dir_of(config), 1, job)
    kill(job.wait_for_ranks(2).values())
    job.wait(60)
    finish(3, config, "--loop.step_pause=0")


@test
def fewer_ranks_than_min_workers_and_more_than_num_workers_are_refused():
    folder = scratch()
    config = config_of(folder, "elastic", {"min_workers": 2, "num_workers": 3})
    for ranks, words in ((1, ("scaling.min_workers = 2", "1 rank was launched")),
                         (4, ("scaling.num_workers = 3", "4 ranks were launched"))):
        job = run_ranks(ranks, config)
        check_exit(job, USAGE)
        for word in words:
            check(word in job.err, f"the message lacks {word!r}", job)
        check(not run_dir_of(config).exists(), "a refused run left a directory", job)
    config = config_of(folder, "fixed", {"num_workers": 3})
    check_exit(run_ranks(2, config), USAGE)


main()
