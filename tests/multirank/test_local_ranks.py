#!/usr/bin/python3
"""trainrt -n N: ranks on this node without mpiexec, started again after a failure, stopped by signals, and never left behind."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

RANKS = 3
LOOP = {"epochs": 60, "step_pause": 0.01, "dropout": 0.1}
PYTHON = "/usr/bin/python3"


def start_here(config, *words, ranks=RANKS, **options):
    return Job([TRAINRT, "-n", ranks, "--config", config, *words], **options)


def ended_with(job, code, timeout=60):
    job.code = job.wait(timeout)
    check_exit(job, code)
    return job


def ranks_of(job):
    """Process of each rank, once all are there."""
    return job.wait_for_ranks(RANKS)


_references = []


def reference():
    """The run that mpiexec starts, and nothing happens to."""
    if not _references:
        config = linear_config(scratch(), "whole", LOOP)
        check_exit(run_ranks(RANKS, config), FINISHED)
        _references.append(run_dir_of(config))
    return _references[0]


def nobody_is_left(job):
    wait_until(lambda: not processes_with(job.token), 20, "all processes to be gone", job)


@test
def the_ranks_train_together_with_the_bits_of_mpiexec():
    config = linear_config(scratch(), "run", LOOP)
    job = ended_with(start_here(config), FINISHED)
    check(f"{RANKS} ranks on 1 node" in job.err, "the number of ranks", job)
    check_same_bits(run_dir_of(config), reference())
    check_verifies(run_dir_of(config))


@test
def a_rank_that_is_killed_is_started_again_with_the_others():
    config = linear_config(scratch(), "run", LOOP)
    job = start_here(config)
    wait_for_reports(run_dir_of(config), 4, job)
    kill([ranks_of(job)[1]])
    ended_with(job, FINISHED)
    check("restart 1 of 3 (failure.max_failures)" in job.err, "the restart was not said", job)
    equal(len(attempts(run_dir_of(config))), 2, "attempts", job)
    check(attempts(run_dir_of(config))[1]["first_step"] > 0, "it began anew", job)
    check_same_bits(run_dir_of(config), reference())
    nobody_is_left(job)


def stopped_by(number):
    config = linear_config(scratch(), "run", LOOP)
    job = start_here(config)
    wait_for_reports(run_dir_of(config), 4, job)
    job.process.send_signal(number)
    ended_with(job, STOPPED)
    equal(len(attempts(run_dir_of(config))), 1, "attempts", job)
    nobody_is_left(job)
    ended_with(start_here(config), FINISHED)
    check_same_bits(run_dir_of(config), reference())


for name in ("SIGTERM", "SIGINT", "SIGUSR1", "SIGHUP"):
    add_test(f"{name}_stops_the_run_and_the_same_command_continues_it", stopped_by, getattr(signal, name))


def ignoring(signals, *command, **options):
    """A job that ignores the signals from its start on, as `nohup` and the background commands of shells do."""
    return Job(["sh", "-c", f'trap "" {signals}; exec "$@"', "sh", *command], **options)


def ignored_signals_stay_ignored(*number_of_ranks):
    config = linear_config(scratch(), "run", LOOP)
    job = ignoring("HUP INT USR1", TRAINRT, *number_of_ranks, "--config", config)
    wait_for_reports(run_dir_of(config), 4, job)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGUSR1):
        kill([job.process.pid, *job.ranks().values()], number)
    at = report_count(run_dir_of(config))
    wait_for_reports(run_dir_of(config), at + 4, job)
    job.process.send_signal(signal.SIGTERM)
    ended_with(job, STOPPED)
    check("stopped by SIGTERM" in job.err, "the signal", job)


add_test("signals_that_are_ignored_at_the_start_stay_ignored_by_all_ranks", ignored_signals_stay_ignored, "-n", RANKS)
add_test("signals_that_are_ignored_at_the_start_stay_ignored_by_one_rank", ignored_signals_stay_ignored)


@test
def programs_inherit_ignored_signals_and_no_others():
    """SIGPIPE and SIGXFSZ do nothing in trainrt itself. Stop signals are the runtime's, but for train.stop_signal."""
    folder = scratch()
    for words in ([], ["-n", 1]):
        job = ignoring("QUIT TERM", TRAINRT, *words, "--", "grep", "SigIgn", "/proc/self/status", cwd=folder)
        ended_with(job, FINISHED)
        found = int(re.search(r"SigIgn:\s*(\w+)", job.out)[1], 16)
        ignored = {signal.Signals(number).name for number in range(1, 32) if found >> (number - 1) & 1}
        equal(ignored, {"SIGQUIT", "SIGHUP", "SIGINT", "SIGUSR1", "SIGUSR2"}, "ignored signals", job)


