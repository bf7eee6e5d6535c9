#!/usr/bin/python3
"""In a sweep, each trial runs exactly once to its end, whichever processes are killed. The decisions follow from the journal and can be
repeated. The weights of a trial equal those of a run with the same config."""
import json
import random
import re
import shutil
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.sweeps import *  # noqa: E402,F403


def percentile(values, percent):
    """Computes a percentile with linear interpolation, like numpy.percentile."""
    values = sorted(values)
    at = percent / 100 * (len(values) - 1)
    below = int(at)
    return values[below] + (at - below) * (values[min(below + 1, len(values) - 1)] - values[below])


def reads_of(config, writer):
    """Returns, for each decision of `writer`, how many bytes of each journal file it was based on."""
    found, read, path = {}, {}, run_dir_of(config) / f"journal/{writer:06d}.reads"
    for line in path.read_bytes().splitlines() if path.exists() else []:
        made = json.loads(line[17:])
        read = {} if made["from_start"] else dict(read)
        for other, bytes_more in made["moved"]:
            read[other] = read.get(other, 0) + bytes_more
        found[made["trial"], made["iteration"]] = read
    return found


def check_decisions(config, factor, most, rungs):
    """Checks that each decision follows from the records that its writer had read; returns the number of decisions."""
    records = records_of(config)
    seen, decisions = {}, 0
    for number, own in records.items():
        made_of = reads_of(config, number)
        for _, decision in own:
            if decision["record"] != "decision":
                continue
            read = made_of[decision["trial"], decision["iteration"]]
            decisions += 1
            key = decision["trial"], decision["iteration"]
            check(key not in seen, f"trial and report {key} were decided twice")
            seen[key] = decision["verdict"]
            scores = [record["score"] for writer, all_of in records.items() for at, record in all_of
                      if record["record"] == "decision" and at <= read.get(writer, 0) and record["iteration"] == decision["iteration"]]
            expected = decision["iteration"] >= most or bool(decision["iteration"] in rungs and scores
                                                             and decision["score"] < percentile(scores, (1 - 1 / factor) * 100))
            equal(decision["verdict"], "stop" if expected else "go on", f"decision for {key} among {len(scores)} other scores")
    return decisions


@test
def asha_stops_the_worse_trials_and_its_decisions_can_be_repeated():
    folder = scratch()
    config = sweep_config(folder, tune={"num_samples": 16, "scheduler": "asha", "max_concurrent_trials": 3},
                          asha={"max_t": 30, "grace_period": 1, "reduction_factor": 3})
    job = tune(config)
    check_exit(job, 0)
    counts = [int(count) for count in re.findall(r"; (\d+) of 16 trials done", job.err)]
    equal(counts, sorted(set(counts)), "numbers of done trials in the messages", job)
    trials = check_each_once(config, 16)
    equal(len({trial["config"]["loop.lr"] for trial in trials}), 16, "learning rates")
    check(sum(trial["training_iteration"] for trial in trials) < 0.8 * 16 * 9, "no trial was stopped early", job)
    check(check_decisions(config, 3, 30, (1, 3, 9, 27)) >= 16, "too few decisions")
    best = json.loads(run([TRAINRT, "tune", "best", run_dir_of(config), "--json"]).out)
    equal(best["best"], min(trial["best"] for trial in trials), "the best metric")
    check_as_alone(config, best)
    equal(run([TRAINRT, "plot", run_dir_of(config), "--metrics", "loss"]).code, FINISHED, "exit code of plot")
    table = run([TRAINRT, "tune", "status", run_dir_of(config)]).out
    check("stopped early by ASHA at report 1" in table and "trial_00015" in table, f"the table lacks trials: {table}")
    equal(run([TRAINRT, "tune", "status", run_dir_of(config), "--watch"]).out, table, "the last table that --watch shows")
    rows = run([TRAINRT, "tune", "status", run_dir_of(config), "--csv"]).out.splitlines()
    equal((len(rows), rows[0].split(",")[:3]), (17, ["trial", "state", "loop.batch_size"]), "the CSV")


