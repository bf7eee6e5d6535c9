#!/usr/bin/python3
"""In a bad environment every command exits with one of trainrt's exit codes, and its last line is an error message of trainrt."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

PYTHON = "/usr/bin/python3"


def in_shell(before, *words, after="", **options):
    """Runs a command in a shell after the shell commands `before`, such as ulimit or export. All output goes through a pipe to standard
    error, because a limit may apply to files."""
    return run(["bash", "-c", f'{{ {before}; "$@" {after}; }} 2>&1 | cat >&2; exit ${{PIPESTATUS[0]}}', "bash", *words], **options)


def ends_in_words(job, code, *parts):
    check_exit(job, code)
    lines = [line for line in job.err.splitlines() if line.strip()]
    check(lines and lines[-1].startswith("trainrt: "), f"the last line is not a message of trainrt: {lines[-1:]}", job)
    for part in parts:
        check(part in lines[-1], f"the last line lacks {part!r}: {lines[-1]}", job)


# ---- variables and limits of the shell -------------------------------------------------------------------------------------------

@test
def variables_of_another_launcher_are_named():
    config = linear_config(scratch(), "run")
    for rank in (0, 1):  # the inherited environment may be that of any rank
        job = in_shell(f"export PMI_FD=7 PMI_RANK={rank} PMI_SIZE=2", TRAINRT, "--config", config)
        ends_in_words(job, USAGE, "PMI_FD=7 was set by another launcher", "env -u PMI_FD")
    for command in ([TRAINRT, "--config", config], [TRAINRT, "tune", "--config", config]):
        job = in_shell("export PMI_FD=x PMI_RANK=y PMI_SIZE=z", *command)
        ends_in_words(job, USAGE, "PMI_FD=x was set by another launcher")
        job = in_shell("export PMI_PORT=x PMI_RANK=y PMI_SIZE=z", *command)
        ends_in_words(job, USAGE, "it must be a whole number")
    job = in_shell("export PMI_PORT=127.0.0.1:1 PMI_ID=0 PMI_RANK=0 PMI_SIZE=2", TRAINRT, "--config", config)
    ends_in_words(job, FAILED, "MPI_Init failed", "PMI_*")
    job = in_shell("export PMIX_NAMESPACE=foo PMIX_RANK=0 PMIX_SERVER_URI2=bar", TRAINRT, "--config", config)
    ends_in_words(job, FAILED, "env -u PMIX_NAMESPACE")


@test
def a_launcher_as_the_program_of_several_ranks_is_refused():
    folder = scratch()
    launcher = folder / "torchrun"
    launcher.write_text("#!/bin/sh\nexit 0\n")
    launcher.chmod(0o755)
    words = [f"--run.storage_path={folder}/runs", "--", launcher, "train.py"]
    ends_in_words(run([TRAINRT, "-n", 2, *words]), USAGE, "torchrun starts its own workers; write: trainrt -n 2 -- python3 train.py")
    check(not (folder / "runs").exists(), "a run directory was created")
    for command in ([TRAINRT, "check"], [TRAINRT]):
        job = run([*command, *words])
        check_exit(job, FINISHED)
        check("warning: torchrun starts its own workers" in job.err, f"no warning of {command[1:] or 'one rank'}", job)


@test
def ranks_that_a_limit_of_the_shell_ends_are_given_up_with_the_limit_named():
    config = linear_config(scratch(), "run")
    for limit, option, keys in (("ulimit -f 0", "-f", []), ("ulimit -n 12", "-n", ["--scaling.backend=mpi"])):
        job = in_shell(limit, TRAINRT, "-n", 2, "--config", config, "--failure.max_failures=0", *keys)
        ends_in_words(job, FAILED, "given up after 1 failure", "before an attempt had begun", f"(ulimit {option}")


@test
def ranks_that_report_the_same_error_end_without_an_abort_message_of_mpi():
    folder = scratch()
    (folder / "train.py").write_text("import trainrt\nctx = trainrt.context()\nctx.stop_point() if ctx.world_rank else ctx.barrier()\n")
    job = run([TRAINRT, "-n", 2, "--run.name=run", "--failure.max_failures=0", "--", PYTHON, "train.py"], cwd=folder,
              env={"PYTHONPATH": BUILD / "python"})
    ends_in_words(job, FAILED, "given up after 1 failure", "Fix the problem and run the same command again")
    for words in ("the ranks do not make the same call", "Fix the problem"):
        equal(job.err.count(words), 1, f"number of messages with '{words}'", job)
    check("Abort(" not in job.err, "MPI printed its own message", job)


@test
def an_error_about_threads_that_cannot_be_started_names_the_limit():
    job = in_shell("ulimit -v 200000", TRAINRT, f"--run.storage_path={scratch()}", "--run.name=run", "--failure.max_failures=0", "--",
                   PYTHON, "-c", "pass")
    ends_in_words(job, FAILED, "ulimit -v")


@test
def a_removed_current_folder_is_a_clear_error():
    folder = scratch()
    job = in_shell(f"mkdir {folder}/gone; cd {folder}/gone; rmdir {folder}/gone", TRAINRT, "doctor")
    ends_in_words(job, FAILED, "the current folder no longer exists")


# ---- standard streams ------------------------------------------------------------------------------------------------------------

@test
def output_that_cannot_be_written_is_an_error_with_a_hint():
    for command in ("list", "help config", "--version"):
        for after, part in ((">&-", "send it to"), (">/dev/full", "No space left on device")):
            job = run(["bash", "-c", f"{TRAINRT} {command} {after}; echo $? >&2"])
            *_, line, code = job.err.splitlines()
            equal(int(code), FAILED, f"exit code of {command} {after}", job)
            check(line.startswith("trainrt: error: the output could not be written") and part in line, f"{command} {after}: {line}", job)


@test
def a_reader_that_needs_no_more_output_ends_a_command_without_a_message():
    job = run(["bash", "-c", f"{{ sleep 0.2; {TRAINRT} list; echo $? >&2; }} | true"])  # the reader exits before the command prints
    equal(job.err, f"{FAILED}\n", "messages and exit code", job)


# ---- programs that cannot be started ---------------------------------------------------------------------------------------------

def not_started(content, code, *parts, mode=0o755):
    program = scratch() / "program"
    program.write_bytes(content)
    program.chmod(mode)
    for ranks in ([], ["-n", 2]):
        job = run([TRAINRT, *ranks, "--run.name=run", "--failure.max_failures=0", "--", program], cwd=scratch())
        check_exit(job, code)
        errors = [line for line in job.err.splitlines() if "error: " in line]
        for part in parts if code == FAILED else (*parts, str(program)):
            check(any(part in line for line in errors), f"no error contains {part!r}", job)


for name, arguments in {
        "a_script_with_windows_line_ends": (b"#!/usr/bin/python3\r\nprint(1)\r\n", USAGE, "carriage return", "dos2unix"),
        "a_script_whose_interpreter_is_missing": (b"#!/no/such/python\n", USAGE, "'/no/such/python', which does not exist"),
        "a_script_whose_interpreter_is_a_folder": (b"#! /tmp\n", USAGE, "'/tmp', which cannot be executed"),
        "a_script_without_a_first_line": (b"echo 1\n", USAGE, "add the line #!/bin/sh"),
        "a_program_for_another_processor": (b"\x7fELF\x02\x01\x01" + bytes(60), USAGE, "another processor"),
        "an_empty_program": (b"", USAGE, "is empty")}.items():
    add_test(f"{name}_is_refused_with_a_hint", not_started, *arguments)


@test
def a_program_that_is_not_executable_is_refused_with_a_hint():
    not_started(b"print(1)\n", USAGE, "is not executable", "chmod +x", mode=0o644)


@test
def the_error_of_a_wrapper_without_its_command_explains_exit_code_127():
    not_started(b"#!/usr/bin/env nosuch\n", FAILED, "exited with 127 (a command or its interpreter was not found)")


# ---- Python ----------------------------------------------------------------------------------------------------------------------

FIT = """import sys
import trainrt.train as train
def loop(config):
    train.report({"loss": 1.0})
