#!/usr/bin/python3
"""trainrt [keys] -- COMMAND ARGS runs a program without a config. The words after -- are passed to the program unchanged."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

PYTHON = "/usr/bin/python3"
SHOW = "import json, os, sys\nprint(f'rank {os.environ[\"RANK\"]}: ' + json.dumps(sys.argv[1:]), flush=True)\n"


def folder_with(text=SHOW, name="train.py"):
    folder = scratch()
    (folder / name).write_text(text)
    return folder


def start(ranks, folder, *words, **options):
    launcher = [MPIEXEC, "-n", ranks] if ranks > 1 else []
    return run([*launcher, TRAINRT, *words], cwd=folder, **options)


def runs_in(folder):
    return sorted(path.name for path in (folder / "runs").iterdir()) if (folder / "runs").exists() else []


@test
def a_program_needs_no_config_and_gets_its_arguments_unchanged():
    words = ["--help", "", "two words", "--", "it's", '"quoted"', "back\\slash", "line\nbreak", "--run.name=x", "-n", "*", "$HOME"]
    folder = folder_with()
    job = start(2, folder, "--run.output=all", "--", PYTHON, "train.py", *words)
    check_exit(job, FINISHED)
    for rank in range(2):
        check(f"rank {rank}: {json.dumps(words)}" in job.out, f"the words of rank {rank}", job)
    names = runs_in(folder)
    equal(len(names), 1, f"runs of both ranks: {names}", job)
    check(re.fullmatch(r"train-\d{8}-\d{6}-\d{3}", names[0]), f"the name {names[0]}", job)
    check(f"{folder}/runs/{names[0]}" in job.err and f"--run.name={names[0]}" in job.err, "the run directory is not named", job)
    equal(json.loads((folder / "runs" / names[0] / "run.json").read_text())["state"], "finished", "state of the run", job)


@test
def keys_are_given_before_the_dashes():
    folder = folder_with()
    job = start(2, folder, "--run.name=mine", f"--run.storage_path={folder}/here", "--", PYTHON, "train.py")
    check_exit(job, FINISHED)
    check((folder / "here/mine/run.json").exists() and not runs_in(folder), "the run is elsewhere", job)


@test
def a_requeued_job_continues_its_run_and_another_job_or_command_starts_a_new_one():
    folder = folder_with()
    in_job = lambda number, *words, **more: start(1, folder, "--", PYTHON, "train.py", *words, env={"SLURM_JOB_ID": number, "SLURM_SUBMIT_DIR": folder, **more})
    check_exit(in_job("7"), FINISHED)
    job = in_job("7", SLURM_RESTART_COUNT="1")
    check_exit(job, FINISHED)
    check("has finished already" in job.err, "the job did not continue its run", job)
    equal(len(runs_in(folder)), 1, "runs")
    check_exit(in_job("8"), FINISHED)
    check_exit(in_job("7", "--lr"), FINISHED)
    check_exit(in_job("9", SLURM_ARRAY_JOB_ID="7", SLURM_ARRAY_TASK_ID="0"), FINISHED)
    names = runs_in(folder)
    equal([len(names), sorted({name.split("-")[1] for name in names})], [4, ["7", "7_0", "8"]], f"runs: {names}")


@test
def a_program_after_dashes_replaces_the_program_of_the_config():
    folder = folder_with()
    config = write_config(folder / "a.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"program": "no-such-program"}})
    job = start(1, folder, "--config", config, "--", PYTHON, "train.py")
    check_exit(job, FINISHED)
    equal(runs_in(folder), ["run"], "runs", job)
    config = write_config(folder / "b.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"function": "linear"}})
    job = start(1, folder, "--config", config, "--", PYTHON, "train.py")
    check_exit(job, USAGE)
    check("remove one of them" in job.err, "the message", job)


def refused(words, *named, ranks=2, env=None):
    folder = folder_with()
    for command in ([], ["check"]):
        job = start(ranks if not command else 1, folder, *command, *words, env=env)
        check_exit(job, USAGE)
        equal(job.err.count("error:"), 1, "number of messages", job)
        for word in named:
            check(word in job.err, f"the message lacks {word!r}", job)
        equal(runs_in(folder), [], "remaining runs", job)


add_test("dashes_without_a_program_are_refused", refused, ["--"], "missing argument after --: PROGRAM", "-- PROGRAM ARGS")
add_test("an_option_after_the_dashes_is_no_program", refused, ["--", "--run.name=x", PYTHON, "train.py"], "'--run.name=x' after -- is not a program")
add_test("an_empty_argument_is_no_program", refused, ["--", ""], "''")
add_test("neither_config_nor_program_is_refused", refused, ["--loop.a=1"], "missing argument: --config FILE or -- PROGRAM")
add_test("a_missing_program_is_named", refused, ["--", "no-such-program"], "'no-such-program' not found in the PATH")
add_test("a_missing_script_is_named", refused, ["--", PYTHON, "absent.py"], "'absent.py'", "No such file")
add_test("a_file_that_is_not_executable_is_named", refused, ["--", "./train.py"], "'./train.py'", "is not executable on this node")
add_test("an_unknown_key_before_the_dashes_is_named", refused, ["--run.nam=x", "--", PYTHON, "train.py"], "run.nam", "did you mean 'run.name'")


@test
def in_the_shell_of_a_job_of_several_tasks_the_srun_command_is_shown():
    folder = folder_with()
    job = start(1, folder, "--", PYTHON, "train.py", env={"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4"})
    check_exit(job, USAGE)
    check("srun trainrt" in job.err and "4 tasks" in job.err, "the message", job)
    equal(runs_in(folder), [], "remaining runs", job)


main()
