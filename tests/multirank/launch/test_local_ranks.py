#!/usr/bin/python3
"""`trainrt -n N` starts ranks on this node without mpiexec, starts them again after a failure, passes on stop signals, and leaves no
process running."""
import re
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
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
    """Waits until all ranks are started; returns their process IDs by rank."""
    return job.wait_for_ranks(RANKS)


_references = []


def reference():
    """Returns the directory of an uninterrupted run started by mpiexec."""
    if not _references:
        config = linear_config(scratch(), "whole", LOOP)
        check_exit(run_ranks(RANKS, config), FINISHED)
        _references.append(run_dir_of(config))
    return _references[0]


def nobody_is_left(job):
    wait_until(lambda: not processes_with(job.token), 20, "all processes to end", job)


@test
def a_run_has_the_same_bits_with_n_as_with_mpiexec():
    config = linear_config(scratch(), "run", LOOP)
    job = ended_with(start_here(config), FINISHED)
    check(f"{RANKS} ranks on 1 node" in job.err, "the number of ranks is not printed", job)
    check_same_bits(run_dir_of(config), reference())
    check_verifies(run_dir_of(config))


@test
def verbose_prints_once_how_long_each_part_of_the_start_took():
    parts = ["start of the ranks", "process", "config", "connection of the ranks", "load of the train function", "run directory", "datasets",
             "set-up and restore", "first step"]
    config = linear_config(scratch(), "run", {"epochs": 2})
    job = ended_with(start_here(config, "--verbose"), FINISHED)
    lines = re.findall(r"^trainrt: start: ([0-9.]+) s to the end of the first step: (.*)$", job.err, re.M)
    equal(len(lines), 1, "lines", job)
    times = re.findall(r"([a-z -]+) ([0-9.]+) s", lines[0][1])
    equal([name.strip() for name, _ in times], parts, "parts", job)
    check(abs(sum(float(seconds) for _, seconds in times) - float(lines[0][0])) < 0.01, "the sum of the parts is not the total", job)
    check("trainrt: start:" not in ended_with(start_here(config), FINISHED).err, "the times are printed without --verbose")


@test
def after_a_rank_is_killed_all_ranks_are_started_again():
    config = linear_config(scratch(), "run", LOOP)
    job = start_here(config)
    wait_for_reports(run_dir_of(config), 4, job)
    kill([ranks_of(job)[1]])
    ended_with(job, FINISHED)
    check("restart 1 of 3 (failure.max_failures)" in job.err, "the restart is not printed", job)
    for text in (next(line for line in job.err.splitlines() if "restart 1 of 3" in line), attempts(run_dir_of(config))[0]["why"]):
        check("rank 1" in text and "SIGKILL" in text, f"the killed rank is not named: {text}", job)
    equal(len(attempts(run_dir_of(config))), 2, "attempts", job)
    check(attempts(run_dir_of(config))[1]["first_step"] > 0, "the second attempt started at step 0", job)
    announced = attempts(run_dir_of(config))[0]["next_start"]
    equal((announced["restart"], announced["max_restarts"], announced["requeued"]), (1, 3, False), "the announced restart", job)
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
    """Starts a job that ignores `signals` from its start, like commands under `nohup` or in the background of a shell."""
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
    check("stopped by SIGTERM" in job.err, "the signal is not named", job)


add_test("several_ranks_keep_ignoring_signals_that_were_ignored_at_the_start", ignored_signals_stay_ignored, "-n", RANKS)
add_test("a_single_rank_keeps_ignoring_signals_that_were_ignored_at_the_start", ignored_signals_stay_ignored)


@test
def a_program_inherits_ignored_signals_but_not_those_that_only_trainrt_ignores():
    """trainrt itself ignores SIGPIPE and SIGXFSZ. The runtime handles all stop signals except train.stop_signal for its program."""
    folder = scratch()
    for words in ([], ["-n", 1]):
        job = ignoring("QUIT TERM", TRAINRT, *words, "--", "grep", "SigIgn", "/proc/self/status", cwd=folder)
        ended_with(job, FINISHED)
        found = int(re.search(r"SigIgn:\s*(\w+)", job.out)[1], 16)
        ignored = {signal.Signals(number).name for number in range(1, 32) if found >> (number - 1) & 1}
        equal(ignored, {"SIGQUIT", "SIGHUP", "SIGINT", "SIGUSR1", "SIGUSR2"}, "ignored signals", job)