@test
def a_repeated_sweep_has_the_same_trials_and_each_grid_point():
    folder = scratch()
    space = {"lr": "grid(0.001, 0.01)", "momentum": "uniform(0, 0.9)", "optimizer": "grid(sgd, adamw)"}
    found = []
    for name in ("one", "other"):
        config = sweep_config(folder, name, tune={"num_samples": 2, "searcher": "halton"}, space=space, loop={"epochs": 1})
        check_exit(tune(config), 0)
        found.append([trial["config"] for trial in check_each_once(config, 8)])
    equal(found[0], found[1], "the parameters of both sweeps")
    equal(len({(each["loop.lr"], each["loop.optimizer"]) for each in found[0]}), 4, "combinations")


@test
def a_key_of_the_space_is_not_set_if_its_condition_is_false():
    folder = scratch()
    config = sweep_config(folder, tune={"num_samples": 12}, loop={"epochs": 1, "momentum": 0.25},
                          space={"optimizer": "choice(sgd, adamw)", "momentum": "uniform(0.5, 0.9) if optimizer == sgd", "lr": "0.001"})
    check_exit(tune(config), 0)
    trials = check_each_once(config, 12)
    for trial in trials:
        momentum = json.loads((Path(trial["path"]) / "run.json").read_text())["loop"]["momentum"]
        check((float(momentum) >= 0.5) == (trial["config"]["loop.optimizer"] == "sgd"), f"unexpected momentum {momentum} of {trial['config']}")
    equal({"loop.momentum" in trial["config"] for trial in trials}, {True, False}, "trials with and without a momentum")
    rows = run([TRAINRT, "tune", "status", run_dir_of(config), "--csv"]).out.splitlines()
    check(any(row.split(",")[3] == "" for row in rows[1:]) and " - " in run([TRAINRT, "tune", "status", run_dir_of(config)]).out, f"a missing momentum is not shown as such: {rows}")


@test
def several_processes_share_a_sweep():
    folder = scratch()
    config = sweep_config(folder, tune={"num_samples": 24, "scheduler": "asha", "max_concurrent_trials": 2}, asha={"max_t": 9, "reduction_factor": 3},
                          loop={"step_pause": 0.005})
    jobs = [Job([TRAINRT, "tune", "--config", config]) for _ in range(3)]
    for job in jobs:
        equal(job.wait(120), 0, "exit", job)
    check_each_once(config, 24)
    check_decisions(config, 3, 9, (1, 3))
    begun = [writer for writer, own in records_of(config).items() if any(record["record"] == "begin" for _, record in own)]
    check(len(begun) >= 3, f"only the writers {begun} of 6 had trials")  # each process has two writers


@test
def a_sweep_killed_at_any_moment_continues_without_losing_a_trial():
    folder = scratch()
    config = sweep_config(folder, tune={"num_samples": 6, "max_concurrent_trials": 2}, loop={"step_pause": 0.005})
    draws = random.Random(3)
    kills = 0
    while kills < 5:
        job = Job([TRAINRT, "tune", "--config", config])
        limit = time.monotonic() + draws.uniform(0.15, 0.9)
        wait_until(lambda: time.monotonic() > limit or job.ended(), 10, "the time of the kill", job)
        if job.ended():
            break
        kill([job.process.pid])  # the trials must then end without a signal
        job.process.wait()
        kills += 1
    check(kills >= 2, "the sweep ended before it was killed twice")
    job = tune(config)
    check_exit(job, 0)
    trials = check_each_once(config, 6)
    check(sum(trial["attempts"] for trial in trials) > 6, "no trial was continued by another process", job)
    most = max(trials, key=lambda trial: trial["attempts"])
    check_iterations(most["path"], 9)
    check_as_alone(config, most)
    check("is complete" in tune(config).err, "a complete sweep is not reported as complete")


@test
def a_trial_without_processes_is_not_reported_as_running():
    config = sweep_config(scratch(), tune={"num_samples": 2, "max_concurrent_trials": 1}, loop={"step_pause": 0.05})
    job = Job([TRAINRT, "tune", "--config", config])
    wait_for_reports(run_dir_of(config) / "trial_00000", 1, job)
    equal([trial["state"] for trial in trials_of(config)], ["running", "waiting"], "states while it runs", job)
    kill([job.process.pid])
    job.process.wait()
    trial = lambda: json.loads(run([TRAINRT, "result", run_dir_of(config) / "trial_00000", "--json"]).out)["state"]
    wait_until(lambda: trial() != "running", 30, "the trial to end", job)
    equal([each["state"] for each in trials_of(config)], [trial(), "waiting"], "states after the kill")
    check(trial() in ("stopped", "killed"), f"unexpected state of the trial: {trial()}")


