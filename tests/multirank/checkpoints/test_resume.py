#!/usr/bin/python3
"""A new run may start from a checkpoint of another run. With the complete checkpoint it continues as that run would have; with some of
its tensors it starts a fine-tuning. The other run is not changed."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

LOOP = {"epochs": 3, "optimizer": "adamw", "dropout": 0.1}


def finished(ranks, config, *words):
    job = run_ranks(ranks, config, *words)
    check_exit(job, FINISHED)
    return job


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def model_of(run_dir):
    return {name: value for name, value in state_of(run_dir).items() if name.startswith(("model/", "optimizer/"))}


def new_run(folder, name, source, loop=None, **keys):
    config = linear_config(folder, name, {**LOOP, **(loop or {})})
    return config, [f"--run.resume_from_checkpoint={source}", *[f"--run.{key}={value}" for key, value in keys.items()]]


@test
def a_run_from_a_checkpoint_of_another_run_has_the_same_bits_as_the_continued_other_run():
    folder = scratch()
    whole, first = linear_config(folder, "whole", {**LOOP, "epochs": 6}), linear_config(folder, "first", LOOP)
    finished(2, whole)
    finished(2, first, "--checkpoint.layout=rank")
    before = content(run_dir_of(first))
    for name, source in (("of_checkpoint", checkpoints(run_dir_of(first))[-1]), ("of_run", run_dir_of(first))):
        config, words = new_run(folder, name, source, {"epochs": 6})
        job = finished(2, config, "--checkpoint.layout=single", *words)
        check("started from" in job.err, "the source of the start is not printed", job)
        equal(model_of(run_dir_of(config)) == model_of(run_dir_of(whole)), True, f"{name}: same bits as the uninterrupted run")
        equal(len(reports(run_dir_of(config))), 3, "reports of the new run")
        check_verifies(run_dir_of(config))
        again = finished(2, config, *words, "--loop.epochs=7")
        check("continuing from" in again.err, "after a restart, it does not continue from its own checkpoint", again)
        equal(len(reports(run_dir_of(config))), 4, "reports after one more epoch")
    check(content(run_dir_of(first)) == before, "the other run was changed")


@test
def a_run_from_some_tensors_starts_at_step_0():
    folder = scratch()
    first = linear_config(folder, "first", LOOP)
    finished(2, first)
    config, words = new_run(folder, "tuned", run_dir_of(first), {"epochs": 0}, resume_tensors="model/*")
    job = finished(1, config, *words)
    tuned, trained = state_of(run_dir_of(config)), state_of(run_dir_of(first))
    for name in trained:
        if name.startswith("model/"):
            equal(tuned[name], trained[name], name, job)
    equal(step_of(run_dir_of(config)), 0, "step of the new run", job)
    check(any(tuned[name] != trained[name] for name in trained if name.startswith("optimizer/")), "the state of the optimizer was also loaded", job)


@test
def an_invalid_source_of_a_resume_is_a_usage_error_that_leaves_no_checkpoint():
    folder = scratch()
    first = linear_config(folder, "first", LOOP)
    finished(1, first)
    for number, (source, keys, words) in enumerate((
            (folder / "nowhere", {}, ["nowhere"]), (folder, {}, [str(folder)]),
            (run_dir_of(first), {"resume_tensors": "modell/*"}, ["modell/*"]))):
        config, options = new_run(folder, f"bad{number}", source, **keys)
        job = run_ranks(2, config, *options)
        check_exit(job, USAGE)
        for word in words:
            check(word in job.err, f"the message lacks {word}", job)
        check(not checkpoints(run_dir_of(config)), "a checkpoint was left", job)
    config, options = new_run(folder, "checked", folder / "nowhere")
    job = run([TRAINRT, "check", "--config", str(config), *options])
    check_exit(job, USAGE)
    check("nowhere" in job.out + job.err, "check does not name the missing folder", job)
    config = linear_config(folder, "alone", LOOP)
    job = run_ranks(1, config, "--run.resume_tensors=model/*")
    check_exit(job, USAGE)


main()