@test
def a_run_ends_normally_if_its_parent_ignores_sigchld():
    folder = scratch()
    ended_with(ignoring("CHLD", TRAINRT, "-n", 2, "--", "true", cwd=folder), FINISHED)


@test
def ranks_save_and_exit_after_the_process_that_started_them_is_killed():
    save_after_the_death_of_their_starter()


@test
def ranks_over_mpi_save_after_the_process_that_started_them_is_killed_and_mpi_prints_nothing():
    save_after_the_death_of_their_starter("--scaling.backend=mpi")


def save_after_the_death_of_their_starter(*words):
    config = linear_config(scratch(), "run", LOOP)
    job = start_here(config, *words)
    wait_for_reports(run_dir_of(config), 4, job)
    ranks_of(job)
    job.process.kill()
    job.process.wait(10)
    nobody_is_left(job)
    ended = attempts(run_dir_of(config))[0]
    equal(ended["exit_code"], STOPPED, "exit code of the attempt", job)
    equal(ended["why"], "stopped by the death of the process that started the ranks", "the recorded reason", job)
    check("SIGTERM" not in job.err and "has closed its connection" not in job.err, "the messages name another cause", job)
    equal([line for line in job.err.splitlines() if not re.match("trainrt|run: ", line)], [], "other lines than those of trainrt", job)
    ended_with(start_here(config), FINISHED)
    check_same_bits(run_dir_of(config), reference())


@test
def a_program_that_always_fails_is_given_up_after_max_failures():
    folder = scratch()
    (folder / "train.py").write_text("import os, sys, time\nif os.environ['RANK'] == '1':\n    sys.exit(9)\ntime.sleep(100)\n")
    job = ended_with(Job([TRAINRT, "-n", 2, "--failure.max_failures=1", "--", PYTHON, "train.py"], cwd=folder), FAILED)
    runs = list((folder / "runs").iterdir())
    equal(len(runs), 1, "runs (a restart continues the same run)", job)
    equal(len(attempts(runs[0])), 2, "attempts", job)
    check("exited with 9" in job.err and "given up after 2 failures" in job.err and f"--run.name={runs[0].name}" in job.err, "the message is missing", job)
    check("checkpoint" not in job.err, "the message mentions a checkpoint", job)
    nobody_is_left(job)


@test
def between_two_attempts_the_next_start_is_shown_until_a_signal_stops_the_run():
    folder = scratch()
    (folder / "train.py").write_text("import os, sys, time\nif os.environ['RANK'] == '1':\n    sys.exit(9)\ntime.sleep(100)\n")
    job = Job([TRAINRT, "-n", 2, "--failure.max_failures=9", "--run.name=again", "--", PYTHON, "train.py"], cwd=folder)
    run_dir = folder / "runs/again"
    announced = lambda number: any(attempt["attempt"] == number and attempt.get("next_start") for attempt in attempts(run_dir))  # noqa: E731
    wait_until(lambda: announced(2), 30, "the second pause, of 2 s", job)
    seen = run([TRAINRT, "top", run_dir]).out
    shown = run([TRAINRT, "result", run_dir]).out
    job.process.send_signal(signal.SIGTERM)
    ended_with(job, STOPPED)
    start = r"attempt 3 (starts in \d s|is starting) \(restart 2 of 9\)"
    check(re.search(r"^again  restarting  attempt 2  2 ranks.*\n" + start + r"\nattempt 2 ended: failed: .*exited with 9", seen), f"the output of top:\n{seen}", job)
    check(re.search(r"^state +(failed|starting); " + start, shown, re.M), f"the output of result:\n{shown}", job)
    check(not announced(2), "the announcement is left after the stop", job)
    equal(json.loads(run([TRAINRT, "result", run_dir, "--json"]).out)["next_start"], None, "next_start of the stopped run", job)


