#!/usr/bin/python3
"""`trainrt top` in a terminal (tmux) and without one, for runs that train, hang or have ended, and runs too large for the screen."""
import socket
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

PROGRAM = """
import time, trainrt
ctx, state = trainrt.context(), trainrt.State()
state["n"] = 0
ctx.restore(state)
ctx.expect_iterations(2000)
while state["n"] < 2000:
    state["n"] += 1
    ctx.step()
    ctx.report({"loss": 1 / state["n"], "学習率 🙂/x": state["n"] % 7})
    time.sleep(0.05)
"""
UTF8 = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
_tmux = itertools.count(1)


def utc(seconds_ago=0):
    return (datetime.now(timezone.utc) - timedelta(seconds=seconds_ago)).strftime("%Y-%m-%dT%H:%M:%SZ")


class Terminal:
    """A tmux terminal that runs a shell."""

    def __init__(self, columns, rows, env=None):
        self.socket = scratch() / f"tmux{next(_tmux)}"
        self.job = Job(["tmux", "-u", "-D", "-S", self.socket, "-f", "/dev/null"], env={**UTF8, **(env or {})})
        wait_until(lambda: self.socket.exists() and self.do("list-sessions", may_fail=True) is not None, 10, "tmux to start", self.job)
        self.do("new-session", "-d", "-x", columns, "-y", rows, "sh")

    def do(self, *words, may_fail=False):
        done = subprocess.run(["tmux", "-u", "-S", self.socket, *map(str, words)], capture_output=True, text=True, timeout=20)
        check(done.returncode == 0 or may_fail, f"tmux {words}: {done.stderr}")
        return done.stdout if done.returncode == 0 or "no current" in done.stderr or "no sessions" in done.stderr else None

    def type(self, line):
        self.do("send-keys", "-l", line)
        self.do("send-keys", "Enter")

    def key(self, key):
        self.do("send-keys", key)

    def screen(self, colors=False):
        return self.do("capture-pane", "-p", *(["-e"] if colors else []))

    def wait_for(self, pattern, timeout=15):
        wait_until(lambda: re.search(pattern, self.screen(), re.M), timeout, f"{pattern!r} on the screen:\n{self.screen()}", self.job)
        return self.screen()

    def is_restored(self):
        """Returns whether the terminal shows the screen and cursor of the shell again."""
        return "before it" in self.screen() and self.do("display-message", "-p", "#{alternate_on}#{cursor_flag}").strip() == "01"


def this_process():
    stat = Path(f"/proc/{os.getpid()}/stat").read_text().rsplit(")", 1)[1].split()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return {"job_id": "", "restart_count": 0, "step_id": "", "host": socket.gethostname(), "pid_scope": f"{boot}/{os.readlink('/proc/self/ns/pid')}",
            "pid": os.getpid(), "pid_start_time": int(stat[19])}


def rank_line(rank, seconds_ago=3, **fields):
    state = {"rank": rank, "host": f"n{rank // 16}", "time": utc(seconds_ago), "step": 812, "phase": "training", "quiet_s": 0.2, "waits_in": "", "cpu_s": 60.0,
             "cpus": 2, "rss": 2 << 30, "peak": 3 << 30, "read": 600_000_000, "written": 60_000_000, "ended": False, **fields}
    return json.dumps(state).encode().ljust(511) + b"\n"


def made_up_run(ranks, name="made", reports=100, lines=None, job_id=""):
    """Creates the directory of a running run whose owner is this process; returns its path."""
    run_dir = scratch() / name
    (run_dir / "attempts").mkdir(parents=True)
    (run_dir / "logs").mkdir()
    (run_dir / "run.json").write_text(json.dumps({
        "format": "trainrt run 1", "name": name, "run_id": "1", "created": utc(100), "train_function": "linear", "state": "running", "workers": 0, "loop": {},
        "changes": [], "config": {}}))
    (run_dir / "attempts/000001.json").write_text(json.dumps({
        "attempt": 1, "start": utc(63), "end": None, "why": None, "exit_code": None, "first_step": 0, "last_step": 812, "first_iteration": 0, "iteration": reports, "saved_iteration": reports, "saved_step": 812, "seen": utc(1), "expected": 4 * reports,
        "timing": {"startup_s": 3, "steps_s": 60, "checkpoint_s": 0, "shutdown_s": 0}, "ranks": ranks, "nodes": ["n0"],
        "owner": {**this_process(), "job_id": job_id}, "job_start": utc(63), "job_end": utc(-37)}))
    (run_dir / "result.json").write_text("".join(
        json.dumps({"loss": 1 / i if i % 10 else None, "<b>/x": "text", "_time_this_iter_s": 0.6, "_training_iteration": i}) + "\n" for i in range(1, reports + 1)))
    (run_dir / "logs/ranks-attempt-000001.jsonl").write_bytes(b"".join(lines if lines is not None else map(rank_line, range(ranks))))
    return run_dir


