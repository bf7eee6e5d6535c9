#!/usr/bin/python3
"""Programs of `[train] program`, and the commands around them, that behave in unexpected ways. They break only their own run, within the
configured time, and the message names the cause."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.training import *  # noqa: E402,F403

PYTHON = "/usr/bin/python3"
BEGIN = "import numpy, os, signal, subprocess, sys, time, trainrt\nctx = trainrt.context()\n"


def client(text):
    return program_file(BEGIN + text)


def in_a_pipeline(program):
    return program_file(f"#!/bin/sh\n{PYTHON} {program} | cat\n", "pipeline.sh")


def config_of(command, **sections):
    folder = scratch()
    return write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"program": command},
                                              "failure": {"max_failures": 0}, **sections})


def start_program(ranks, config, *words, **options):
    if ranks == 1:
        return Job([TRAINRT, "--config", config, *words], env={"OMP_NUM_THREADS": 1}, **options)
    return start_ranks(ranks, config, *words, env={"OMP_NUM_THREADS": 1}, **options)


def ends(ranks, config, code, *words, timeout=60):
    """Runs the config. Checks the exit code, the words in its errors, and that no process remains."""
    job = start_program(ranks, config)
    job.code = job.wait(timeout)
    check_exit(job, code)
    for word in words:
        check(word in job.err, f"the log lacks {word!r}", job)
    wait_until(lambda: not processes_with(job.token), 10, "all processes of the run to exit", job)
    return job


# ---- which exits count as finished --------------------------------------------------------------------------------------------------


SOME_STEPS = "ctx.restore(trainrt.State())\nfor _ in range(5):\n    ctx.step()\n"


@test
def a_program_that_is_killed_in_a_pipeline_has_not_finished():
    """A pipeline exits with the code of its last command."""
    program = client(SOME_STEPS + "os.kill(os.getpid(), signal.SIGKILL)\n")
    job = ends(1, config_of(in_a_pipeline(program)), FAILED, "rank 0", "without notifying trainrt", "pipefail")
    check("finished" not in job.err, "the run is reported as finished", job)


@test
def a_program_that_exits_with_0_in_a_pipeline_has_finished():
    program = client(SOME_STEPS + "print('the end')\n")
    check("the end" in ends(1, config_of(in_a_pipeline(program)), FINISHED, "finished").out, "the output is lost")


@test
def a_program_without_a_wrapper_may_exit_by_os_exit():
    ends(1, config_of(f"{PYTHON} {client(SOME_STEPS + 'os._exit(0)')}"), FINISHED)


@test
def the_exit_of_a_forked_process_is_not_the_end_of_the_program():
    program = client(SOME_STEPS + "if os.fork() == 0:\n    sys.exit(0)\nos.wait()\nctx.step()\nos.kill(os.getpid(), signal.SIGKILL)\n")
    ends(1, config_of(in_a_pipeline(program)), FAILED, "without notifying trainrt")


# ---- one rank fails or is slow -------------------------------------------------------------------------------------------------------


@test
def a_program_frozen_before_its_first_message_ends_the_run_and_is_named():
    program = program_file(f"import os, signal\nif os.environ['RANK'] == '1':\n    os.kill(os.getpid(), signal.SIGSTOP)\n{BEGIN}{SOME_STEPS}")
    began = time.monotonic()
    ends(3, config_of(f"{PYTHON} {program}", failure={"collective_timeout": 4}), FAILED, "rank 1", "within 4 s", "failure.collective_timeout")
    check(time.monotonic() - began < 20, f"the end took {time.monotonic() - began:.0f} s")


@test
def a_program_with_a_slow_start_is_waited_for():
    program = program_file(f"import os, time\nif os.environ['RANK'] == '1':\n    time.sleep(3)\n{BEGIN}{SOME_STEPS}")
    ends(2, config_of(f"{PYTHON} {program}", failure={"collective_timeout": 10}), FINISHED)


@test
def a_program_that_exits_slowly_after_a_stop_is_no_hang():
    """The program has `train.stop_timeout` to exit, even if `failure.hang_timeout` is shorter."""
    program = client("""
ctx.restore(trainrt.State())
ctx.step()
print("in step", ctx.world_rank, flush=True)
try:
    while True:
        ctx.step()
        time.sleep(0.01)
finally:
    time.sleep(9)
    print("the end of", ctx.world_rank)
""")
    config = config_of(f"{PYTHON} {program}", failure={"hang_timeout": "5 s"})
    job = start_program(2, config)
    run_dir = run_dir_of(config)

    def logged(words):
        return sum(path.read_text().count(words) for path in run_dir.glob("logs/rank-*.log"))

    wait_until(lambda: job.ended() or logged("in step") == 2, 30, "both ranks to be in a step", job)
    kill(job.ranks().values(), signal.SIGUSR1)
    job.code = job.wait(40)
    check_exit(job, STOPPED)
    equal(logged("the end of"), 2, "number of programs that ran to their end", job)
    check("hang" not in job.err and not list(run_dir.glob("logs/hang-*")), "a hang is reported", job)


# ---- child processes of a program -------------------------------------------------------------------------------------------------------


@test
def a_program_can_terminate_its_child_processes():
    """Child processes ignore SIGTERM, which batch systems send to all processes; the program's own terminate() still ends them."""
    program = client("server = subprocess.Popen(['sleep', '1000'])\nserver.terminate()\nassert server.wait(10) == -signal.SIGKILL\n" + SOME_STEPS)
    ends(1, config_of(f"{PYTHON} {program}"), FINISHED)


