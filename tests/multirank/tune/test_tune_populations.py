#!/usr/bin/python3
"""Trials may become clones of other trials, or wait for them. Whichever processes are killed, each trial ends exactly once, and a clone
has the same weights as a single run with the config and checkpoints of its ancestors."""
import json
import random
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.sweeps import *  # noqa: E402,F403

@test
def a_bad_trial_becomes_a_clone_of_a_good_one_and_gets_the_same_weights_as_a_single_run():
    folder = scratch()
    config = pbt_config(folder)
    job = tune(config)
    check_exit(job, 0)
    trials = check_each_once(config, 6)
    clones = check_clones(config, trials)
    check(len(clones) >= 3, f"only {len(clones)} clones", job)
    check("becomes a clone of trial_0000" in job.err, "the clone is not reported", job)
    check(not list((run_dir_of(config) / "clones").iterdir()), "links to checkpoints are left after all trials have ended")
    first = [trial["last"] for trial in trials_of(config)]
    check(max(first) < 0.01, f"a trial has not learned: {first}")


@test
def a_clone_is_a_link_and_not_a_copy():
    folder = scratch()
    config = pbt_config(folder, loop={"step_pause": 0.004}, tune={"num_samples": 4}, checkpoint={"num_to_keep": 0})
    job = Job([TRAINRT, "tune", "--config", config])
    links = []

    def found():
        links[:] = [path for path in run_dir_of(config).glob("clones/*/checkpoint_*/shard-*.h5")]
        return links or job.ended()

    wait_until(found, 60, "a clone", job)
    try:
        counts = [path.stat().st_nlink for path in links]
    except FileNotFoundError:
        counts = [2]  # the trial has already continued and removed the link
    check(all(count >= 2 for count in counts), f"link counts of the files of the checkpoint: {counts}", job)
    equal(job.wait(120), 0, "exit", job)


@test
def populations_survive_kills_and_several_processes():
    folder = scratch()
    config = pbt_config(folder, loop={"step_pause": 0.004}, tune={"max_concurrent_trials": 2})
    draws = random.Random(5)
    kills = 0
    for _ in range(6):
        jobs = [Job([TRAINRT, "tune", "--config", config]) for _ in range(2)]
        limit = time.monotonic() + draws.uniform(0.3, 1.2)
        wait_until(lambda: time.monotonic() > limit or any(job.ended() for job in jobs), 10, "the time of the kill")
        if any(job.ended() for job in jobs):
            break
        kill([job.process.pid for job in jobs])
        for job in jobs:
            job.process.wait()
        kills += 1
    for job in jobs:
        job.wait(120)
    check(kills >= 2, "the sweep ended before it was killed twice")
    check_exit(tune(config), 0)
    check_clones(config, check_each_once(config, 6))


@test
def a_synchronous_population_has_the_same_clones_and_weights_however_its_trials_run():
    folder = scratch()
    synch = {"tune.pbt": {"perturbation_interval": 4, "synch": "true"}}
    ways = {"in_turns": pbt_config(folder, "in_turns", **synch),
            "killed": pbt_config(folder, "killed", tune={"max_concurrent_trials": 4}, loop={"step_pause": 0.002}, **synch)}
    for _ in range(2):
        job = Job([TRAINRT, "tune", "--config", ways["killed"]])
        time.sleep(0.8)
        kill([job.process.pid])
        job.process.wait()
    lines = []
    for config in ways.values():
        check_exit(tune(config), 0)
        trials, clones = check_each_once(config, 6), clones_of(config)
        check(all(clone["donor_iteration"] % 4 == 0 for clone in clones.values()), f"a clone does not continue from a comparison: {clones}")
        lines.append([{key: (clone["donor"], clone["donor_generation"], clone["donor_iteration"], clone["params"]) for key, clone in sorted(clones.items())},
                      [trial["last"] for trial in trials]])
    check(len(lines[0][0]) >= 4, f"only {len(lines[0][0])} clones")
    equal(lines[1], lines[0], "clones and losses")
    check_clones(config, trials)


def lost_population(folder, name):
    """Kills a population after the mirror has a checkpoint of a clone, and removes its directory. Returns the config and the mirror."""
    config = pbt_config(folder, name, loop={"step_pause": 0.004}, checkpoint={"mirror": folder / "mirror"})
    mirror = folder / "mirror" / name
    job = Job([TRAINRT, "tune", "--config", config])
    wait_until(lambda: list(mirror.glob("trial_*-2/checkpoint_*/manifest.json")) or job.ended(), 60, "a clone's checkpoint in the mirror", job)
    kill([job.process.pid])
    job.process.wait()
    wait_until(lambda: not processes_with(job.token), 60, "the end of the trials' processes", job)
    run_dir_of(config).rename(folder / f"removed_{name}")
    return config, mirror


@test
def a_population_whose_directory_is_lost_continues_from_its_mirror():
    folder = scratch()
    config, mirror = lost_population(folder, "lost")
    job = tune(config)
    check_exit(job, 0)
    check_clones(config, check_each_once(config, 6))
    check("restored: the run continues from" in job.err, "no trial was restored", job)


@test
def a_clone_that_the_mirror_lacks_starts_from_its_donor_again():
    folder = scratch()
    config, mirror = lost_population(folder, "lost")
    for path in mirror.glob("trial_*-*"):
        shutil.rmtree(path)
    check_exit(tune(config), 0)
    check_clones(config, check_each_once(config, 6))


