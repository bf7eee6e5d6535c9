#!/usr/bin/env python3
"""Checks that runs on a GPU that are stopped and killed end with the same bits as undisturbed runs."""
from gpu_runs import *  # noqa: F403


def same_bits_after(make_run, ranks=1, **options):
    folder = scratch()
    undisturbed, broken = (make_run(folder, name, **options) for name in ("undisturbed", "broken"))
    finish(undisturbed, ranks)
    kill_in_epoch(broken, ranks)
    kill_in_epoch(broken, ranks, signal.SIGTERM, STOPPED)
    finish(broken, ranks)
    check_same_bits(run_dir_of(broken), run_dir_of(undisturbed))
    check_iterations(run_dir_of(broken))


@test
def two_runs_of_resnet18_have_the_same_bits():
    folder = scratch()
    one, other = (image_run(folder, name, "resnet18", {"epochs": 2}) for name in ("one", "other"))
    finish(one)
    finish(other)
    check_same_bits(run_dir_of(other), run_dir_of(one))


add_test("a killed and stopped run of fashion_mnist ends with the same bits", same_bits_after, image_run)
add_test("a killed and stopped run of gpt ends with the same bits", same_bits_after, token_run)


@test
def a_killed_run_of_resnet18_with_checkpoints_between_reports_ends_with_the_same_bits():
    same_bits_after(lambda folder, name: image_run(folder, name, "resnet18", checkpoint={"every": "25 steps"}))


@test
def two_ranks_on_one_gpu_that_are_killed_end_with_the_same_bits():
    same_bits_after(lambda folder, name: image_run(folder, name, scaling=SHARED), ranks=2)


@test
def a_run_continues_after_a_rank_dies_in_a_collective():
    folder = scratch()
    undisturbed, broken = (image_run(folder, name, scaling=SHARED, failure={"max_failures": 2}) for name in ("undisturbed", "broken"))
    finish(undisturbed, 2)
    job = Job(command(broken, 2))
    wait_for_reports(run_dir_of(broken), 2, job, START_SECONDS)
    kill([job.ranks()[1]])
    start = time.monotonic()
    job.code = job.wait(START_SECONDS)
    print(f"figure seconds from a killed rank to the end of the restarted run {time.monotonic() - start:.2f} s")
    check_exit(job, FINISHED)
    equal(len(attempts(run_dir_of(broken))), 2, "number of attempts", job)
    check_same_bits(run_dir_of(broken), run_dir_of(undisturbed))


@test
def a_run_from_the_gpu_continues_on_two_ranks_and_on_the_cpu():
    need_gpu()
    folder = scratch()
    config = image_run(folder, "moves", loop={"epochs": 1}, scaling=GPU)
    finish(config)
    finish(config, 2, "--loop.epochs=2", "--scaling.gpus_per_worker=0.5", "--scaling.on_resize=keep_global_batch")
    job = finish(config, 1, "--loop.epochs=3", "--scaling.gpus_per_worker=0", "--scaling.on_resize=keep_global_batch")
    print("note " + next((line for line in job.err.splitlines() if "bits" in line), "no line about bits on the CPU was printed"))
    rows = reports(run_dir_of(config))
    equal(len(rows), 3, "number of reports", job)
    check(rows[-1]["test_accuracy"] > 0.5, f"accuracy {rows[-1]['test_accuracy']} after three epochs", job)


main()