@test
def a_signal_pauses_all_trials_and_the_same_command_continues_them():
    folder = scratch()
    config = sweep_config(folder, tune={"num_samples": 4, "max_concurrent_trials": 2, "workers": 2}, loop={"step_pause": 0.02})
    job = Job([TRAINRT, "tune", "--config", config])
    wait_until(lambda: len(list(run_dir_of(config).glob("trial_*/result.json"))) >= 2 or job.ended(), 30, "two trials to report", job)
    job.process.send_signal(signal.SIGTERM)
    equal(job.wait(60), 75, "exit", job)
    states = [trial["state"] for trial in trials_of(config)]
    equal(states.count("paused"), 2, f"paused trials of {states}")
    shown = run([TRAINRT, "tune", "status", run_dir_of(config)]).out
    check("exited with" not in shown, f"a pause is shown as an error: {shown}")
    check_exit(tune(config), 0)
    trials = check_each_once(config, 4)
    equal(len(attempts(trials[0]["path"])), 2, "attempts of the first trial")
    check_iterations(trials[0]["path"], 9)


@test
def a_failed_trial_is_retried_and_the_sweep_continues():
    folder = scratch()
    program = program_file("import sys, trainrt\nfrom trainrt import train\nlr = float(sys.argv[1])\nif lr > 0.5: raise SystemExit('lr is too large')\n"
                           "for step in range(3): train.report({'loss': lr + step})\n")
    sections = {"train": {"program": f"{sys.executable} {program} {{lr}}"}}
    config = write_config(folder / "sweep.ini", {"run": {"name": "sweep", "storage_path": folder / "runs"}, **sections,
                                                 "tune": {"metric": "loss", "mode": "min", "num_samples": 1, "max_failures": 1},
                                                 "tune.space": {"lr": "grid(0.25, 0.75, 0.125)"}})
    job = tune(config)
    check_exit(job, 0)
    trials = trials_of(config)
    equal([trial["state"] for trial in trials], ["finished", "failed", "finished"], "states", job)
    equal([trial["attempts"] for trial in trials], [1, 2, 1], "attempts", job)
    equal(trials[2]["best"], 0.125, "the best loss", job)
    check("trial_00001" in job.err and "failed" in job.err, "the failure is not reported", job)
    check_exit(tune(config, "--tune.max_failures=2"), 0)
    equal([trial["attempts"] for trial in trials_of(config)], [1, 3, 1], "attempts after one more failure was allowed")
    table = run([TRAINRT, "tune", "status", run_dir_of(config)]).out
    check("the program of rank" not in table and "exited with 1" in table, f"the table lacks the reason: {table}")
    check(f"The complete error of trial_00001 is in {run_dir_of(config)}/trial_00001/error.txt" in table, f"the file with the error: {table}")
    check("lr is too large" in (run_dir_of(config) / "trial_00001.log").read_text(), "the output of the trial is lost", job)


@test
def a_key_that_the_program_does_not_get_is_an_error_or_a_warning():
    folder = scratch()
    program = program_file("from trainrt import train\ntrain.report({'loss': 1.0})\n")

    def config(name, words, key):
        return write_config(folder / f"{name}.ini", {"run": {"name": name, "storage_path": folder / "runs"}, "train": {"program": f"{sys.executable} {program} {words}"},
                                                     "tune": {"metric": "loss", "mode": "min"}, "tune.space": {key: "grid(0.25, 0.75)"}})

    wrong = config("wrong", "--lr {lr}", "lrr")
    for job in (tune(wrong), run([TRAINRT, "check", "--config", wrong])):
        equal(job.code, 64, "exit", job)
        check("wrong.ini:5: train.program contains {lr}, but [tune.space] has no such key" in job.err and "did you mean '{lrr}'?" in job.err, "the error names no key", job)
    check(not (folder / "runs").exists(), "a directory was created for a refused sweep")
    job = tune(config("unread", "${HOME}", "lr"))
    check_exit(job, 0)
    equal(job.err.count("[loop] lr was not read"), 1, "number of warnings", job)
    check("needs {lr} in train.program" in job.err, "the warning has no advice", job)
    for name, words in (("both", "{lr} '{other}'"), ("unlike", "'{print}'")):
        job = tune(config(name, words, "lr"))
        check_exit(job, 0)
    job = tune(config("filled", "{lr}", "lr"))
    check_exit(job, 0)
    check("was not read" not in job.err, "a key in the program is reported as unread", job)