def top(*words, code=FINISHED, env=None):
    job = run([TRAINRT, "top", *words], env={**UTF8, **(env or {})})
    check_exit(job, code)
    return job


def setup():
    if shutil.which("tmux") is None:
        skip("tmux is not installed (package tmux)")


@test
def a_running_run_is_shown_at_any_size_and_q_restores_the_terminal():
    folder = scratch()
    job = Job([TRAINRT, "-n", "2", "--run.name=live", f"--run.storage_path={folder}/runs", "--checkpoint.every=1000 reports", "--", "python3", program_file(PROGRAM)])
    terminal = Terminal(80, 24)
    terminal.type("echo before it")
    wait_for_reports(folder / "runs/live", 60, job)
    terminal.type(f"{TRAINRT} top {folder}/runs/live --interval 0.3")
    terminal.wait_for(r"^live  running  attempt 1  2 ranks on 1 node")
    seen = terminal.wait_for(r"0:0\d:\d\d left$")  # shown after two seconds of training
    check("学習率 🙂/x" in seen and "loss" in seen and "q quits" in seen, f"a name or key is not shown:\n{seen}")
    check(re.search(r"iteration \d+ of 2000$", seen, re.M), f"the progress is not shown:\n{seen}")
    check(seen.count("▁") + seen.count("█") > 5, f"the sparkline is missing:\n{seen}")
    first = int(re.search(r"iteration (\d+) of", seen)[1])
    wait_until(lambda: int(re.search(r"iteration (\d+) of", terminal.screen())[1]) > first + 5, 10, "progress of the run", job)
    terminal.do("resize-window", "-x", 300, "-y", 80)
    wait_until(lambda: any(len(line) > 100 for line in terminal.screen().splitlines()), 10, f"wider output:\n{terminal.screen()}")
    check("q quits" in terminal.screen().splitlines()[79], f"the last row does not show the keys:\n{terminal.screen()}")
    terminal.key("q")
    wait_until(terminal.is_restored, 10, "the screen to be restored")
    check("live  running" in terminal.wait_for(r"^[$#]$"), f"the last frame is not printed:\n{terminal.screen()}")


@test
def quitting_by_key_or_signal_restores_the_screen_and_exits_with_0():
    run_dir = made_up_run(4)
    terminal = Terminal(80, 24)
    for end in ("C-c", "Escape", "TERM", "HUP"):
        terminal.type(f"clear; echo before it; {TRAINRT} top {run_dir}; echo code $?")
        terminal.wait_for("q quits")
        if end.isupper():
            kill([pid for pid in processes_with(terminal.job.token) if " top " in name_of_process(pid)], getattr(signal, f"SIG{end}"))
        else:
            terminal.key(end)
        terminal.wait_for("^code 0$")
        check(terminal.is_restored(), f"the screen is not restored after {end}:\n{terminal.screen()}")
        terminal.type("stty -a | tr -s ' ;' '\\n' | grep -x echo && echo echoes")
        terminal.wait_for("^echoes$")


@test
def no_color_and_a_dumb_terminal_turn_colors_off():
    run_dir = made_up_run(4)
    for env, colored in (({}, True), ({"NO_COLOR": "1"}, False)):
        terminal = Terminal(80, 24, env)
        terminal.type(f"clear; {TRAINRT} top {run_dir}")
        terminal.wait_for("q quits")
        equal("\x1b[32m" in terminal.screen(colors=True), colored, f"colors with {env}")
        terminal.key("q")
        terminal.wait_for(r"^[$#]$")
    terminal.type(f"clear; TERM=dumb LC_ALL=C {TRAINRT} top {run_dir}; echo code $?")
    seen = terminal.wait_for("^code 0$")
    check("made  running" in seen and "q quits" not in seen and seen.isascii(), f"unexpected output on a dumb terminal:\n{seen}")


