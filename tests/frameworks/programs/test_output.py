#!/usr/bin/python3
"""Output of programs: each rank's log is complete, the terminal shows the ranks of run.output, and the error that ends a run holds the last
lines of the program that failed first."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

PYTHON = "/usr/bin/python3"
HEADER = r"==== \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ attempt (\d+), rank (\d+) on \S+, process \d+ ====\n"
# Standard output without a flush, standard error, a progress bar, bytes that are not UTF-8, and a last line without a newline.
PRINTS = """import os, sys
rank = os.environ["RANK"]
for i in range(1000):
    print(f"{rank}: out {i}")
sys.stderr.write(f"{rank}: err\\n")  # one write; print() makes two, and standard output may come between them
sys.stdout.buffer.write(b"\\r 50 %\\r100 %\\n\\xff\\n")
print(f"{rank}: end", end="")
"""


def start(ranks, text, *keys, folder=None, **options):
    """Starts a run of a Python script or a command. Its run directory is in `folder`."""
    folder = folder or scratch()
    (folder / "train.py").write_text(text)
    launcher = [MPIEXEC, "-n", ranks] if ranks > 1 else []
    job = Job([*launcher, TRAINRT, "--run.name=run", *keys, "--", PYTHON, "train.py"], cwd=folder, **options)
    job.run_dir = folder / "runs/run"
    return job


def finish(job, code=FINISHED, timeout=90):
    job.code = job.wait(timeout)
    check_exit(job, code)
    return job


def log_of(job, rank):
    return (job.run_dir / f"logs/rank-{rank:05}.log").read_bytes()


def printed_by(rank):
    lines = "".join(f"{rank}: out {i}\n" for i in range(1000))
    return lines.encode(), b"\r 50 %\r100 %\n\xff\n" + f"{rank}: end".encode()


def check_log(job, rank, attempt=1):
    text = log_of(job, rank).decode("latin-1")
    header = re.match(HEADER, text)
    check(header and header.groups() == (str(attempt), str(rank)), f"the header of rank {rank}: {text[:200]}", job)
    lines, end = (part.decode("latin-1") for part in printed_by(rank))
    rest = text[header.end():]
    equal(rest.replace(f"{rank}: err\n", "", 1), lines + end, f"the log of rank {rank}", job)
    check(f"{rank}: err\n" in rest, f"standard error of rank {rank}", job)


@test
def each_log_is_complete_and_the_terminal_shows_the_chosen_ranks():
    jobs = {shown: start(2, PRINTS, *([f"--run.output={shown}"] if shown else [])) for shown in ("", "all", "none")}
    for job in jobs.values():
        finish(job)
        for rank in range(2):
            check_log(job, rank)
    out = {shown: (job._folder / "out").read_bytes() for shown, job in jobs.items()}
    lines, end = printed_by(0)
    check(lines in out[""] and end in out[""], "rank 0 is not shown byte by byte", jobs[""])
    check(b"1: " not in out[""] and "1: err" not in jobs[""].err, "another rank is shown", jobs[""])
    check("0: err\n" in jobs[""].err and b"0: err" not in out[""], "standard error is mixed with standard output", jobs[""])
    for rank in range(2):
        shown = [line for line in out["all"].split(b"\n") if line.startswith(f"[{rank}] ".encode())]
        equal(shown[:1000], [f"[{rank}] {rank}: out {i}".encode() for i in range(1000)], f"lines of rank {rank}", jobs["all"])
        equal(shown[-3:], [f"[{rank}] ".encode() + rest for rest in (b"100 %", b"\xff", f"{rank}: end".encode())], "the last lines", jobs["all"])
        check(f"[{rank}] {rank}: err\n" in jobs["all"].err, "standard error", jobs["all"])
    check(b": out" not in out["none"] and ": err" not in jobs["none"].err, "output is shown despite run.output=none", jobs["none"])


@test
def standard_output_and_error_in_one_log_keep_their_order():
    text = "import os\nfor i in range(2000):\n    os.write(1 + i % 2, f'{i}\\n'.encode())\n"
    job = finish(start(1, text, "--run.output=none"))
    equal([int(line) for line in log_of(job, 0).split(b"\n")[1:-1]], list(range(2000)), "the order", job)


def most_memory(pid):
    """Returns the peak memory of process `pid` in MiB, or 0 if it has exited."""
    try:
        return int(re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text()).group(1)) >> 10
    except (OSError, AttributeError):
        return 0


@test
def much_output_is_copied_completely_in_little_memory():
    size = 200 << 20
    job = start(1, f"import subprocess\nsubprocess.run('yes 0123456789 | head -c {size}', shell=True, check=True)\n")
    most = 0
    while not job.ended():
        most = max(most, *(most_memory(pid) for pid in job.ranks().values()), 0)
        time.sleep(0.1)
    finish(job)
    check(0 < most < 100, f"the rank held {most} MiB", job)
    log = log_of(job, 0)
    check(log.endswith(b"0123456789\n" * 1000 + b"01"), "the end of the log", job)
    equal(len(log) - log.index(b"\n") - 1, size, "bytes in the log", job)
    check((job._folder / "out").stat().st_size >= size, "the terminal did not get all bytes", job)


@test
def a_closed_output_or_a_daemon_does_not_delay_the_end():
    closed = start(1, "import os, time\nprint('first')\nos.close(1)\nos.close(2)\ntime.sleep(1)\n")
    daemon = start(1, "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)\nprint('last')\n")
    noisy = start(1, "import subprocess\nsubprocess.Popen(['yes'], start_new_session=True)\nprint('last')\n", "--run.output=none")
    for job, line in (closed, b"\nfirst\n"), (daemon, b"\nlast\n"), (noisy, b"\n"):
        finish(job, timeout=30)
        check(line in log_of(job, 0), "the log", job)


RAISES = """import os, sys, time
print("step", os.environ["RANK"])
if os.environ["RANK"] == "1":
    try:
        {}["x"]
    except KeyError:
        raise ValueError("bad batch")
