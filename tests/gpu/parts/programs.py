#!/usr/bin/env python3
"""Tests trainrt on a GPU: train functions with NCCL and one rank, shared GPUs, predictions, NVML's reports, and errors."""
from gpu_runs import *  # noqa: F403


def shown_lines(job, *words):
    return next((line for line in (job.err + job.out).splitlines() if all(word in line for word in words)), "")


@test
def a_run_with_nccl_and_one_rank_learns():
    need_gpu()
    config = image_run(scratch(), "nccl", scaling={**GPU, "backend": "nccl"})
    job = finish(config)
    line = shown_lines(job, "rank")
    print(f"note {line}")
    check("nccl" in line.lower(), f"the first line does not name NCCL: {line!r}", job)
    check(reports(run_dir_of(config))[-1]["test_accuracy"] > 0.7, "the model did not learn", job)


@test
def two_ranks_share_a_gpu_through_the_host():
    need_gpu()
    config = image_run(scratch(), "staged", scaling=SHARED)
    job = finish(config, 2)
    print(f"note {shown_lines(job, 'ranks on')}")
    check(shown_lines(job, "staged") or shown_lines(job, "host"), "no line names the path through the host", job)
    check(reports(run_dir_of(config))[-1]["test_accuracy"] > 0.7, "the model did not learn", job)


@test
def the_error_for_two_ranks_on_one_gpu_with_nccl_names_the_ranks():
    need_gpu()
    config = image_run(scratch(), "refused", scaling={**SHARED, "backend": "nccl"}, failure={"max_failures": 0})
    job = run(command(config, 2), START_SECONDS)
    check(job.code not in (FINISHED, -9), f"exit {job.code}", job)
    print(f"note {shown_lines(job, 'share a GPU')}")
    check(shown_lines(job, "ranks 0 and 1 share a GPU"), "the error does not name the ranks", job)


@test
def predictions_on_the_gpu_have_the_reported_accuracy():
    config = image_run(scratch(), "predicts")
    finish(config)
    output = config.parent / "predictions.npz"
    job = run([TRAINRT, "predict", run_dir_of(config), "-o", output, "--keep", "labels"], START_SECONDS)
    check_exit(job, FINISHED)
    import numpy
    with numpy.load(output) as file:
        accuracy = float((file["label"] == file["labels"]).mean())
    expected = reports(run_dir_of(config))[-1]["test_accuracy"]
    check(abs(accuracy - expected) < 1e-6, f"accuracy {accuracy}, the run reported {expected}", job)


@test
def a_rank_logs_the_use_and_memory_of_its_gpu():
    need_gpu()
    config = image_run(scratch(), "nvml", "resnet18", {"epochs": 12, "width": 32}, images=8192)
    job = finish(config)
    line = json.loads((run_dir_of(config) / "logs/ranks-attempt-000001.jsonl").read_bytes()[:512].rstrip(b"\0 \n"))
    print(f"note NVML: gpu {line.get('gpu')}, gpu_memory {line.get('gpu_memory')}, energy_j {line.get('energy_j')} of {line.get('energy_of')}")
    check(line.get("gpu_memory", 0) > 1 << 20, f"the line has no device memory: {line}", job)
    check(line.get("gpu", 0) > 0, f"the line has no use of the GPU: {line}", job)


@test
def a_batch_that_is_too_large_for_the_gpu_is_an_error_and_the_next_run_works():
    need_gpu()
    folder = scratch()
    config = image_run(folder, "large", "resnet18", {"width": 384, "batch_size": 8192}, images=8192, failure={"max_failures": 0})
    job = run(command(config), 150)
    print(f"note {shown_lines(job, 'memory')[:250]}")
    check(job.code not in (FINISHED, -9), f"exit {job.code}", job)
    check(shown_lines(job, "memory"), "the output does not mention memory", job)
    finish(image_run(folder, "small", "resnet18", {"epochs": 1}))


main()