@test
def a_folder_of_runs_is_refused_with_the_command_for_its_newest_run():
    newest, older = made_up_run(2, "first"), made_up_run(2, "second")
    older = older.rename(newest.parent / "second")
    os.utime(older, (0, 0))
    job = top(newest.parent, code=USAGE)
    check(f"'{newest.parent}' is a folder of 2 runs: name one of them, for example: trainrt top {newest}." in job.err, "the error lacks the command", job)


@test
def output_to_a_pipe_is_printed_once_without_control_codes():
    out = top(made_up_run(4)).out
    check("\x1b" not in out and "made  running  attempt 1" in out, f"unexpected output: {out!r}")
    for part in ("iteration 100 of 400", "step 812", "4 ranks", "memory 8.0 GiB (peak 12.0 GiB)", "attempt 1 started with 4 ranks"):
        check(part in out, f"{part!r} is missing:\n{out}")
    check(re.search(r"CPU (3\.9|4\.0) of 8", out), f"the CPUs in use:\n{out}")  # the times of the records are rounded to seconds
    check(re.search(r"left in this and \d+ more jobs", out) and "this run needs this and" in out, f"the time left, and jobs:\n{out}")
    check(top(made_up_run(4), "--once", env={"LC_ALL": "C"}).out.isascii(), "ASCII for a locale that is not UTF-8")


@test
def a_frozen_rank_is_named_if_others_wait_for_it():
    """The records are like those of a run in which one rank is stopped by SIGSTOP."""
    lines = [rank_line(rank, waits_in="all-reduce gradients", quiet_s=64.0) for rank in range(4)]
    lines[2] = rank_line(2, seconds_ago=70, step=811)
    out = top(made_up_run(4, lines=lines)).out
    check("rank 2 (n0): no status update for 0:01:1" in out and "step 811, 1 step behind" in out, f"the late rank is not named:\n{out}")
    equal(len(re.findall(r"^ +\d ! ", out, re.M)), 1, f"late ranks in\n{out}")


@test
def a_slow_rank_is_named_with_the_reason():
    run_dir = made_up_run(4)
    window = {"time": utc(5), "step": 800, "steps": 50, "own_us": [10000, 10000, 10000, 12000], "waits_us": [2000, 2000, 2000, 10],
              "slow": {"rank": 3, "work": "forward", "ratio": 1.2, "why": "clock 1.2 GHz of 3.1"}}
    (run_dir / "logs/steps-attempt-000001.jsonl").write_text(json.dumps(window) + "\n" + json.dumps(window)[:70])
    out = top(run_dir).out
    for part in ("rank 3 (n0): 20 % slower than the median in forward: clock 1.2 GHz of 3.1", "step 812  13.5 steps/s  1.67 iterations/s", "rank 3 is 20 % slower"):
        check(part in out, f"{part!r} is missing:\n{out}")


@test
def five_thousand_ranks_and_a_million_reports_fit_the_screen_within_a_second():
    lines = [rank_line(rank) for rank in range(5000)]
    lines[4321] = rank_line(4321, seconds_ago=90)
    run_dir = made_up_run(5000, lines=lines)
    with open(run_dir / "result.json", "ab") as log:
        log.write((json.dumps({"loss": 0.5, "_time_this_iter_s": 0.6, "_training_iteration": 1}) + "\n").encode() * 1_000_000)
        log.write((json.dumps({"loss": 0.25, "_time_this_iter_s": 0.6, "_training_iteration": 1_000_101}) + "\n").encode())
    begin = time.monotonic()
    out = top(run_dir).out
    took = time.monotonic() - begin
    check(took < 1, f"the output took {took:.2f} s")
    check("rank 4321 (n270): no status update" in out and "! late 1   . training 4999" in out and "iteration 1000101" in out, f"unexpected output:\n{out}")
    check(max(map(len, out.splitlines())) <= 100 and len(out.splitlines()) <= 60, f"the output is too large:\n{out}")