@test
def a_trial_whose_program_gets_wrong_arguments_is_started_once():
    folder = scratch()
    program = program_file("import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr')\nparser.parse_args()\n")
    config = write_config(folder / "sweep.ini", {"run": {"name": "sweep", "storage_path": folder / "runs"}, "train": {"program": f"{sys.executable} {program} --lr {{lr}} --bad"},
                                                 "tune": {"metric": "loss", "mode": "min"}, "tune.space": {"lr": "grid(0.25, 0.75)"}})
    job = tune(config)
    equal([trial["attempts"] for trial in trials_of(config)], [1, 1], "attempts", job)
    check("error: unrecognized arguments: --bad" in job.err, "the reason is missing", job)


@test
def a_new_start_retries_a_sweep_whose_trials_all_failed():
    folder = scratch()
    program = program_file(f"import os, sys, trainrt\nfrom trainrt import train\nif not os.path.exists('{folder}/fixed'): raise SystemExit('not yet')\n"
                           "train.report({'loss': float(sys.argv[1])})\n")
    config = write_config(folder / "sweep.ini", {"run": {"name": "sweep", "storage_path": folder / "runs"}, "train": {"program": f"{sys.executable} {program} {{lr}}"},
                                                 "tune": {"metric": "loss", "mode": "min", "max_failures": 1}, "tune.space": {"lr": "grid(0.25, 0.75)"}})
    for attempts_so_far in (2, 4):
        job = tune(config)
        equal(job.code, 70, "exit", job)
        equal([(trial["state"], trial["attempts"]) for trial in trials_of(config)], [("failed", attempts_so_far)] * 2, "trials", job)
        check("all trials have failed" in job.err and "is complete" not in job.err, "the sweep is reported as complete", job)
    check("all trials of the sweep had failed and are retried" in job.err, "the retry is not reported", job)
    (folder / "fixed").touch()
    check_exit(tune(config), 0)
    equal([trial["state"] for trial in trials_of(config)], ["finished"] * 2, "states")


@test
def a_sweep_accepts_a_changed_config_only_if_all_trials_failed_before_a_report():
    folder = scratch()
    program = program_file("import sys, trainrt\nfrom trainrt import train\nif sys.argv[2] != 'right': raise SystemExit('wrong word')\n"
                           "train.report({'loss': float(sys.argv[1])})\n")
    config = write_config(folder / "sweep.ini", {"run": {"name": "sweep", "storage_path": folder / "runs"}, "train": {"program": f"{sys.executable} {program} {{lr}} wrong"},
                                                 "tune": {"metric": "loss", "mode": "min", "max_failures": 0}, "tune.space": {"lr": "grid(0.25, 0.75)"}})
    equal(tune(config).code, 70, "exit")
    right = f"--train.program={sys.executable} {program} {{lr}} right"
    job = tune(config, right)
    check_exit(job, 0)
    check("all trials failed before their first report; the sweep starts again with: train.program was" in job.err, "the change is not reported", job)
    job = tune(config, right, "--tune.metric=accuracy")
    equal(job.code, 64, "exit", job)
    for words in ("tune.metric was 'loss', now 'accuracy'", "--run.name=sweep-2", f"rm -r {folder / 'runs/sweep'}"):
        check(words in job.err, f"the message lacks {words!r}", job)
    job = tune(config, right + "  # other", "--loop.x=1")
    equal(job.code, 64, "exit", job)
    check("loop.x was '', now '1'" in job.err, "the changed fixed value is not named", job)


