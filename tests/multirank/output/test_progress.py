#!/usr/bin/python3
"""Progress that a running run shows: on a terminal, through mpiexec, and in a log."""
import fcntl
import pty
import struct
import sys
import termios
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

ROWS, COLUMNS = 30, 100
TAKEN, GIVEN_BACK = f"\x1b[1;{ROWS - 1}r", "\x1b[r"


def on_a_terminal(command, term="xterm", with_errors=False):
    """Runs a command with a terminal as its standard output, and with `with_errors` as its standard error; returns the terminal's input."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=theirs,
                               stderr=theirs if with_errors else subprocess.PIPE,
                               env={**os.environ, "TERM": term})
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # EIO: all processes have closed the terminal
        pass
    os.close(ours)
    error = (process.communicate(timeout=60)[1] or b"").decode()
    equal(process.returncode, FINISHED, f"exit code: {error}")
    return shown.decode()


class Screen:
    """Emulates a terminal: keeps the text of its last row, and the lines that scroll above it."""

    def __init__(self, text):
        self.lines, self.last, self.column, self.saved, self.in_last = [""], "", 0, None, False
        for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|\x1b.|[^\x1b]+", text):
            self.take(part)

    def take(self, part):
        if part == "\x1b7":
            self.saved = self.in_last
        elif part == "\x1b8":
            self.in_last = self.saved
        elif part == f"\x1b[{ROWS};1H":
            self.in_last, self.last = True, ""
        elif part.startswith("\x1b"):
            return
        elif self.in_last:
            self.last += part
        else:
            self.lines = "".join(["\n".join(self.lines), part.replace("\r", "")]).split("\n")


PROGRAM = """
import time, trainrt
ctx = trainrt.context()
state = trainrt.State()
state["i"] = 0
ctx.restore(state)
ctx.expect_iterations(4)
while state["i"] < 4:
    ctx.step(); ctx.step()
    print(f"my own words {state['i']}", flush=True)
    ctx.log(f"logged {state['i']}\\x1b[r")
    state["i"] += 1
    ctx.report({"loss": 1 / state["i"]})
    time.sleep(0.15)
"""


def program_config(folder):
    (folder / "train.py").write_text(PROGRAM)
    return write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"},
                                             "train": {"program": f"/usr/bin/python3 {folder}/train.py"}})


@test
def lines_that_a_program_prints_do_not_mix_with_the_progress_bar():
    shown = on_a_terminal([TRAINRT, "--config", program_config(scratch())])
    screen = Screen(shown)
    for i in range(4):
        check(f"my own words {i}" in screen.lines, f"line {i} is missing or mixed with others: {screen.lines}")
    check("[#####---------------]  25%" in shown and "step 2" in shown, f"the bar is missing: {shown!r}")
    check(screen.last == "" and shown.count(TAKEN) == 1 and shown.count(GIVEN_BACK) == 1, f"the last row was not restored: {shown!r}")
    check(any(line.startswith("run: iteration 4  step 8") for line in screen.lines), f"the last report is missing: {screen.lines}")


@test
def logged_lines_do_not_mix_with_the_progress_bar_or_move_the_cursor():
    shown = on_a_terminal([TRAINRT, "--config", program_config(scratch())], with_errors=True)
    screen = Screen(shown)
    for i in range(4):
        check(rf"trainrt: logged {i}\x1b[r" in screen.lines, f"line {i} is missing or mixed with others: {screen.lines}")
    check("25%" in shown and screen.last == "" and shown.count(GIVEN_BACK) == 1, f"the last row was not restored: {shown!r}")


@test
def the_progress_bar_works_through_mpiexec():
    config = linear_config(scratch(), "run", {"epochs": 3})
    shown = on_a_terminal([MPIEXEC, "-n", 2, TRAINRT, "--config", config])
    check(TAKEN in shown and "33%" in shown and GIVEN_BACK in shown, f"the bar is missing: {shown!r}")


@test
def a_dumb_terminal_and_a_log_get_lines_without_control_codes():
    config = linear_config(scratch(), "run", {"epochs": 3})
    shown = on_a_terminal([TRAINRT, "--config", config], term="dumb")
    check("\x1b" not in shown and "run: iteration 1" in shown, f"output on a dumb terminal: {shown!r}")
    job = run([MPIEXEC, "-n", 2, TRAINRT, "--config", linear_config(scratch(), "log", {"epochs": 3})])
    check("\x1b" not in job.out and "log: iteration 1" in job.out, "control codes in a log, or a missing report", job)


@test
def a_log_has_every_report_with_progress_all():
    config = linear_config(scratch(), "run", {"epochs": 30})
    job = run([TRAINRT, "--config", config, "--metrics.progress=all"])
    check_exit(job, FINISHED)
    for i in range(1, 31):
        equal(len(re.findall(rf"^run: iteration {i} ", job.out, re.M)), 1, f"lines of iteration {i}", job)


main()
