#!/usr/bin/python3
"""Wrong command lines: the message shows the call that was probably meant."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

CONFIG = """[run]
name = first
storage_path = runs
[train]
function = linear
[data.train]
format = synthetic
"""
_folders = []


def folder():
    """Returns the folder in which the calls run. It contains a config, the finished run of this config, and a script."""
    if not _folders:
        path = scratch()
        (path / "train.ini").write_text(CONFIG)
        (path / "train.py").write_text("print(1)\n")
        check_exit(run([TRAINRT, "--config", "train.ini"], cwd=path), FINISHED)
        _folders.append(path)
    return _folders[0]


def refused(words, *parts):
    """Checks that a call ends with exit code 64 and one line, which ends with parts[0] and contains the others."""
    before = sorted(folder().rglob("*"))
    job = run([TRAINRT, *words.split()], cwd=folder())
    check_exit(job, USAGE)
    lines = job.err.splitlines()
    equal([len(lines), lines[0].startswith("trainrt: error: ")], [1, True], "lines of the message", job)
    check(lines[0].endswith(parts[0]), f"{words}: the message does not end with {parts[0]!r}", job)
    for part in parts[1:]:
        check(part in lines[0], f"{words}: the message lacks {part!r}", job)
    equal(sorted(folder().rglob("*")), before, f"files after {words}", job)


@test
def a_config_or_program_without_its_option_is_an_error_that_shows_the_call():
    for words, call in (("train.ini", "trainrt --config train.ini"), ("run train.ini", "trainrt --config train.ini"),
                        ("supervise train.ini", "trainrt supervise --config train.ini"), ("check train.ini", "trainrt check --config train.ini"),
                        ("tune train.ini", "[--json]"), ("python3 train.py", "trainrt -- python3 train.py"),
                        ("-n 2 python3 train.py", "trainrt -n 2 -- python3 train.py"), ("train.py", "trainrt -- python3 train.py"),
                        ("check --run.name=x python3 train.py", "trainrt check --run.name=x -- python3 train.py"),
                        ("run --config train.ini python3 train.py", "trainrt --config train.ini -- python3 train.py")):
        refused(words, call)
    refused("tune train.ini", "[--json]", "trainrt tune --config train.ini")


@test
def the_call_that_a_message_shows_works():
    for words in (["train.ini"], ["-n", "2", "python3", "train.py"], ["check", "train.ini"]):
        job = run([TRAINRT, *words], cwd=folder())
        call = job.err.strip().split(": trainrt ")[-1]
        check_exit(run([TRAINRT, *call.split()], cwd=folder()), FINISHED)


@test
def a_word_of_another_tool_is_an_error_that_shows_the_command_for_it():
    for word, part in {"start": "trainrt --config FILE", "resume": "trainrt --config FILE", "continue": "trainrt --config FILE", "status": "trainrt result RUN_DIR",
                       "show": "trainrt result RUN_DIR", "ls": "trainrt result FOLDER", "logs": "logs/rank-", "checkpoint": "trainrt inspect CHECKPOINT",
                       "requeue": "scontrol requeue JOB", "stop": "scancel --signal=USR1 JOB", "cancel": "kill -USR1 PID", "version": "trainrt --version",
                       "init": "trainrt help config", "convert": "trainrt data convert SOURCE -o FILE", "bench": "trainrt data bench SOURCE",
                       "best": "trainrt tune best DIR", "eval": "trainrt predict RUN_DIR -o FILE", "test": "trainrt check --config FILE",
                       "train": "trainrt -- PROGRAM ARGS", "torchrun": "trainrt -n 2 -- python3 train.py"}.items():
        refused(word, "", f"unknown command '{word}': ", part)


@test
def a_misspelled_word_is_an_error_that_suggests_the_word():
    for words, part in {"lst": "did you mean 'list'?", "help reslt": "did you mean 'result'?", "tune staus runs": "did you mean 'status'?",
                        "data inspet train.csv": "did you mean 'inspect'?", "--confg train.ini": "did you mean '--config'?",
                        "result runs/first --jsn": "did you mean '--json'?", "list chekpoint": "similar: checkpoint", "list --checkpoint.num_to_kep": "checkpoint.num_to_keep",
                        "help nothing": "`trainrt --help` shows all commands", "list --formats": "trainrt list formats",
                        "list --config train.ini": "trainrt check --config train.ini", "loop.lr=0.1": "a config key is given as --loop.lr=0.1"}.items():
        refused(words, "", part)


@test
def an_option_of_another_form_is_an_error_that_shows_its_form():
    for words, end in {"--lr 0.1": "--loop.lr=0.1", "--config train.ini --lr=0.1": "--loop.lr=0.1", "--config train.ini --loop.lr 0.1": "--loop.lr=0.1",
                       "--config train.ini --loop.lr": "--loop.lr=VALUE", "--config train.ini --loop.lr=": "--loop.lr=VALUE", "--seed 7": "--run.seed=7",
                       "--run.name x -- python3 train.py": "unknown option '--run.name': '=' is missing after the key: --run.name=x"}.items():
        refused(words, end)
    for option in ("--nproc_per_node", "--np", "-np", "--ntasks", "--num_processes"):
        refused(f"{option} 2 train.py", "", f"unknown option '{option}'", "trainrt -n N -- PROGRAM ARGS")
    refused("--config", "[-- PROGRAM ARGS]", "option --config has no value: --config FILE")


@test
def supervise_outside_an_allocation_shows_the_call_for_this_machine():
    refused("supervise -- python3 train.py x", "this starts N ranks on this machine: trainrt -n N -- python3 train.py x", "SLURM_JOB_ID is not set")


@test
def a_missing_argument_is_named():
    for words, part in {"verify": "RUN_DIR, CHECKPOINT or FILE", "result": "RUN_DIR or STORAGE_PATH", "plot": "RUN_DIR or FOLDER", "report": "RUN_DIR or FOLDER",
                        "inspect": "CHECKPOINT or RUN_DIR", "top": "RUN_DIR, or --job ID", "data": "TOOL", "data inspect": "SOURCE", "tune status": "DIR",
                        "tune best": "DIR"}.items():
        refused(words, "", f"missing argument: {part}")


@test
def a_config_or_name_in_the_place_of_a_run_directory_is_an_error_that_names_the_directory():
    for command in ("result", "top", "plot", "report", "verify", "inspect"):
        refused(f"{command} --config train.ini", f": trainrt {command} runs/first")
        refused(f"{command} first", "'first' does not exist; did you mean 'runs/first'?")
        refused(f"{command} runs/frist", "'runs/frist' does not exist; did you mean 'runs/first'?")
    for command in ("export", "predict"):
        refused(f"{command} first -o out.npz", "'first' does not exist; did you mean 'runs/first'?")


@test
def each_tool_of_data_has_its_own_help():
    for tool in ("inspect", "convert", "bench", "serve"):
        job = run([TRAINRT, "data", tool, "--help"])
        check_exit(job, FINISHED)
        check(job.out.startswith(f"trainrt data {tool}: "), "the first line", job)
        equal(run([TRAINRT, "help", "data", tool]).out, job.out, f"trainrt help data {tool}")
        check(not any(f"trainrt data {other}" in job.out for other in ("inspect", "convert", "bench", "serve") if other != tool), "another tool", job)


@test
def list_shows_names_and_one_name_with_all_its_keys():
    names = run([TRAINRT, "list"]).out
    check(len(names.splitlines()) < 70 and "num_to_keep" in names and "fashion_mnist" in names, f"trainrt list shows\n{names}")
    for name, parts in {"linear": ("loop.lr ", "default 0.01", "needs [data.train]"), "csv": ("data format csv: ", "sink csv: ", "delimiter"),
                        "checkpoint": ("checkpoint.num_to_keep ", "checkpoint.mirror "), "num_to_keep": ("num_to_keep = VALUE in [checkpoint]",),
                        "--checkpoint.num_to_keep=3": ("--checkpoint.num_to_keep=VALUE",), "[failure]": ("failure.max_failures",), "loop": ("keys of the train function", "--train.library"), "formats": ("parquet ", "idx "),
                        "data.train.shuffle": ("--data.NAME.shuffle=VALUE",), "StandardScaler": ("columns ",), "random_crop": ("PADDING",), "torch": ("MASTER_ADDR",),
                        "h5": ("export format h5: ", "format of predictions h5: "), "pmix": ("launcher pmix: ",), "nccl": ("GPU backend nccl: ",), "asha": ("tune.asha.max_t",)}.items():
        job = run([TRAINRT, "list", name])
        check_exit(job, FINISHED)
        for part in parts:
            check(part in job.out, f"trainrt list {name} lacks {part!r}", job)
    job = run([TRAINRT, "list", "--checkpoint.every=3", "linear"])
    check(job.code == 64 and "describes one name" in job.err, "a second name is ignored", job)


main()