@test
def a_trial_that_no_restart_can_help_is_not_retried_until_max_failures_is_raised():
    folder = scratch()
    config = sweep_config(folder, tune={"num_samples": 2, "max_failures": 2}, loop={"epochs": 1})
    check_exit(tune(config), 0)
    damaged = run_dir_of(config) / "trial_00001"
    for directory in checkpoints(damaged):
        os.truncate(directory / "shard-00000.h5", 100)
    record = json.loads((damaged / "run.json").read_text())
    (damaged / "run.json").write_text(json.dumps({**record, "state": "failed"}))
    shutil.rmtree(run_dir_of(config) / "journal")
    shutil.rmtree(run_dir_of(config) / "claims")
    before = len(attempts(damaged))
    job = tune(config)
    check_exit(job, 0)
    equal(trials_of(config)[1]["state"], "failed", "state", job)
    equal([attempt["exit_code"] for attempt in attempts(damaged)[before:]], [64], "exit codes of its new attempts", job)
    check_exit(tune(config), 0)
    equal(len(attempts(damaged)), before + 1, "attempts after the same command")
    check_exit(tune(config, "--tune.max_failures=3"), 0)
    equal(len(attempts(damaged)), before + 2, "attempts after one more failure was allowed")


def empty(path):
    path.write_bytes(b"")
    os.utime(path, (0, 0))  # an old modification time, so that no process seems to be writing the file


def cut(path):
    os.truncate(path, path.stat().st_size // 2)
    os.utime(path, (0, 0))


def flip_each_third_line(path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line[:-3] + bytes([line[-3] ^ 1]) + line[-2:] if number % 3 == 0 else line for number, line in enumerate(lines)))
    os.utime(path, (0, 0))


DAMAGES = {"emptied": empty, "removed": Path.unlink, "cut": cut, "flipped": flip_each_third_line}


def reports_in(config):
    return sorted((record["trial"], record["iteration"], record["score"]) for own in records_of(config).values() for _, record in own
                  if record["record"] == "decision")


def restore(journal, kept):
    shutil.rmtree(journal)
    shutil.copytree(kept, journal)


@test
def an_emptied_removed_or_damaged_journal_is_restored_from_the_trials():
    for scheduler, more, damages in (("fifo", {}, ["removed"]), ("asha", {"asha": {"max_t": 6, "reduction_factor": 2}}, list(DAMAGES)),
                                     ("hyperband", {"tune.hyperband": {"max_t": 6}}, ["cut"])):
        config = sweep_config(scratch(), tune={"num_samples": 3, "scheduler": scheduler}, loop={"epochs": 6}, **more)
        check_exit(tune(config), 0)
        before, reports_before = check_each_once(config, 3), reports_in(config)
        journal = run_dir_of(config) / "journal"
        kept = journal.parent / "kept"
        shutil.copytree(journal, kept)
        for name in damages:
            for path in journal.glob("*.jsonl"):
                DAMAGES[name](path)
            job = tune(config, timeout=60)
            check_exit(job, 0)
            trials = check_each_once(config, 3)
            for key in ("state", "best", "training_iteration", "config"):
                equal([trial[key] for trial in trials], [trial[key] for trial in before], f"{scheduler}, {name}: {key}", job)
            equal(sorted(set(reports_in(config))), reports_before, f"{scheduler}, {name}: reports", job)
            restored = "restored from their run directories" in job.err or "wrote the journal in" in job.err
            check(name == "flipped" or restored, f"{name}: the restored records are not reported", job)
            restore(journal, kept)


@test
def unreadable_claims_do_not_block_a_trial():
    config = sweep_config(scratch(), tune={"num_samples": 2}, loop={"epochs": 1})
    check_exit(tune(config), 0)
    for path in (run_dir_of(config) / "claims").iterdir():
        empty(path)
    for path in (run_dir_of(config) / "journal").glob("*.jsonl"):
        path.unlink()
    check_exit(tune(config, timeout=60), 0)
    check_each_once(config, 2)


@test
def values_of_a_searcher_program_survive_the_loss_of_the_journal():
    folder = scratch()
    searcher = program_file("import json, sys, time\nprint(json.dumps({'loop.lr': 0.001 + time.time() % 1e-3}))\n", "searcher.py")
    config = sweep_config(folder, tune={"searcher_program": f"{sys.executable} {searcher}", "num_samples": 2}, loop={"epochs": 1}, space={"lr": "uniform(0, 1)"})
    check_exit(tune(config), 0)
    before = [trial["config"] for trial in trials_of(config)]
    shutil.rmtree(run_dir_of(config) / "journal")
    check_exit(tune(config, timeout=60), 0)
    equal([trial["config"] for trial in check_each_once(config, 2)], before, "values")