@test
def a_clone_starts_from_the_newest_checkpoint_of_its_donor_if_the_mirror_lacks_the_first_one():
    folder = scratch()
    config, mirror = lost_population(folder, "lost")
    (run_dir_of(config)).mkdir()
    shutil.copytree(mirror / "journal", run_dir_of(config) / "journal")
    clones = clones_of(config)
    shutil.rmtree(run_dir_of(config))
    for path in mirror.glob("trial_*-*"):
        shutil.rmtree(path)
    for clone in clones.values():
        donor = mirror / f"trial_{clone['donor']:05}"
        if clone["donor_generation"] == 1 and len(list(donor.glob("checkpoint_*"))) > 1:
            shutil.rmtree(donor / clone["checkpoint"].split("/")[-1], ignore_errors=True)
    job = tune(config)
    check_exit(job, 0)
    check(" has no intact checkpoint_" in job.err, "no clone lacked its checkpoint", job)
    check_each_once(config, 6)


@test
def a_clone_without_any_checkpoint_in_the_mirror_is_an_error():
    config, mirror = lost_population(scratch(), "lost")
    for path in mirror.glob("trial_*"):
        shutil.rmtree(path)
    job = tune(config)
    check_exit(job, USAGE)
    check(" was a clone of trial_" in job.err and "has no intact checkpoint with its reports. Start a new sweep with --run.name=NAME" in job.err, "the message", job)


@test
def hyperband_halves_its_brackets_across_kills():
    folder = scratch()
    config = sweep_config(folder, tune={"num_samples": 8, "scheduler": "hyperband", "max_concurrent_trials": 3}, loop={"epochs": 50, "step_pause": 0.002},
                          **{"tune.hyperband": {"max_t": 9}})
    for _ in range(2):
        job = Job([TRAINRT, "tune", "--config", config])
        time.sleep(0.8)
        kill([job.process.pid])
        job.process.wait()
    check_exit(tune(config), 0)
    trials = check_each_once(config, 8)
    made = [trial["training_iteration"] for trial in trials]
    equal(made[:3], [9, 9, 9], "reports in the bracket without halving")
    equal(sorted(made[3:]), [3, 3, 3, 9, 9], "reports in the other bracket")
    at_milestone = {record["trial"]: record["score"] for own in records_of(config).values() for _, record in own
                    if record["record"] == "decision" and record["iteration"] == 3}
    best = sorted(range(3, 8), key=lambda number: at_milestone[number])[-2:]
    equal(sorted(number for number in range(3, 8) if made[number] == 9), sorted(best), "trials that continued")
    alone = run_alone(config, "alone", trials[best[0]]["config"], "--stop.training_iteration=>= 9")
    equal([report["loss"] for report in reports(trials[best[0]]["path"])], [report["loss"] for report in reports(alone)], "losses")


@test
def a_trial_without_checkpoints_is_not_cloned_and_gives_a_warning():
    folder = scratch()
    program = program_file("import sys\nfrom trainrt import train\nfor step in range(6): train.report({'loss': float(sys.argv[1]) + step})\n")
    config = write_config(folder / "sweep.ini", {"run": {"name": "sweep", "storage_path": folder / "runs"},
                                                 "train": {"program": f"{sys.executable} {program} {{lr}}"},
                                                 "tune": {"metric": "loss", "mode": "min", "num_samples": 2, "scheduler": "pbt"},
                                                 "tune.pbt": {"perturbation_interval": 2}, "tune.space": {"lr": "uniform(0, 1)"}})
    job = tune(config)
    check_exit(job, 0)
    check("which has no checkpoint" in job.err and "checkpoint.every" in job.err, "the missing checkpoint is not reported", job)
    equal([trial["state"] for trial in trials_of(config)], ["finished"] * 2, "states", job)


@test
def invalid_mutations_are_refused_before_files_are_created():
    folder = scratch()

    def says(*words, **sections):
        config = pbt_config(folder, "bad", **sections)
        job = tune(config)
        equal(job.code, 64, "exit", job)
        for word in words:
            check(word in job.err, f"the message lacks {word!r}", job)
        check(not run_dir_of(config).exists(), "a directory was created", job)

    says("bad.ini:", "[tune.mutations] loop.momentum", "an initial value", **{"tune.mutations": {"momentum": "uniform(0, 0.9)"}})
    says("bad.ini:", "[tune.mutations] lr", "must be below high", **{"tune.mutations": {"lr": "uniform(1, 0)"}})
    says("[tune.mutations]", "tune.scheduler = fifo", tune={"scheduler": "fifo"}, **{"tune.mutations": {"lr": "uniform(0, 1)"}})
    says("perturbation_factors", **{"tune.pbt": {"perturbation_factors": "1.2, 0"}})
    job = run([TRAINRT, "--config", linear_config(folder, "run"), "--run.resume_iteration=continue"])
    equal(job.code, 64, "exit code of a run without a checkpoint to continue from", job)
    check("run.resume_from_checkpoint, which is missing" in job.err, "the missing key is not named", job)


@test
def a_run_with_resume_iteration_continue_includes_the_earlier_reports():
    folder = scratch()
    whole = linear_config(folder, "whole", loop={"epochs": 8}, checkpoint={"num_to_keep": 0})
    check_exit(run([TRAINRT, "--config", whole]), 0)
    rest = linear_config(folder, "rest", loop={"epochs": 8})
    job = run([TRAINRT, "--config", rest, f"--run.resume_from_checkpoint={run_dir_of(whole)}/checkpoint_000004", "--run.resume_iteration=continue"])
    check_exit(job, 0)
    check_same_bits(run_dir_of(rest), run_dir_of(whole))
    check_iterations(run_dir_of(rest), 8)
    same = [[record["loss"] for record in reports(run_dir_of(config))] for config in (rest, whole)]
    equal(same[0], same[1], "losses", job)


main()
