#!/usr/bin/python3
"""Runs and sweeps of another user are continued, restored and changed only if the command or the config trusts that user. Reading them
always works."""
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.sweeps import *  # noqa: E402,F403

NOBODY, UNKNOWN = 65534, 54321  # user IDs: that of `nobody`, and one without a name
LOOP = {"epochs": 2}


def setup():
    if os.geteuid() != 0:
        skip("needs root, to give files to other users")


def give(path, user=NOBODY):
    os.chown(path, user, -1)


def state_of(folder):
    """Returns the content of each file below `folder` by its path."""
    return {str(path): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def finished_run(**keys):
    config = linear_config(scratch(), "run", LOOP, **keys)
    check_exit(run([TRAINRT, "--config", config]), FINISHED)
    return config


def refused(command, *words, of, **options):
    """Checks that the command exits with 64 and one error that contains all words, and changes nothing below `of`."""
    before = state_of(of)
    job = run([TRAINRT, *command], **options)
    check_exit(job, USAGE)
    equal(job.err.count("error:"), 1, "number of messages", job)
    for word in words:
        check(word in job.err, f"the message lacks {word!r}", job)
    equal(state_of(of), before, "files of the other user", job)


def a_run_of_another_user_is_not_continued(part):
    config = finished_run()
    run_dir = run_dir_of(config)
    give(run_dir / part)
    more = ["--config", config, "--loop.epochs=3"]
    for command in (more, ["run", "-n", 2, *more], ["check", *more]):
        refused(command, f"{run_dir / part} belongs to nobody", "runs as root", "--trust-owner=nobody", of=run_dir)
    refused(["supervise", *more], f"{run_dir / part} belongs to nobody", of=run_dir, env={"SLURM_JOB_ID": 1})
    refused([*more, "--trust-owner=daemon"], "belongs to nobody", of=run_dir)
    refused([*more, "--trust-owner=nobody,no-such-user"], "there is no user 'no-such-user'", of=run_dir)
    check_exit(run([TRAINRT, *more, "--trust-owner=nobody"]), FINISHED)
    give(run_dir / part)  # the run has replaced run.json
    check_exit(run([TRAINRT, "run", "-n", 2, "--config", config, "--loop.epochs=4", "--scaling.on_resize=keep_batch", f"--trust-owner=daemon,{NOBODY}"]), FINISHED)


for what in ("", "run.json"):
    add_test(f"a_run_whose_{'record' if what else 'directory'}_another_user_owns_is_not_continued", a_run_of_another_user_is_not_continued, what)


@test
def an_owner_without_a_name_is_given_as_a_number():
    config = finished_run()
    give(run_dir_of(config), UNKNOWN)
    refused(["--config", config, "--loop.epochs=3"], f"belongs to {UNKNOWN}", f"--trust-owner={UNKNOWN}", of=run_dir_of(config))
    check_exit(run([TRAINRT, "--config", config, "--loop.epochs=3", f"--trust-owner={UNKNOWN}"]), FINISHED)


@test
def a_run_behind_a_link_of_another_user_is_not_continued():
    config = finished_run()
    run_dir = run_dir_of(config)
    run_dir.rename(run_dir.with_name("mine"))
    run_dir.symlink_to("mine")
    os.lchown(run_dir, NOBODY, -1)
    refused(["--config", config, "--loop.epochs=3"], f"{run_dir} belongs to nobody", of=run_dir.with_name("mine"))


@test
def a_run_of_root_is_not_continued_by_another_user():
    if shutil.which("setpriv") is None:
        skip("needs setpriv")
    as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    if run([*as_nobody, TRAINRT, "--version"]).code != 0:
        skip("other users cannot run the trainrt that was built here")
    config = finished_run()
    run_dir = run_dir_of(config)
    for path in (scratch_root(), config.parent):
        path.chmod(0o755)
    os.chmod(run_dir.parent, 0o777)
    for path in (run_dir, *run_dir.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    job = run([*as_nobody, TRAINRT, "--config", config, "--loop.epochs=3"])
    check_exit(job, USAGE)
    check(f"{run_dir} belongs to root" in job.err and "--trust-owner=root" in job.err, "the owner is not named", job)
    check_exit(run([*as_nobody, TRAINRT, "--config", config, "--loop.epochs=3", "--trust-owner=root"]), FINISHED)


@test
def reading_a_run_of_another_user_always_works():
    config = finished_run()
    run_dir, out = run_dir_of(config), scratch()
    for path in (run_dir, *run_dir.rglob("*")):
        give(path)
    before = state_of(run_dir)
    checkpoint = max(run_dir.glob("checkpoint_*"))
    for command in (["result", run_dir], ["plot", run_dir, "-o", out / "run.svg"], ["report", run_dir, "-o", out / "page.html"], ["inspect", checkpoint], ["verify", run_dir],
                    ["export", checkpoint, "-o", out / "state.npz"], ["predict", run_dir, "-o", out / "out.csv", "--dataset", "train"], ["top", run_dir, "--once"]):
        job = run([TRAINRT, *command])
        check(job.code == FINISHED, f"exit {job.code} of {command[0]}", job)
    equal(state_of(run_dir), before, "files of the other user")


@test
def a_mirror_of_another_user_is_not_restored():
    mirror = scratch()
    config = finished_run(checkpoint={"mirror": mirror})
    shutil.rmtree(run_dir_of(config))
    for part in (mirror / "run/run.json", mirror / "run"):
        give(part)
        refused(["--config", config], f"{part} belongs to nobody", of=mirror)
        check(not run_dir_of(config).exists(), "the run was restored")
        os.chown(part, 0, -1)
    give(mirror / "run")
    check_exit(run([TRAINRT, "--config", config, "--trust-owner=nobody"]), FINISHED)
    check(run_dir_of(config).exists(), "the run was not restored")


@test
def a_sweep_of_another_user_is_not_continued():
    config = sweep_config(scratch(), tune={"num_samples": 1}, loop={"epochs": 1})
    check_exit(tune(config), FINISHED)
    for part in ("sweep.json", ""):
        give(run_dir_of(config) / part)
        refused(["tune", "--config", config, "--tune.num_samples=2"], "belongs to nobody", of=run_dir_of(config))
        equal(len(trials_of(config)), 1, "trials")
        os.chown(run_dir_of(config) / part, 0, -1)
    for path in (run_dir_of(config), *run_dir_of(config).rglob("*")):
        give(path)
    check_exit(tune(config, "--tune.num_samples=2", "--trust-owner=nobody"), FINISHED)
    equal(len(trials_of(config)), 2, "trials")


@test
def trust_group_in_the_config_of_the_user_allows_runs_of_a_group():
    config = finished_run()
    run_dir = run_dir_of(config)
    give(run_dir)
    folder = scratch()
    file = folder / "trainrt/trainrt.ini"
    file.parent.mkdir()
    command, env = ["--config", config, "--loop.epochs=3"], {"XDG_CONFIG_HOME": folder}
    for text, *words in (("[trust]\ntrust_group = daemon\n", "belongs to nobody"), ("[trust]\ntrust = nogroup\n", f"{file}:2", "trust_group ="),
                         ("[trust]\ntrust_group = no-such-group\n", "belongs to nobody")):
        file.write_text(text)
        refused(command, *words, of=run_dir, env=env)
    file.write_text("# who shares runs\n[trust]\ntrust_group = daemon, nogroup\n")
    file.chmod(0o664)
    refused(command, "belongs to nobody", f"{file} is ignored", of=run_dir, env=env)
    file.chmod(0o644)
    for inside in (run_dir, run_dir.parent):  # a trainrt.ini in these folders is not read
        (inside / "trainrt.ini").write_text(file.read_text())
    refused(command, "belongs to nobody", of=run_dir)
    for inside in (run_dir, run_dir.parent):
        (inside / "trainrt.ini").unlink()
    check_exit(run([TRAINRT, *command], env=env), FINISHED)


main(setup)