@test
def a_lost_record_that_no_trial_can_restore_is_an_error_with_file_and_line():
    config = pbt_config(scratch(), tune={"num_samples": 3})
    check_exit(tune(config), 0)
    check(clones_of(config), "no trial has become a clone")
    [path] = (run_dir_of(config) / "journal").glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    number = next(number for number, line in enumerate(lines) if b'"record":"clone"' in line and b'"checkpoint":""' not in line)
    path.write_bytes(b"".join(line.replace(b"clone", b"clonf", 1) if at == number else line for at, line in enumerate(lines)))
    job = tune(config, timeout=60)
    equal(job.code, 64, "exit", job)
    check(f"{path}:{number + 1}" in job.err and "became trial_" in job.err and "--run.name=NAME" in job.err, "file and line are not named", job)


@test
def errors_of_a_sweep_are_reported_before_files_are_created():
    folder = scratch()

    def says(*words, **changes):
        config = sweep_config(folder, "bad", **changes)
        job = tune(config)
        equal(job.code, 64, "exit", job)
        for word in words:
            check(word in job.err, f"the message lacks {word!r}", job)
        check(not run_dir_of(config).exists(), "a directory was created", job)

    says("unknown key 'lrr'", "did you mean 'lr'", space={"lrr": "uniform(0, 1)"})
    says("did you mean 'lr'", space={"learning_rate": "uniform(0, 1)"})
    for values in ("[0.1, 0.2]", "0.1, 0.2"):
        says("bad.ini:", f"lr in [loop] of linear is '{values}'", "In [tune.space], lr = choice(0.1, 0.2) draws one of several values", "lr = grid(0.1, 0.2) tries each",
             space={"lr": values})
    says("bad.ini:", "tune.space", "must be below high", space={"lr": "uniform(1, 0)"})
    says("sgdd", space={"optimizer": "choice(sgd, sgdd)"})
    says("bad.ini:", "no such searcher", "halton", tune={"searcher": "haltn"})
    says("bad.ini:", "no such scheduler", "asha", tune={"scheduler": "ash"})
    says("tune.num_samples", tune={"num_samples": 0})
    says("bad.ini:", "grace_period", asha={"grace_period": 200}, tune={"scheduler": "asha"})
    says("tune.max_t", tune={"max_t": 3})
    says("/no/such.csv", data={"format": "csv", "source": "/no/such.csv"})
    says("run.name", space={"run.name": "choice(a, b)"})
    says("bad.ini:", "scaling.num_workers = 0: a trial needs 1 to 1000000 ranks", space={"scaling.num_workers": "grid(0, 1)"})
    says("bad.ini:", "loop.optimiser is not another key", space={"lr": "uniform(0, 1) if optimiser == sgd"})
    check_exit(run([TRAINRT, "--config", linear_config(folder, "run", loop={"epochs": 1})]), 0)
    job = tune(sweep_config(folder, "run"))
    equal(job.code, 64, "exit code of a sweep in the directory of a run", job)
    check("is the directory of a run" in job.err and not (folder / "runs/run/sweep.json").exists(), "the sweep was created in the directory of a run", job)
    job = run([TRAINRT, "--config", sweep_config(folder, "bad")])
    equal(job.code, 64, "exit code of a run with [tune]", job)
    check("trainrt tune" in job.err, "the command for a sweep is not named", job)


@test
def a_metric_that_no_trial_reports_ends_the_sweep_with_one_message_and_may_be_corrected():
    config = sweep_config(scratch(), tune={"metric": "acc", "num_samples": 6, "scheduler": "asha"}, asha={"max_t": 9, "reduction_factor": 3})
    job = tune(config)
    equal(job.code, 64, "exit", job)
    equal([trial["state"] for trial in trials_of(config)], ["failed"] + ["waiting"] * 5, "states after the first trial", job)
    equal(job.err.count("[tune] metric = acc: the trials do not report it; they report: epoch, loss"), 1, "messages", job)
    check("sweep.ini:" in job.err and "failed in on_report()" not in job.err and "another run.name" not in job.err, "the message", job)
    check("[tune] metric = acc: the trial does not report it" in trials_of(config)[0]["why"], f"the reason of the trial: {trials_of(config)[0]}")
    check("failed in on_report()" not in (run_dir_of(config) / "trial_00000.log").read_text(), "the error of the trial names the callback")
    job = tune(config, "--tune.metric=loss")
    check_exit(job, 0)
    check("tune.metric was 'acc', now 'loss'" in job.err and "1 trial that did not report the metric is retried" in job.err, "the change", job)
    equal([trial["attempts"] for trial in check_each_once(config, 6)], [2] + [1] * 5, "attempts", job)
    job = tune(config, "--tune.metric=epoch")
    equal(job.code, 64, "exit of another metric after reports", job)
    check("tune.metric was 'loss', now 'epoch'" in job.err, "the refused change", job)