@test
def a_parent_that_ignores_sigchld_keeps_no_rank_from_ending():
    folder = scratch()
    ended_with(ignoring("CHLD", TRAINRT, "-n", 2, "--", "true", cwd=folder), FINISHED)


@test
def ranks_whose_starter_is_killed_save_and_end():
    config = linear_config(scratch(), "run", LOOP)
    job = start_here(config)
    wait_for_reports(run_dir_of(config), 4, job)
    ranks_of(job)
    job.process.kill()
    job.process.wait(10)
    nobody_is_left(job)
    equal(attempts(run_dir_of(config))[0]["exit_code"], STOPPED, "how the attempt ended", job)
    ended_with(start_here(config), FINISHED)
    check_same_bits(run_dir_of(config), reference())


@test
def what_fails_each_time_is_given_up():
    folder = scratch()
    (folder / "train.py").write_text("import os, sys, time\nif os.environ['RANK'] == '1':\n    sys.exit(9)\ntime.sleep(100)\n")
    job = ended_with(Job([TRAINRT, "-n", 2, "--failure.max_failures=1", "--", PYTHON, "train.py"], cwd=folder), FAILED)
    runs = list((folder / "runs").iterdir())
    equal(len(runs), 1, "runs: a restart continues the same", job)
    equal(len(attempts(runs[0])), 2, "attempts, those included that the ranks began by themselves", job)
    check("exited with 9" in job.err and "given up after 2 failures" in job.err and f"--run.name={runs[0].name}" in job.err, "the message", job)
    check("checkpoint" not in job.err, "it promises a checkpoint", job)
    nobody_is_left(job)


@test
def a_config_that_cannot_work_is_refused_once_and_not_tried_again():
    config = linear_config(scratch(), "run", {**LOOP, "epochs": "many"})
    job = ended_with(start_here(config), USAGE)
    equal(job.err.count("error:"), 1, "number of messages", job)
    check("'many'" in job.err and "restart" not in job.err, "the message", job)
    check(not run_dir_of(config).exists(), "a run directory is left behind", job)


def refused(words, *named, env=None):
    folder = scratch()
    (folder / "train.py").write_text("")
    job = run([TRAINRT, *words], cwd=folder, env=env)
    check_exit(job, USAGE)
    for word in named:
        check(word in job.err, f"the message lacks {word!r}", job)
    check(not (folder / "runs").exists(), "something is left behind", job)


PROGRAM = ["--", PYTHON, "train.py"]
for title, number in (("no_ranks", ["-n", "0"]), ("a_word", ["-n", "two"]), ("nothing", ["-n"]), ("too_many", ["-n", "1000000"])):
    add_test(f"{title}_is_no_number_of_ranks", refused, [*number, *PROGRAM], "-n requires the number of ranks, from 1")


@test
def a_rank_of_a_step_starts_no_ranks():
    refused(["-n", "2", *PROGRAM], "remove -n", env={"SLURM_JOB_ID": "7", "SLURM_STEP_NUM_TASKS": "2"})


@test
def another_number_of_ranks_than_the_config_promises_is_refused():
    config = linear_config(scratch(), "run", LOOP, scaling={"num_workers": 2})
    job = ended_with(start_here(config), USAGE)
    check("scaling.num_workers = 2" in job.err, "the message", job)


def with_input(feeder, *command, **options):
    """The command with the output of a shell's `feeder` as its standard input."""
    job = Job(["sh", "-c", f'{feeder} | "$@"', "sh", TRAINRT, *command], cwd=scratch(), **options)
    job.code = job.wait(60)
    return job


SHOWS_INPUT = ["--run.output=all", "--", "sh", "-c", 'echo "rank $RANK has $(wc -c)"']


