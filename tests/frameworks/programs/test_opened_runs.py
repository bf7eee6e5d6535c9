#!/usr/bin/python3
"""Runs that a program opens itself with its own configuration: names, several runs in sequence, stops and kills with continuation, and
errors of use."""
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.opened_runs import TRAIN  # noqa: E402
from runs.program_runs import *  # noqa: E402,F403

def opening(text, name="of-config", **sections):
    return program_config(f"{PYTHON} {program_file(TRAIN + text)}", name, **sections)


def run_dir(config, name):
    return run_dir_of(config).parent / name


def undisturbed_run(ranks):
    config = opening("train()")
    check_exit(run_program(ranks, config), FINISHED)
    return run_dir_of(config)


def names_of_runs(config):
    return sorted(path.name for path in run_dir_of(config).parent.iterdir())


@test
def a_program_sets_the_name_and_settings_of_its_run():
    config = opening('print("before", flush=True)\ntrain("mine", checkpoint__num_to_keep="1")', checkpoint={"num_to_keep": 5})
    job = run_program(2, config)
    check_exit(job, FINISHED)
    equal(names_of_runs(config), ["mine"], "runs", job)
    mine = run_dir(config, "mine")
    equal(len(checkpoints(mine)), 1, "checkpoints that are kept", job)
    for rank in (0, 1):
        log = (mine / f"logs/rank-{rank:05}.log").read_text().splitlines()
        check(log[0].startswith("==== ") and "attempt 1, rank" in log[0] and log[1] == "before", f"the log of rank {rank}: {log}", job)
    for line in ("run.name is 'mine', as the program requests; the config has 'of-config'",
                 "checkpoint.num_to_keep is '1', as the program requests; the config has '5'"):
        check(line in job.err, f"the log lacks: {line}", job)
    check_same_bits(mine, undisturbed_run(2))


@test
def the_command_line_takes_precedence_over_the_program():
    config = opening('train("mine", checkpoint__num_to_keep="1")')
    job = run_program(1, config, "--run.name=ours", "--checkpoint.num_to_keep=4")
    check_exit(job, FINISHED)
    equal(names_of_runs(config), ["ours"], "runs", job)
    equal(len(checkpoints(run_dir(config, "ours"))), 4, "checkpoints that are kept", job)
    check("run.name is 'ours' (command line); the program requests 'mine'" in job.err, "the other name is not reported", job)


@test
def a_second_run_without_a_name_gets_a_number():
    config = opening('train()\nprint("between", flush=True)\ntrain()\ntrain("third")')
    job = run_program(2, config)
    check_exit(job, FINISHED)
    equal(names_of_runs(config), ["of-config", "of-config-2", "third"], "runs", job)
    for name in names_of_runs(config):
        check_same_bits(run_dir(config, name), run_dir(config, "of-config"))
        equal(run_state(run_dir(config, name)), "finished", f"state of {name}", job)
    check("between" in (run_dir(config, "of-config") / "logs/rank-00000.log").read_text(), "the output between runs is missing", job)
    again = run_program(2, config)
    check_exit(again, FINISHED)
    equal([line for line in again.out.splitlines() if "already" in line],
          [f"finished already: {name}" for name in ("of-config", "of-config-2", "third")], "second start", again)


@test
def a_program_that_fails_in_its_second_run_continues_there():
    config = opening('train("a")\ntrain("b", lambda ctx: first_start and ctx.world_rank == 1 and ctx.step_count == 6 and os._exit(3))',
                     failure={"max_failures": 2})
    job = run_program(2, config)
    check_exit(job, FINISHED)
    equal([record["exit_code"] for record in attempts(run_dir(config, "a"))], [0], "attempts of a", job)
    equal([record["exit_code"] for record in attempts(run_dir(config, "b"))], [FAILED, 0], "attempts of b", job)
    check("finished already: a" in job.out, "the first run is not reported as finished", job)
    check_same_bits(run_dir(config, "b"), undisturbed_run(2))


@test
def a_program_stopped_in_its_second_run_continues_there():
    config = opening('train("a")\ntrain("b", lambda ctx: ctx.step_count == 4 and (print("here", flush=True), time.sleep(2)))')
    job = start_program(2, config)
    job.wait_for("here", 60)
    kill(job.ranks().values(), signal.SIGUSR1)
    job.code = job.wait(60)
    check_exit(job, STOPPED)
    equal(run_state(run_dir(config, "b")), "stopped", "state of b", job)
    check_exit(run_program(2, config), FINISHED)
    check_same_bits(run_dir(config, "b"), undisturbed_run(2))


@test
def restarted_local_ranks_find_the_opened_run():
    """A rank itself is killed. `trainrt -n`, which started the ranks, restarts them with the run that the program opened."""
    text = 'train("mine", lambda ctx: (time.sleep(0.05), ctx.step_count == 6 and ctx.world_rank == 0 and not os.path.exists("{0}") and ' \
           '(open("{0}", "w").close(), os.kill(os.getppid(), signal.SIGKILL), time.sleep(5))))'
    config = opening(text.format(scratch() / "killed"), failure={"max_failures": 2})
    job = run([TRAINRT, "-n", 2, "--config", config], env=ONE_THREAD, timeout=90)
    check_exit(job, FINISHED)
    equal(names_of_runs(config), ["mine"], "runs in the storage path", job)
    equal(len(attempts(run_dir(config, "mine"))), 2, "attempts", job)
    check("warning: attempt 1: " in job.err and "restarting the run" in job.err, "the killed attempt is not reported", job)
    check_same_bits(run_dir(config, "mine"), undisturbed_run(2))