if __name__ == "__main__":
    run = train.RunConfig(name="fit", **({"storage_path": sys.argv[1]} if len(sys.argv) > 1 else {}))
    train.DataParallelTrainer(loop, run_config=run).fit()
"""


@test
def an_error_of_fit_in_a_bad_environment_has_a_hint():
    folder = scratch()
    (folder / "fit.py").write_text(FIT)
    fit = [PYTHON, folder / "fit.py"]
    env = {"PYTHONPATH": BUILD / "python"}
    slurm_conf = folder / "slurm.conf"
    slurm_conf.write_text("")  # if the file did not exist, srun would wait for it for 60 s
    gone = f"mkdir {folder}/gone; cd {folder}/gone; rmdir {folder}/gone"
    for before, words, after, part in (
            ("ulimit -f 0", [*fit, folder / "a"], "", "ulimit -f"),
            (gone, fit, "", "the current folder no longer exists: change to another one"),
            (f"export SLURM_JOB_ID=99 SLURM_NTASKS=2 SLURM_CONF={slurm_conf}", [*fit, folder / "b"], "", "trainrt did not start")):
        job = in_shell(before, *words, after=after, env=env)
        check_exit(job, 1)
        check(part in job.err.splitlines()[-1], f"{before}: {job.err.splitlines()[-1:]}", job)
    for number in (1, 2):
        job = in_shell("true", *fit, folder / f"closed{number}", after=f"{number}>&-", env=env)
        check_exit(job, FINISHED)


@test
def an_inherited_connection_of_another_program_is_a_clear_error():
    for value in ("7", "x", "", "1"):
        job = run([PYTHON, "-c", "import trainrt; trainrt.context()"], env={"PYTHONPATH": BUILD / "python", "TRAINRT_FD": value})
        check(f"RuntimeError: TRAINRT_FD={value} is inherited from another program" in job.err, f"TRAINRT_FD={value}", job)


main()
