#!/usr/bin/python3
"""Each rank's log contains everything that a train function in C++ prints, the terminal shows the ranks selected by run.output, and a
crash loses no line of output."""
import signal
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.trouble import *  # noqa: E402,F403

HOST = socket.gethostname()
HEADER = r"==== \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ attempt (\d+), rank (\d+) on \S+, process \d+ ====\n"
LINES = 1000


def config_of(end="return", rank=0, **more):
    """Returns a config in which `rank` ends by `end` (see tests/support/programs/prints.cpp)."""
    folder = scratch()
    return write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": module_of("prints")},
                                             "loop": {"end": end, "rank": rank, **more}})


def printed_by(rank, end="", start=0, steps=2):
    """Returns the expected output of a rank, in the order in which it prints."""
    words = "".join(f"{rank}: {word}\n" for word in ("printf", "puts", "cout", "write", "cerr", "child"))
    lines = "".join(f"{rank}: line {i}\n" for i in range(LINES))
    return words.encode() + b"\r 50 %\r100 %\n\xff\n" + (lines + "".join(f"{rank}: step {i + 1}\n" for i in range(start, steps)) + end).encode()


def log_of(config, rank):
    return (run_dir_of(config) / f"logs/rank-{rank:05}.log").read_bytes()


def check_log(config, rank, expected, job, is_whole=True):
    """Checks the log of a rank. `expected` lacks the line of standard error, because its position in the log is not fixed."""
    text = log_of(config, rank)
    header = re.match(HEADER.encode(), text)
    check(header and header.groups() == (b"1", str(rank).encode()), f"the header of rank {rank}: {text[:200]}", job)
    own = f"{rank}: cerr\n".encode()
    found, wanted = (part.replace(own, b"", 1) for part in (text[header.end():], expected))
    check(own in text, f"the log of rank {rank} lacks its standard error", job)
    check(found == wanted if is_whole else found.startswith(wanted), f"the log of rank {rank} ends with {found[-300:]}, expected {wanted[-300:]}", job)


def out_of(job):
    return (job._folder / "out").read_bytes()


@test
def each_log_is_complete_and_the_terminal_shows_the_requested_ranks():
    for shown in ("", "all", "none"):
        config = config_of()
        job = run_ranks(2, config, *([f"--run.output={shown}"] if shown else []))
        check_exit(job, FINISHED)
        for rank in range(2):
            check_log(config, rank, printed_by(rank, f"{rank}: end"), job)
        out = out_of(job)
        check(b"step" in out, "messages of the runtime are missing", job)
        if shown == "":
            for part in printed_by(0).replace(b"0: cerr\n", b"").partition(b"0: step")[::2]:
                check(part.split(b"\n")[0] in out, f"rank 0 is not shown: {part[:100]}", job)
            check(b"\r 50 %\r100 %\n\xff\n0: line 0\n" in out and out.rstrip().find(b"0: end") > 0, "rank 0 is not shown byte by byte", job)
            check(b"1: " not in out and "1: cerr" not in job.err, "another rank is shown", job)
            check("0: cerr\n" in job.err and b"0: cerr" not in out, "standard error is mixed with standard output", job)
        elif shown == "all":
            for rank in range(2):
                lines = [line for line in out.split(b"\n") if line.startswith(f"[{rank}] ".encode())]
                equal(len(lines), 5 + 3 + LINES + 2 + 1, f"lines of rank {rank}", job)
                equal(lines[-2:], [f"[{rank}] {rank}: step 2".encode(), f"[{rank}] {rank}: end".encode()], "the last lines", job)
                check(f"[{rank}] {rank}: cerr\n" in job.err, "standard error is not shown", job)
        else:
            check(b": line" not in out and b": cout" not in out and ": cerr" not in job.err, "output of a rank is shown", job)


@test
def output_and_messages_of_the_runtime_keep_their_order_in_one_stream():
    config = config_of()
    job = run(["sh", "-c", 'exec "$@" 2>&1', "sh", TRAINRT, "--config", config])
    check_exit(job, FINISHED)
    own = re.sub(rb"(?:trainrt|run): .*\n", b"", out_of(job))
    equal(own, printed_by(0, "0: end"), "output without the messages of the runtime", job)
    check("\n0: step 1\nrun: iteration 1 " in job.out and "\n0: step 2\n0: endrun: iteration 2 " in job.out, "the progress is at another position", job)
    check(re.search(r"new run in .*\n0: printf\n(?s:.*)trainrt: finished: 2 iterations", job.out), "the first or last message of the runtime is at another position", job)
    check_log(config, 0, printed_by(0, "0: end"), job)


@test
def a_run_without_output_leaves_no_log():
    config = trouble_config({"trouble": "none"})
    check_exit(run_ranks(2, config), FINISHED)
    equal(logs_besides_signs(run_dir_of(config)), [], "logs")


def crashes(way, number):
    config = config_of(way, rank=1)
    job = run_ranks(2, config)
    check(job.code in (number, number | signal.SIGKILL), f"exit code of mpiexec: {job.code}", job)
    check_log(config, 1, printed_by(1), job, is_whole=way != "abort")
    last = "its last lines (logs/rank-00001.log has all):\n"
    for where, text in (("the terminal", job.err), ("error.txt", (run_dir_of(config) / "error.txt").read_text())):
        check(f"rank 1 on {HOST} died of {signal.Signals(number).name}" in text, f"{where} does not name the crashed rank", job)
        found = text.partition(last)[2].split("\n")
        equal(found[:20], [f"1: line {i}" for i in range(LINES - 18, LINES)] + ["1: step 1", "1: step 2"], f"the last lines in {where}", job)