@test
def a_metric_that_a_program_does_not_report_is_named():
    folder = scratch()
    program = program_file("import sys\nfrom trainrt import train\ntrain.report({'loss': float(sys.argv[1])})\n")
    config = write_config(folder / "sweep.ini", {"run": {"name": "sweep", "storage_path": folder / "runs"}, "train": {"program": f"{sys.executable} {program} {{lr}}"},
                                                 "tune": {"metric": "los", "num_samples": 1, "workers": 2}, "tune.space": {"lr": "grid(0.25, 0.75)"}})
    job = tune(config)
    equal(job.code, 64, "exit", job)
    check("[tune] metric = los: the trials do not report it; they report: loss (did you mean 'loss'?)" in job.err, "the metric", job)
    job = run([TRAINRT, "check", "--config", config, "--tune.metric=loss"])
    equal(job.err.count("tune.metric = loss without mode, whose default is max: the trial with the highest loss is the best; set mode = min in [tune]"), 1, "check", job)
    job = tune(config, "--tune.metric=loss", "--tune.mode=min")
    check_exit(job, 0)
    check("is the best; set mode" not in job.err, "a notice of a given mode", job)
    check_each_once(config, 2)


@test
def each_trial_has_the_number_of_ranks_in_its_values():
    config = sweep_config(scratch(), tune={"num_samples": 1, "workers": 3}, loop={"epochs": 1}, space={"scaling.num_workers": "grid(1, 2)"})
    check_exit(tune(config), 0)
    counts = [json.loads((run_dir_of(config) / f"trial_{number:05d}/run.json").read_text())["workers"] for number in (0, 1)]
    equal(counts, [1, 2], "ranks of the trials")
    job = run(["mpiexec", "-n", 2, TRAINRT, "tune", "--config", sweep_config(scratch(), space={"scaling.num_workers": "grid(1, 2)"})], timeout=60)
    equal(job.code, 64, "exit code with slices", job)
    check("[tune.space] sets scaling.num_workers" in job.err, "the key is not named", job)


@test
def a_sweep_that_could_run_more_trials_at_a_time_names_the_key():
    config = sweep_config(scratch(), tune={"num_samples": 2}, loop={"epochs": 1})
    advice = "to run 2 at the same time, set tune.max_concurrent_trials = 2"
    job = tune(config)
    check_exit(job, 0)
    check("2 trials, 1 at the same time" in job.err, "the number of trials at a time", job)
    equal(advice in job.err, len(os.sched_getaffinity(0)) >= 2, "whether the key is named", job)
    check(advice not in tune(config, "--tune.max_concurrent_trials=1").err, "the key is named although it is set")


@test
def tables_have_six_digits_and_json_and_the_best_trial_have_all():
    config = sweep_config(scratch(), tune={"num_samples": 1}, loop={"epochs": 1}, space={"lr": "uniform(0.01, 0.02)"})
    job = tune(config)
    check_exit(job, 0)
    value = trials_of(config)[0]["config"]["loop.lr"]
    check(len(value) > 12, f"lr = {value} is short")
    table, best = (run([TRAINRT, "tune", word, run_dir_of(config)]).out for word in ("status", "best"))
    check(f"{float(value):.6g}" in table and value not in table, f"the table: {table}")
    check(f"lr={float(value):.6g})" in job.err, "the value in the log", job)
    check(f"lr = {value}\n" in best and f"\nDetails: trainrt result {run_dir_of(config) / 'trial_00000'}\n" in best, f"the best trial: {best}")