time.sleep(60)
"""


@test
def the_error_has_the_exception_of_the_program_that_failed_first():
    folder = scratch()
    job = finish(start(2, RAISES, "--failure.max_failures=0", folder=folder), FAILED)
    for name, text in ("error.txt", (job.run_dir / "error.txt").read_text()), ("the terminal", job.err):
        check(re.search(r"the program of rank 1 on \S+ \(train.program, process \d+\) exited with 1: ValueError: bad batch\n", text + "\n"),
              f"the first line in {name}: {text}", job)
        for line in ("logs/rank-00001.log", "step 1", "KeyError: 'x'", "Traceback (most recent call last):", 'raise ValueError("bad batch")'):
            check(line in text, f"{name} lacks {line!r}: {text}", job)
    check("step 1" not in job.out, "rank 1 is shown", job)
    record, = (job.run_dir / "attempts").glob("*.json")
    check("ValueError: bad batch" in json.loads(record.read_text())["why"], "the attempt's record", job)
    finish(start(2, PRINTS, folder=folder))  # the next attempt's output comes after it
    for rank in range(2):
        text = log_of(job, rank).decode("latin-1")
        equal(re.findall(HEADER, text), [("1", str(rank)), ("2", str(rank))], f"headers in the log of rank {rank}", job)
        check(f"\nstep {rank}\n" in text and text.count(f"{rank}: end") == 1, f"the log of rank {rank}", job)


# ---- programs that hang ----------------------------------------------------------------------------------------------------------

HANGS = """import os, time
import torch.distributed as dist
import torch
def stuck():
    time.sleep(1000)
dist.init_process_group("gloo")
if dist.get_rank() == 1:
    stuck()
dist.all_reduce(torch.ones(1))
"""


@test
def a_hang_of_an_unchanged_script_records_the_stacks_of_all_ranks():
    if run([PYTHON, "-c", "import torch.distributed"]).code != 0:
        skip("torch is not installed (package python3-torch)")
    job = finish(start(2, HANGS, "--failure.hang_timeout=6 s", "--failure.max_failures=0", env={"OMP_NUM_THREADS": 1}), FAILED, 180)
    reports = {path.name: path.read_text() for path in (job.run_dir / "logs/hang-attempt-000001").iterdir()}
    equal(sorted(reports), ["rank-00000.txt", "rank-00001.txt"], "reports", job)
    check(re.search(r"line \d+ in all_reduce\n", reports["rank-00000.txt"]) and "waits_in: all_reduce\n" in reports["rank-00000.txt"],
          f"the stack of rank 0: {reports['rank-00000.txt']}", job)
    check("line 5 in stuck\n" in reports["rank-00001.txt"], f"the stack of rank 1: {reports['rank-00001.txt']}", job)
    error = (job.run_dir / "error.txt").read_text()
    for word in ("rank 1 on", "hang: ", "train.py, line 5 in stuck", "1 rank waits in all_reduce", "logs/hang-attempt-000001"):
        check(word in error.splitlines()[0], f"error.txt lacks {word!r}: {error}", job)
    check("at step" not in error and not list(job.run_dir.parents[1].glob("core*")), "the error names a step, or a core file exists", job)


@test
def a_program_that_computes_or_prints_does_not_hang():
    computes = "import time\nend = time.time() + 5\nwhile time.time() < end:\n    pass\n"
    prints = "import time\nfor i in range(10):\n    print(i)\n    time.sleep(0.5)\n"
    for job in [start(1, text, "--failure.hang_timeout=2 s") for text in (computes, prints)]:
        finish(job)
        check(not list(job.run_dir.glob("logs/hang-*")), "a hang is reported", job)


@test
def the_users_PYTHONUNBUFFERED_is_kept():
    text = "import os\nprint('unbuffered', repr(os.environ.get('PYTHONUNBUFFERED')))\n"
    check("unbuffered '1'" in finish(start(1, text)).out, "PYTHONUNBUFFERED")
    check("unbuffered ''" in finish(start(1, text, env={"PYTHONUNBUFFERED": ""})).out, "PYTHONUNBUFFERED of the user")


main()