for way, number in (("segfault", signal.SIGSEGV), ("abort", signal.SIGABRT)):
    add_test(f"a_{way}_loses_no_line_and_its_report_shows_the_last_lines_of_the_rank", crashes, way, number)


@test
def a_crash_of_a_shown_rank_loses_no_line():
    config = config_of("segfault")
    job = run([TRAINRT, "--config", config])
    equal(job.code, -signal.SIGSEGV, "exit code", job)
    check_log(config, 0, printed_by(0), job)
    check(b"0: line 999\n0: step 1\n" in re.sub(rb"(?m)^(?!0: ).*\n", b"", out_of(job)) and b"0: step 2\n" in out_of(job), "the terminal lacks lines", job)
    check("its last lines" not in job.err and "its last lines" in (run_dir_of(config) / "error.txt").read_text(), "the last lines are printed twice, or missing in error.txt", job)


@test
def the_report_of_an_exception_shows_the_last_lines_of_its_rank():
    for rank, is_shown in ((1, False), (0, True)):
        config = config_of("throw", rank)
        job = run_ranks(2, config)
        check_exit(job, FAILED)
        check_log(config, rank, printed_by(rank), job)
        text = (run_dir_of(config) / "error.txt").read_text()
        lines = f"its last lines (logs/rank-{rank:05}.log has all):\n{rank}: line 982\n"
        check(lines in text and text.endswith(f"\n{rank}: step 2\n"), f"error.txt: {text}", job)
        check(f"rank {rank}: error: no such luck" in job.err, "the error is not printed", job)
        check((lines in job.err) != is_shown, "the terminal must show the last lines with the error if and only if the rank is hidden", job)


@test
def exit_loses_no_line():
    config = config_of("exit", rank=1)
    job = run_ranks(2, config)
    check_exit(job, FAILED)
    check_log(config, 1, printed_by(1), job)
    check("rank 1: error: the train function ended the process with exit()" in job.err, "the error is not printed", job)
    check("its last lines (logs/rank-00001.log has all):\n1: line 982\n" in job.err and "\n1: step 2\n" in job.err, "the last lines are not printed", job)


@test
def the_attempt_after_a_killed_one_appends_to_the_same_log():
    config = config_of("kill", rank=1)
    job = run_ranks(2, config)
    check_log(config, 1, printed_by(1), job)
    check_exit(run_ranks(2, config, "--loop.end=return"), FINISHED)
    for rank in range(2):
        text = log_of(config, rank).decode("latin-1")
        equal(re.findall(HEADER, text), [("1", str(rank)), ("2", str(rank))], f"headers in the log of rank {rank}", job)
        text = text.replace(f"{rank}: cerr\n", "")  # comes through another pipe, so its position is not fixed
        check(text.endswith(f"{rank}: line 999\n{rank}: end"), f"the log of rank {rank}: {text[-300:]}", job)


@test
def a_child_process_that_keeps_running_does_not_delay_the_end():
    config = config_of("daemon")
    job = run([TRAINRT, "--config", config], timeout=30)
    check_exit(job, FINISHED)
    check_log(config, 0, printed_by(0, "0: end"), job)


@test
def a_terminal_that_stalls_gets_all_output_at_the_end():
    config = config_of(lines=8000, steps=0)  # more bytes than the pipe to the terminal holds, fewer than that pipe and the rank's hold
    job = run(["sh", "-c", '"$@" 2>/dev/null | (sleep 4; cat)', "sh", TRAINRT, "--config", config])
    check("".join(f"0: line {i}\n" for i in range(8000)) + "0: end" in job.out, "lines are missing", job)


@test
def a_closed_terminal_stops_no_rank():
    config = config_of()
    job = run(["sh", "-c", '"$@" 2>/dev/null | head -c 100', "sh", TRAINRT, "--config", config])
    wait_until(lambda: run_state(run_dir_of(config)) == "finished", 30, "the end of the run", job)
    check_log(config, 0, printed_by(0, "0: end"), job)


def table_config(name, header, cells, **data):
    folder = scratch()
    (folder / "t.csv").write_text(header + "\n" + "".join(f"{cells if i == 3 else '1,2,' + str(i)}\n" for i in range(64)))
    return write_config(folder / f"{name}.ini", {"run": {"name": name, "storage_path": folder / "runs"}, "train": {"function": "linear"},
                                                 "loop": {"epochs": 3}, "data.train": {"source": folder / "t.csv", **data}})


@test
def a_missing_value_that_makes_the_loss_NaN_gives_one_warning():
    job = run([TRAINRT, "--config", table_config("nan", "a,b,y", ",2,3", vector="x", types="y:f32")])
    check_exit(job, FINISHED)
    equal(job.err.count("the metric 'loss' is NaN in report 1"), 1, "number of warnings", job)


@test
def errors_about_the_fields_of_linear_name_the_keys_of_a_table():
    for header, words, data in (("a,b,y", "with vector = x, also set types = y:f32", {"vector": "x"}), ("a,b,y", "types = y:f32 sets the type", {"vector": "x", "types": "y:f64"})):
        job = run([TRAINRT, "check", "--config", table_config("fields", header, "1,2,3", **data)])
        check_exit(job, USAGE)
        check(words in job.err, f"the error lacks {words!r}", job)


main()