@test
def a_sweep_can_get_more_trials_but_no_other_space():
    folder = scratch()
    config = sweep_config(folder, tune={"num_samples": 2}, loop={"epochs": 1})
    check_exit(tune(config), 0)
    before = trials_of(config)
    job = tune(config, "--tune.space.lr=uniform(0, 1)")
    equal(job.code, 64, "exit", job)
    check("tune.space.lr was 'loguniform(1e-4, 0.3)', now 'uniform(0, 1)'" in job.err, "the change is not named", job)
    job = tune(config, "--loop.lr=0.1")
    equal(job.code, 64, "exit", job)
    check(f"--loop.lr=0.1 has no effect, because trials take lr from [tune.space] ({config}:" in job.err, "the option without effect is not refused", job)
    job = tune(config, "--tune.num_samples=5")
    check_exit(job, 0)
    check("trials grows from 2 to 5" in job.err, "the change is not reported", job)
    equal(check_each_once(config, 5)[:2], before, "the first trials")
    equal(tune(config).code, 64, "exit code with fewer trials")


@test
def trials_use_the_config_of_the_caller_and_not_that_of_the_sweep_directory():
    folder = scratch()
    config = sweep_config(folder, tune={"num_samples": 1}, loop={"epochs": 1})
    check_exit(tune(config), 0)
    trial_ini = run_dir_of(config) / "trial.ini"
    text = trial_ini.read_text()
    trial_ini.write_text(text + f"[callback.command]\non_finish = touch {folder / 'pwned'}\n".replace("[callback", "[run]\ncallbacks = command\n[callback"))
    check_exit(tune(config, "--tune.num_samples=2"), 0)
    check(not (folder / "pwned").exists(), "a program was started")
    equal(trial_ini.read_text(), text, "trial.ini")


@test
def a_searcher_program_chooses_the_values_of_trials():
    folder = scratch()
    searcher = program_file("import json, sys\nasked = json.load(sys.stdin)\nbest = min((t['value'], t['trial']) for t in asked['trials'] if t['value'] is not None) "
                            "if asked['trials'] else (1, 0)\nprint(json.dumps({'loop.lr': 0.001 * (1 + len(asked['trials'])), 'loop.batch_size': 16 + best[1]}))\n",
                            "searcher.py")
    config = sweep_config(folder, tune={"searcher_program": f"{sys.executable} {searcher}", "num_samples": 4}, loop={"epochs": 2},
                          space={"lr": "uniform(0, 1)", "batch_size": "randint(16, 32)"})
    check_exit(tune(config), 0)
    trials = check_each_once(config, 4)
    equal([trial["config"]["loop.lr"] for trial in trials], ["0.001", "0.002", "0.003", "0.004"], "learning rates")
    best = min(range(3), key=lambda number: trials[number]["best"])
    equal(trials[3]["config"]["loop.batch_size"], str(16 + best), "the batch size that follows from the earlier trials")
    check_as_alone(config, trials[3])
    config = sweep_config(folder, "bad", tune={"searcher_program": "echo nothing", "num_samples": 2})
    job = tune(config)
    equal(job.code, 70, "exit", job)
    check("echo nothing: it did not print a JSON object" in job.err, "the output of the program is not quoted", job)


@test
def later_trials_of_optuna_are_better_than_the_first_ones():
    if run(["/usr/bin/python3", "-c", "import optuna"]).code != 0:
        skip("optuna is not installed (package python3-optuna)")
    folder = scratch()
    config = sweep_config(folder, tune={"searcher_program": "/usr/bin/python3 -m trainrt.tune.search.optuna", "num_samples": 14}, loop={"epochs": 1})
    check_exit(tune(config), 0)
    trials = check_each_once(config, 14)
    later, first = ([trial["best"] for trial in part] for part in (trials[10:], trials[:10]))
    check(sum(later) / len(later) < sum(first) / len(first), f"later trials are not better: {later}, first: {first}")


@test
def status_and_best_of_a_folder_without_a_sweep_are_errors():
    folder = scratch()
    for words, part in ((["status", folder], "is not a sweep"), (["best", folder / "none"], "does not exist"), (["state", folder], "usage"), ([], "missing option: --config FILE")):
        job = run([TRAINRT, "tune", *words])
        equal(job.code, 64, f"exit code of {words}", job)
        check(part in job.err, f"the message lacks {part!r}", job)


main()
