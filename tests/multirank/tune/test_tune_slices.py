#!/usr/bin/python3
"""In a sweep in slices, the ranks of one job step are split into groups. Each group trains one trial after another without starting
processes. If the step ends, the same command continues the sweep without losing a trial."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.sweeps import *  # noqa: E402,F403
from runs.trouble import trouble_config  # noqa: E402


def setup():
    if MPIEXEC is None:
        skip("mpiexec.mpich is not installed (package mpich)")


def command(config, ranks, *words):
    return [MPIEXEC, "-n", ranks, TRAINRT, "tune", "--config", config, *words]


def owners(config):
    """Returns the IDs of the processes that have started attempts of trials."""
    return {attempt["owner"]["pid"] for trial in run_dir_of(config).glob("trial_*/") for attempt in attempts(trial)}


def reported(config):
    return list(run_dir_of(config).glob("trial_*/result.json"))


@test
def slices_train_at_the_same_time_without_starting_processes():
    config = sweep_config(scratch(), tune={"num_samples": 8, "workers": 2, "scheduler": "asha"}, asha={"max_t": 30, "reduction_factor": 3}, loop={"step_pause": 0.002})
    job = run(command(config, 4))
    check_exit(job, 0)
    trials = check_each_once(config, 8)
    equal(len(owners(config)), 2, "first ranks of slices", job)
    check("8 trials, 2 at the same time" in job.err and job.err.count("trials done") == 8 and "is complete" in job.err, "messages about the sweep are missing", job)
    equal({attempt["ranks"] for trial in trials for attempt in attempts(trial["path"])}, {2}, "ranks of the trials")
    log = (run_dir_of(config) / "trial_00003.log").read_text()
    check("2 ranks on 1 node" in log and "trial_00003" in log and "trial_00003" not in "".join(line for line in job.err.splitlines() if "a new run" in line),
          "the output of a trial is not in its log", job)
    complete = [trial for trial in trials if not trial.get("why")]
    check(0 < len(complete) < 8, f"{len(complete)} of 8 trials were not stopped early")
    check_as_alone(config, complete[0], ranks=2)
    check("is complete" in run(command(config, 4)).err, "a complete sweep is not reported as complete")
    equal(list((run_dir_of(config) / "journal").glob("*.stop")), [], "remaining files of the step")


@test
def a_sweep_in_a_killed_step_can_be_continued_without_slices():
    config = sweep_config(scratch(), tune={"num_samples": 6, "workers": 2}, loop={"step_pause": 0.01})
    job = Job(command(config, 4))
    wait_until(lambda: len(reported(config)) >= 2 or job.ended(), 30, "two trials to report", job)
    kill([min(owners(config))])
    check(job.wait(60) != 0, "the step was not killed", job)
    check_exit(tune(config), 0)  # this start has no slices
    trials = check_each_once(config, 6)
    most = max(trials, key=lambda trial: trial["attempts"])
    check(most["attempts"] > 1, "no trial was continued by another process")
    check_iterations(most["path"], 9)
    check_as_alone(config, most, ranks=2)


@test
def a_signal_to_one_rank_pauses_all_slices():
    config = sweep_config(scratch(), tune={"num_samples": 4, "workers": 2}, loop={"step_pause": 0.08})
    job = Job(command(config, 4))
    wait_until(lambda: len(reported(config)) >= 2 or job.ended(), 30, "two trials to report", job)
    kill([max(owners(config))], signal.SIGUSR2)
    equal(job.wait(60), 75, "exit", job)
    equal([trial["state"] for trial in trials_of(config)], ["paused", "paused", "waiting", "waiting"], "states", job)
    check_exit(run(command(config, 4, "--loop.step_pause=0")), 64)  # another config
    check_exit(run(command(config, 4)), 0)
    check_iterations(check_each_once(config, 4)[0]["path"], 9)


@test
def clones_in_slices_have_the_same_weights_as_single_runs():
    config = pbt_config(scratch(), loop={"step_pause": 0.002})
    check_exit(run(command(config, 3)), 0)
    check(check_clones(config, check_each_once(config, 6)), "no trial became a clone")


@test
def a_failure_ends_only_a_trial_of_one_rank_but_with_several_ranks_the_step():
    config = trouble_config({"steps": 6, "at_step": 3}, "alone", **{"tune": {"num_samples": 1, "max_failures": 1}, "tune.space": {"trouble": "grid(none, throw, none)"}})
    job = run(command(config, 2))
    check_exit(job, 0)
    equal([(trial["state"], trial["attempts"]) for trial in trials_of(config)], [("finished", 1), ("failed", 2), ("finished", 1)], "trials", job)
    check("trial_00001" in job.err and "failed" in job.err, "the failure is not reported", job)
    config = trouble_config({"steps": 6, "at_step": 3, "rank": 1}, "together", **{"tune": {"num_samples": 1, "max_failures": 1, "workers": 2},
                                                                                 "tune.space": {"trouble": "grid(throw, none)"}})
    codes = [run(command(config, 2)).code for _ in range(3)]
    equal(codes, [70, 70, 0], "exit codes")
    equal([trial["state"] for trial in trials_of(config)], ["failed", "finished"], "states")


@test
def a_failure_that_ends_the_sweep_stops_all_slices():
    config = trouble_config({"steps": 400, "at_step": 3}, "fast", **{"tune": {"num_samples": 1, "max_failures": 0, "fail_fast": "true"},
                                                                    "tune.space": {"trouble": "grid(sleep, throw, none, none)", "seconds": 4}})
    job = run(command(config, 2))
    equal(job.code, 70, "exit", job)
    check("tune.fail_fast = true" in job.err, "the reason is not printed", job)
    equal([trial["state"] for trial in trials_of(config)], ["paused", "failed", "waiting", "waiting"], "states", job)


@test
def a_metric_that_no_trial_reports_is_named_once_for_all_slices():
    config = sweep_config(scratch(), tune={"metric": "acc", "num_samples": 6})
    job = run(command(config, 2))
    equal(job.code, 64, "exit", job)
    equal(job.err.count("[tune] metric = acc: the trials do not report it; they report: epoch, loss"), 1, "messages", job)
    check_exit(run(command(config, 2, "--tune.metric=loss")), 0)
    check_each_once(config, 6)


@test
def invalid_slices_are_refused_once_before_files_are_created():
    folder = scratch()

    def says(*words, ranks=2, job_config=None, **tune):
        config = job_config or sweep_config(folder, "bad", tune=tune)
        job = run(command(config, ranks))
        equal(job.code, 64, "exit", job)
        for word in words:
            equal(job.err.count(word), 1, f"messages with {word!r}", job)
        check(not run_dir_of(config).exists(), "a directory was created", job)

    says("tune.workers = 3, but 2 ranks were launched: start a multiple of 3 ranks", workers=3)
    says("tune.workers = 2, but 3 ranks were launched", ranks=3, workers=2)
    says("tune.max_concurrent_trials = 1, but 2 ranks run 2 trials at the same time: start 1", max_concurrent_trials=1)
    says("tune.place = steps", place="steps")
    says("no such scheduler", scheduler="ash")
    program = write_config(folder / "program.ini", {"run": {"name": "bad", "storage_path": folder / "runs"}, "train": {"program": "true {lr}"}, "tune": {"num_samples": 2},
                                                    "tune.space": {"lr": "uniform(0, 1)"}})
    says("trials of a program cannot run in a job step", job_config=program)
    job = tune(sweep_config(folder, "bad", tune={"place": "slices"}))
    equal(job.code, 64, "exit", job)
    check("mpiexec -n 2 trainrt tune" in job.err, "the command that starts the ranks is not printed", job)


main(setup)