@test
def the_launch_variables_of_a_rank_are_hidden_from_its_program():
    """An MPI library in a program would otherwise act as the rank or wait for it. The variables that remain connect the programs with each other."""
    for frameworks, sockets in (("none", "1"), ("all", "2")):
        folder = scratch()
        script = program_file(f"#!/bin/sh\nenv > {folder}/$RANK\nls -l /proc/self/fd | grep -c socket: >> {folder}/$RANK\n", "env.sh")
        ends(2, config_of(script, program={"env": frameworks}), FINISHED)
        for rank in ("0", "1"):
            seen = (folder / rank).read_text().splitlines()
            of_mpi = dict(line.split("=", 1) for line in seen if line.startswith(("PMI", "HYD", "MPI_LOCAL")))
            check(f"RANK={rank}" in seen, f"rank {rank} has no RANK")
            if frameworks == "all":
                check(int(of_mpi.pop("PMI_FD")) > 2, "PMI_FD is not a separate socket")
                equal(of_mpi, {"PMI_RANK": rank, "PMI_SIZE": "2", "MPI_LOCALRANKID": rank, "MPI_LOCALNRANKS": "2"}, f"MPI variables of rank {rank}")
            else:
                equal(of_mpi, {}, f"MPI variables of rank {rank}")
            equal(seen[-1], sockets, "sockets")


def ends_the_scripts_of_a_killed_rank(ranks):
    """The script's child processes know nothing of trainrt. Left alone, they would train on and keep mpiexec waiting for their output."""
    folder = scratch()
    script = program_file(f"#!/bin/sh\ntouch {folder}/$RANK\nsleep 1000 | cat\ntrue\n", "script.sh")
    job = start_program(ranks, config_of(script))
    wait_until(lambda: job.ended() or len(list(folder.iterdir())) == ranks and len(processes_with(job.token)) > 3 * ranks, 30, "the scripts", job)
    kill([job.ranks()[0]], signal.SIGKILL)
    job.wait(15)
    wait_until(lambda: not processes_with(job.token), 10, "all processes of the run to exit", job)


add_test("a_script_is_ended_with_its_killed_rank", ends_the_scripts_of_a_killed_rank, 1)
add_test("the_scripts_of_all_ranks_are_ended_if_one_rank_is_killed", ends_the_scripts_of_a_killed_rank, 2)


# ---- messages of programs ----------------------------------------------------------------------------------------------------------------


@test
def strings_that_cannot_be_sent_are_refused_at_the_call():
    """The error is raised in the program, which may catch it and continue."""
    program = client("""
def refused(words, call, *arguments):
    try:
        call(*arguments)
    except ValueError as error:
        assert all(word in str(error) for word in words.split("|")), error
    else:
        raise AssertionError(f"not refused: {words}")
state = trainrt.State()
state["name"] = os.fsdecode(b"run-\\xff")
refused("restore()|not valid Unicode|run-", ctx.restore, state)
state["name"] = "x" * (64 << 20)
refused("restore()|state.file", ctx.restore, state)
state["name"] = "line\\n \\0 \\U0001f600"
ctx.restore(state)
refused("report()|not valid Unicode", ctx.report, {"text": os.fsdecode(b"\\xff")})
ctx.step()
ctx.report({"text": state["name"]})
""")
    config = config_of(f"{PYTHON} {program}")
    ends(1, config, FINISHED)
    equal(reports(run_dir_of(config))[-1]["text"], "line\n \0 \U0001f600", "text of the report")


def nested(levels):
    return "[" * levels + "]" * levels


@test
def a_message_with_deep_nesting_is_an_error_that_names_the_limit():
    """The parser would accept it, but code that walks the value recursively would overflow the stack."""
    for levels in (64, 80_000):
        program = program_file(f"""import os, socket
channel = socket.socket(fileno=int(os.environ["TRAINRT_FD"]))
channel.sendall(b'{{"op": "hello", "protocol": 1, "more": {nested(levels)}}}\\n')
print(channel.recv(1000))
""")
        ends(1, config_of(f"{PYTHON} {program}"), USAGE, "more than 64 nested arrays and objects")


@test
def accepted_metadata_can_be_saved_and_deeper_metadata_is_refused():
    program = client("""
ctx.restore(trainrt.State())
def nested(levels):
    return {"a": nested(levels - 1)} if levels > 1 else {}
ctx.checkpoint_metadata(nested(63))
ctx.step()
ctx.save()
ctx.checkpoint_metadata(nested(64))
""")
    config = config_of(f"{PYTHON} {program}")
    ends(1, config, USAGE, "nested arrays and objects")
    check_verifies(run_dir_of(config))
    equal(len(checkpoints(run_dir_of(config))), 1, "checkpoints")


@test
def after_a_call_was_interrupted_every_later_call_fails():
    """The next call would read this call's answer: the result of a reduction that has not happened yet."""
    program = client("""
def ring(*_):
    raise TimeoutError("too slow")
signal.signal(signal.SIGALRM, ring)
ctx.restore(trainrt.State())
if ctx.world_rank == 1:
    time.sleep(3)
signal.setitimer(signal.ITIMER_REAL, 1)
try:
    ctx.all_reduce(numpy.ones(3))
except TimeoutError:
    pass
ctx.step()
""")
    ends(2, config_of(f"{PYTHON} {program}"), FAILED, "all_reduce() was interrupted by TimeoutError")


main()