@test
def rank_0_has_standard_input_to_its_end():
    job = with_input("head -c 3000000 /dev/zero", "-n", 2, *SHOWS_INPUT)
    check_exit(job, FINISHED)
    check("rank 0 has 3000000" in job.out and "rank 1 has 0" in job.out, "the input", job)
    job = with_input("yes", "-n", 2, "--", "head", "-1")  # does not read it to its end
    check_exit(job, FINISHED)


@test
def a_file_is_read_from_its_position():
    folder = scratch()
    (folder / "lines").write_text("one\ntwo\n")
    job = Job(["sh", "-c", '{ read first; "$@"; } < lines', "sh", TRAINRT, "-n", 2, "--", "cat"], cwd=folder)
    ended_with(job, FINISHED)
    check("two" in job.out and "one" not in job.out, "the lines", job)


@test
def every_rank_runs_a_script_from_standard_input():
    script = "echo 'import os, sys; print(\"rank\", os.environ[\"RANK\"], sys.argv[1:])'"
    for ranks, words, command in ((2, ["-n", 2], [PYTHON, "-", "5"]), (1, ["-n", 1], [PYTHON]), (1, [], ["env", "A=b", PYTHON, "-"])):
        job = with_input(script, *words, "--run.output=all", "--", *command)
        check_exit(job, FINISHED)
        equal(sorted(re.findall(r"rank (\d) ", job.out)), [str(rank) for rank in range(ranks)], "ranks", job)


@test
def an_interpreter_without_a_script_and_without_input_is_refused():
    terminal = [PYTHON, "-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"]
    for command in ([TRAINRT, "-n", 2, "--", PYTHON, "-"], [TRAINRT, "--", PYTHON, "-u"], ["sh", "-c", ': | "$@"', "sh", TRAINRT, "--", "bash", "-s", "word"],
                    [*terminal, TRAINRT, "-n", 2, "--", PYTHON]):
        job = run(command, cwd=scratch())
        check_exit(job, USAGE)
        for word in ("reads its script from standard input, which is", "Name the script", "< train.py"):
            check(word in job.err + job.out, f"the message lacks {word!r}", job)


@test
def an_idle_input_disturbs_nothing():
    job = Job(["sh", "-c", 'mkfifo idle; sleep 1000 > idle & "$@" < idle', "sh", TRAINRT, "-n", 2, "--", "true"], cwd=scratch())
    ended_with(job, FINISHED)


FAILS_ONCE = 'echo "rank $RANK has $(wc -c)"; mkdir failed.$RANK 2>/dev/null || exit 0; '


def input_after_a_restart(failure, feeder, code, *words):
    job = with_input(feeder, "-n", 2, "--run.output=all", "--", "sh", "-c", FAILS_ONCE + failure)
    check_exit(job, code)
    for word in words:
        check(word in job.out + job.err, f"the output lacks {word!r}", job)
    return job


@test
def a_program_that_is_started_again_has_the_input_of_a_pipe_again():
    # The failure of the program, and of its rank, which passes the line on first.
    for failure in ("exit 3", "sleep 1; kill -9 $PPID; sleep 100"):
        job = input_after_a_restart(failure, "seq 1000", FINISHED)
        equal(job.out.count("rank 0 has 3893"), 2, "starts with the input", job)


@test
def a_restart_that_cannot_have_the_input_again_says_so():
    for failure in ("exit 3", "kill -9 $PPID; sleep 100"):
        input_after_a_restart(failure, "head -c 18000000 /dev/zero", USAGE, "more than 16 MiB of standard input from a pipe", "with < FILE")


@test
def the_programs_own_n_stays_its_own():
    folder = scratch()
    (folder / "train.py").write_text("import os, sys\nprint(f'rank {os.environ[\"RANK\"]} of {os.environ[\"WORLD_SIZE\"]}: {sys.argv[1:]}', flush=True)\n")
    job = ended_with(Job([TRAINRT, "-n", 2, "--run.output=all", *PROGRAM, "-n", "5"], cwd=folder), FINISHED)
    for rank in range(2):
        check(f"rank {rank} of 2: ['-n', '5']" in job.out, f"rank {rank}", job)


main()