@test
def an_invalid_config_is_refused_once_without_a_restart():
    config = linear_config(scratch(), "run", {**LOOP, "epochs": "many"})
    job = ended_with(start_here(config), USAGE)
    equal(job.err.count("error:"), 1, "number of messages", job)
    check("'many'" in job.err and "restart" not in job.err, "the value is not named, or there was a restart", job)
    check(not run_dir_of(config).exists(), "a run directory was left", job)


def refused(words, *named, env=None):
    folder = scratch()
    (folder / "train.py").write_text("")
    job = run([TRAINRT, *words], cwd=folder, env=env)
    check_exit(job, USAGE)
    for word in named:
        check(word in job.err, f"the message lacks {word!r}", job)
    check(not (folder / "runs").exists(), "a folder of runs was left", job)


PROGRAM = ["--", PYTHON, "train.py"]
for title, number in (("0", ["-n", "0"]), ("a_word", ["-n", "two"]), ("an_empty_value", ["-n"]), ("a_million", ["-n", "1000000"])):
    add_test(f"{title}_is_refused_as_number_of_ranks", refused, [*number, *PROGRAM], "it must be the number of ranks, from 1")


@test
def a_task_of_a_job_step_cannot_start_ranks():
    refused(["-n", "2", *PROGRAM], "remove -n", env={"SLURM_JOB_ID": "7", "SLURM_STEP_NUM_TASKS": "2"})


@test
def a_number_of_ranks_other_than_num_workers_is_refused():
    config = linear_config(scratch(), "run", LOOP, scaling={"num_workers": 2})
    job = ended_with(start_here(config), USAGE)
    check("scaling.num_workers = 2" in job.err, "the key is not named", job)


def with_input(feeder, *command, **options):
    """Runs a command with the output of the shell command `feeder` as its standard input."""
    job = Job(["sh", "-c", f'{feeder} | "$@"', "sh", TRAINRT, *command], cwd=scratch(), **options)
    job.code = job.wait(60)
    return job


SHOWS_INPUT = ["--run.output=all", "--", "sh", "-c", 'echo "rank $RANK has $(wc -c)"']


@test
def rank_0_gets_all_of_standard_input():
    job = with_input("head -c 3000000 /dev/zero", "-n", 2, *SHOWS_INPUT)
    check_exit(job, FINISHED)
    check("rank 0 has 3000000" in job.out and "rank 1 has 0" in job.out, "the ranks got other input", job)
    job = with_input("yes", "-n", 2, "--", "head", "-1")  # `head` reads only a part of the input
    check_exit(job, FINISHED)


@test
def standard_input_from_a_file_starts_at_its_position():
    folder = scratch()
    (folder / "lines").write_text("one\ntwo\n")
    job = Job(["sh", "-c", '{ read first; "$@"; } < lines', "sh", TRAINRT, "-n", 2, "--", "cat"], cwd=folder)
    ended_with(job, FINISHED)
    check("two" in job.out and "one" not in job.out, "the program got other lines", job)


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
def a_run_ends_although_its_standard_input_stays_open():
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
def a_restarted_program_gets_the_input_of_a_pipe_again():
    # First the program fails, then its rank is killed; the sleep gives the rank time to pass on the output of the program.
    for failure in ("exit 3", "sleep 1; kill -9 $PPID; sleep 100"):
        job = input_after_a_restart(failure, "seq 1000", FINISHED)
        equal(job.out.count("rank 0 has 3893"), 2, "starts with the input", job)


@test
def a_restart_after_more_input_than_is_kept_is_refused():
    for failure in ("exit 3", "kill -9 $PPID; sleep 100"):
        input_after_a_restart(failure, "head -c 18000000 /dev/zero", USAGE, "more than 16 MiB of standard input from a pipe", "with < FILE")


@test
def an_option_n_after_the_program_is_passed_to_the_program():
    folder = scratch()
    (folder / "train.py").write_text("import os, sys\nprint(f'rank {os.environ[\"RANK\"]} of {os.environ[\"WORLD_SIZE\"]}: {sys.argv[1:]}', flush=True)\n")
    job = ended_with(Job([TRAINRT, "-n", 2, "--run.output=all", *PROGRAM, "-n", "5"], cwd=folder), FINISHED)
    for rank in range(2):
        check(f"rank {rank} of 2: ['-n', '5']" in job.out, f"rank {rank}", job)


main()