@test
def a_run_that_has_ended_is_printed_once_with_the_reason():
    config = linear_config(scratch(), "over", {"epochs": 3})
    check_exit(run_ranks(2, config), FINISHED)
    terminal = Terminal(80, 24)
    terminal.type(f"clear; {TRAINRT} top {run_dir_of(config)}; echo code $?")
    seen = terminal.wait_for("^code 0$")
    check("over  finished  attempt 1" in seen and "100%  iteration 3 of 3" in seen and "left" not in seen, f"unexpected output for a finished run:\n{seen}")
    run_dir = made_up_run(2)
    record = json.loads((run_dir / "attempts/000001.json").read_text())
    record["owner"]["pid_start_time"] = 1
    (run_dir / "attempts/000001.json").write_text(json.dumps(record))
    (run_dir / "error.txt").write_text(f"{utc()} rank 1 on n0: out of memory\nat x.cpp\n")
    out = top(run_dir).out
    for part in ("made  killed", "killed: it wrote no end", "error.txt: rank 1 on n0: out of memory", "this run needs 2 jobs of 00:02:00"):
        check(part in out, f"{part!r} is missing of a killed run:\n{out}")
    check("step 812" in out and "steps/s" not in out and "iterations/s" not in out, f"rates of a run that has ended:\n{out}")


@test
def incomplete_and_invalid_records_are_skipped():
    run_dir = made_up_run(3, lines=[rank_line(0), b"\0" * 512, rank_line(2)[:200]])
    with open(run_dir / "result.json", "ab") as log:
        log.write(b'{"loss": Infinity}\n[[[\n\xff\xfe\n{"loss": 0.125, "_training_iteration": 101}\n{"loss": 0.5, "_train')
    (run_dir / "logs/steps-attempt-000001.jsonl").write_bytes(b'{"time": 5}\n\0\0\n{"time":"2026')
    (run_dir / "attempts/000001.pulse").write_text("{")
    out = top(run_dir).out
    check("0.125" in out and len(re.findall("no record yet", out)) == 2, f"unexpected output:\n{out}")


@test
def an_invalid_argument_or_run_is_an_error():
    newer = made_up_run(1, "newer")
    (newer / "run.json").write_text('{"format": "trainrt run 2", "whatever": 1}')
    for words, parts in (([newer], ("newer/run.json was written by another version", '"trainrt run 2"')), ([scratch()], ("not a run directory",)), ([], ("--job ID",)),
                        ([newer, newer], ("unexpected argument",)), ([newer, "--interval", "0"], ("0.1 to 3600",)), (["--job", "x"], ("not a job number",)),
                        (["--job", "471199", scratch()], ("no run of job 471199", "trainrt top --job 471199 STORAGE_PATH"))):
        job = top(*words, code=USAGE)
        for part in parts:
            check(part in job.err, f"{words}: the message lacks {part!r}", job)


@test
def job_finds_the_run_of_a_slurm_job():
    run_dir = made_up_run(2, job_id="4711")
    out = top("--job", "4711", run_dir.parent).out
    check("made  " in out and "job 4711" in out, f"unexpected output:\n{out}")


@test
def the_remaining_time_of_a_program_comes_from_its_output():
    folder = scratch()
    script = program_file("import sys, time\nfor i in range(1, 1001):\n    print(f'step {i}/1000', flush=True)\n    time.sleep(0.05)\n")
    job = Job([TRAINRT, "--run.name=seen", f"--run.storage_path={folder}/runs", r"--program.progress=step (?<step>\d+)/(?<total>\d+)", "--", "python3", script])
    left = None
    for _ in range(100):
        time.sleep(0.2)
        if (folder / "runs/seen/run.json").exists():
            answer = run([TRAINRT, "result", folder / "runs/seen", "--json"])
            left = json.loads(answer.out)["time_left"] if answer.code == 0 else None
            if left:
                break
        check(not job.ended(), "the run ended before the estimate", job)
    check(left and 20 < left["left_s"] < 150 and left["finish"], f"unlikely remaining time of a run of 50 s: {left}", job)
    check("position " in top(folder / "runs/seen").out and "of 1000" in top(folder / "runs/seen").out, "the position is not shown")


main(setup)