@test
def a_program_that_fails_after_its_run_is_reported():
    config = opening('train("mine")\nraise ValueError("no such plot")')
    job = run_program(2, config)
    check_exit(job, FAILED)
    equal(run_state(run_dir(config, "mine")), "finished", "state", job)
    check("after the run had finished" in job.err and "no such plot" in job.err, "the reason", job)


@test
def invalid_requests_are_refused():
    for text, words in (('train("mine", checkpoint__num_to_kep="1")', ["checkpoint.num_to_kep", "num_to_keep"]),
                        ('train("mine", program__env="jax")', ["program.env", "before the program starts", "--program.env"]),
                        ('train("a/b")', ["run.name", "a/b"]),
                        ('train("mine", scaling__num_workers="3")', ["scaling.num_workers = 3", "2 ranks were launched"]),
                        ('trainrt.context()\ntrain("mine")', ["'mine'", "'of-config'", "--run.name=mine"]),
                        ('train("mine") if os.environ["RANK"] == "0" else trainrt.context()', ["rank 0 is in open_run() at ", "rank 1 in context() at "]),
                        ('train("mine")\ntrainrt.context().step()', ["step()", "after its run was closed"])):
        config = opening(text)
        job = run_program(2, config)
        check(job.code == USAGE, f"{text}: exit {job.code}", job)
        for word in words:
            check(word in job.err, f"{text}: the error lacks {word!r}", job)


@test
def a_program_that_does_not_open_the_run_is_named():
    limits = {"collective_timeout": 3, "hang_timeout": "4 s"}
    for text, words in (('time.sleep(60) if os.environ["RANK"] == "1" else train("mine")', "that of rank 1 on"),
                        ('train("mine")\nos.environ["RANK"] == "1" and time.sleep(60)', "that of rank 1 on"),
                        ('train("mine")\ntime.sleep(60)', "hang between two runs: no program has printed anything or used CPU time")):
        job = run_program(2, opening(text, failure=limits), timeout=40)
        check_exit(job, FAILED)
        check(words in job.err and "timeout)" in job.err, f"{text}: the error lacks {words!r}", job)


@test
def a_stop_before_a_run_is_open_creates_no_run():
    config = opening('print("waits", flush=True)\ntime.sleep(60)\ntrain("mine")')
    job = start_program(2, config)
    job.wait_for("waits", 60)
    kill(job.ranks().values(), signal.SIGTERM)
    job.code = job.wait(30)
    check_exit(job, STOPPED)
    check(not run_dir_of(config).parent.exists() or not names_of_runs(config), "a run exists", job)
    check("while the program had no open run" in job.err, "the reason", job)


@test
def much_output_before_the_run_is_open_is_logged():
    config = opening('sys.stdout.write(("x" * 99 + "\\n") * 30000)\nsys.stdout.flush()\n'
                     'trainrt.context().restore(trainrt.State())')
    job = run_program(2, config, "--run.output=none")
    check_exit(job, FINISHED)
    for rank in (0, 1):
        equal((run_dir_of(config) / f"logs/rank-{rank:05}.log").read_text().count("x" * 99), 30000, f"lines of rank {rank}", job)

PLAIN = 'import os, time\nprint("rank", os.environ["RANK"], flush=True)\ntime.sleep(60)\n'


def result_of(config):
    return run([TRAINRT, "result", run_dir_of(config)]).out


@test
def a_second_start_of_an_unchanged_script_is_refused_before_its_program_starts():
    config = program_config(f"{PYTHON} {program_file(PLAIN)}", "dup")
    job = start_program(2, config)
    wait_until(lambda: (run_dir_of(config) / "logs/rank-00000.log").exists() or job.ended(), 20, "the log of the run", job)
    equal(run_state(run_dir_of(config)), "running", "the state in the first seconds", job)
    second = run([TRAINRT, "-n", 2, "--config", config], timeout=20)
    check_exit(second, USAGE)
    check("is already running: attempt 1" in second.err and "rank 0\n" not in second.out, "the second start", second)
    check(re.search(r"^state +running$", result_of(config), re.M) and re.search(r"^ +1 +running", result_of(config), re.M), result_of(config), job)
    equal(run_state(run_dir_of(config)), "running", "the state after a refused start", job)
    kill(job.ranks().values(), signal.SIGTERM)
    check_exit_of_stopped(job)


def check_exit_of_stopped(job):
    job.code = job.wait(30)
    check_exit(job, STOPPED)


@test
def a_run_that_has_not_opened_is_claimed_until_the_program_opens_another():
    """A script that imports the client late waits for its run. Two starts of one config may open different runs."""
    config = program_config(f"{PYTHON} {program_file(f'import time; time.sleep(1.5){chr(10)}{TRAIN}' + 'train(sys.argv[1], lambda ctx: time.sleep(0.1))')} {{}}")
    text = config.read_text()
    config.write_text(text.replace("{}", "first"))
    job = start_program(1, config)
    claim = run_dir_of(config).parent / ".starting-run"
    wait_until(lambda: claim.exists() or job.ended(), 20, "the claim of the run", job)
    second = run_program(1, config)
    check_exit(second, USAGE)
    check("is already being started by process" in second.err and "or set another run.name" in second.err, "the second start", second)
    shown = run([TRAINRT, "result", run_dir_of(config)])
    check(shown.code == USAGE and "does not exist yet: the run is being started" in shown.err, "the run that is not open", shown)
    wait_until(lambda: run_dir(config, "first").exists() or job.ended(), 20, "the run of the program", job)
    wait_until(lambda: not claim.exists() or job.ended(), 20, "the end of the claim", job)
    config.write_text(text.replace("{}", "second"))
    check_exit(run_program(1, config), FINISHED)
    job.code = job.wait(30)
    check_exit(job, FINISHED)
    equal(names_of_runs(config), ["first", "second"], "runs", job)


if __name__ == "__main__":
    main()
