#!/usr/bin/python3
"""Cost of observing a run: size and loading time of pages of `trainrt report` for a million steps and for 5,000 ranks; the overhead of
measuring the phases of a step of 1 ms; reports to a program that hangs. Also checks the detection of slow ranks: a rank whose steps take
a fifth longer is named after 50 steps, and no rank is named in 1,000 windows of equally fast ranks. The ranks are threads that sleep; a
window uses the medians of its steps, so that interruptions by other programs do not count."""
import json
import random
import re
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from bench import BUILD, MPIEXEC, TRAINRT, Bench, median, need, with_file  # noqa: E402
from tools.browser import PROGRAM, Browser  # noqa: E402

START = datetime(2026, 11, 24)


def moment(seconds):
    return (START + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def made_up_run(run_dir, ranks, reports, windows):
    """Writes a run of two attempts, the first of which was killed, with one record of step times every 12 s."""
    for folder in ("attempts", "logs"):
        (run_dir / folder).mkdir(parents=True)
    random.seed(1)
    record = {"format": "trainrt run 1", "name": run_dir.name, "run_id": "8d41aa3c", "created": moment(0), "train_function": "linear", "state": "finished",
              "workers": ranks, "opened_by_program": False, "loop": {"lr": "0.1"}, "changes": [],
              "config": {"checkpoint.score_attribute": "loss", "checkpoint.score_order": "min"}}
    (run_dir / "run.json").write_text(json.dumps(record))
    with open(run_dir / "result.json", "w") as file:
        for i in range(1, reports + 1):
            file.write(f'{{"loss":{1 / i ** 0.3 + 0.01 * random.random()!r},"accuracy":{random.random()!r},"grad_norm":{random.lognormvariate(0, 0.4)!r},'
                       f'"_timestamp":1790000000,"_time_this_iter_s":0.0123456,"_time_total_s":{i * 0.0123:.6g},"_step":{i},"_training_iteration":{i}}}\n')
    steps = 12 * windows
    for attempt in (1, 2):
        write_attempt(run_dir, attempt, ranks, windows // 2, steps // 2, reports // 2)


def write_attempt(run_dir, attempt, ranks, windows, seconds, reports):
    begun, name = (attempt - 1) * (seconds + 300), f"attempt-{attempt:06}.jsonl"
    owner = {"job_id": "4711", "restart_count": attempt - 1, "step_id": "0", "host": "n0", "pid_scope": "x", "pid": 12, "pid_start_time": 34}
    (run_dir / f"attempts/{attempt:06}.json").write_text(json.dumps({
        "attempt": attempt, "owner": owner, "ranks": ranks, "nodes": [f"n{i}" for i in range(max(1, ranks // 4))], "start": moment(begun),
        "end": moment(begun + seconds), "why": "killed: out of memory" if attempt == 1 else "finished", "exit_code": 0, "first_step": (attempt - 1) * reports,
        "last_step": attempt * reports, "saved_step": -1, "first_iteration": (attempt - 1) * reports, "saved_iteration": -1, "iteration": attempt * reports,
        "timing": {"startup_s": 30, "steps_s": seconds - 60, "checkpoint_s": 20, "shutdown_s": 10}, "seen": "", "silent": False}))
    with open(run_dir / f"logs/steps-{name}", "w") as file:
        for i in range(windows):
            own = [random.randrange(19000, 21000) + 6000 * (rank == 7) for rank in range(ranks)]
            file.write(json.dumps({"time": moment(begun + 12 * i), "step": (attempt - 1) * reports + 50 * (i + 1), "steps": 50, "own_us": own,
                                   "waits_us": [max(own) - each for each in own], "work_us": {"input": 2000, "forward": 6000, "backward": 11000, "report": 200},
                                   "slow": {"rank": 7 % ranks, "work": "forward", "ratio": 1.3, "why": "clock 1.2 GHz of 3.1"}}) + "\n")
    with open(run_dir / f"logs/ranks-{name}", "w") as file:
        for rank in range(ranks):
            file.write(json.dumps({"rank": rank, "host": f"n{rank // 4}", "time": moment(begun + seconds), "step": reports, "phase": "finishing", "quiet_s": 0.2,
                                   "waits_in": "", "cpu_s": 1000 + rank, "cpus": 2, "rss": 10 ** 9, "peak": 2 * 10 ** 9 + rank, "read": 10 ** 9, "written": 10 ** 8,
                                   "gpu": 0.93, "gpu_memory": 10 ** 10, "ended": True}).ljust(511) + "\n")


def pages(bench):
    """Opens each page ten times; measures the time until the load event and until all charts are drawn."""
    if PROGRAM is None:
        print("skipped: pages: chromium is not installed (package chromium)")  # the other parts do not need it
        return
    for name, ranks, reports, windows in (("million_steps", 4, 1_000_000, 2000), ("5000_ranks", 5000, 1000, 300)):
        run_dir, page = bench.fresh(name) / "run", bench.work / f"{name}.html"
        made_up_run(run_dir, ranks, reports, windows)
        made_s, _ = bench.run(name, [TRAINRT, "report", run_dir, "-o", page])
        figures = bench.note({f"page_{name}_made_s": [made_s], **opened(name, page, bench.fresh("browser"))})
        bench.claim(f"page_{name}_megabytes", page.stat().st_size / 1e6, "<=", 2)
        bench.claim(f"page_{name}_made_s", made_s, "<=", 10)
        bench.claim(f"page_{name}_opens_s", median(figures[f"page_{name}_opens_s"]), "<=", 2)
        bench.claim(f"page_{name}_drawn_s", median(figures[f"page_{name}_drawn_s"]), "<=", 4)


def opened(name, path, profile):
    opens, drawn = [], []
    with Browser(profile) as browser:
        for _ in range(10):
            start = time.monotonic()
            page = browser.open(path)
            opens.append(page.load_s)
            page.wait_until("charts.size === document.querySelectorAll('figure[data-chart]').length")
            drawn.append(time.monotonic() - start)
            if page.complaints():
                sys.exit(f"see: messages of the console: {page.complaints()}")
            page.close()
    return {f"page_{name}_opens_s": opens, f"page_{name}_drawn_s": drawn}


def number_in(output, name):
    found = re.search(rf"{name}=([0-9.e+-]+)", output)
    if not found:
        sys.exit(f"see: no {name} in the output:\n{output[-2000:]}")
    return float(found.group(1))


def phases(bench):
    probe = BUILD / "bench/phases_probe"
    need(probe, "phases_probe")
    figures = bench.interleaved(5, {"phases_cost_us": lambda: number_in(bench.run("cost", [probe, "cost", 5000])[1], "cost_us")})
    bench.claim("phases_of_a_1_ms_step", median(figures["phases_cost_us"]) / 1000, "<=", 0.001)
    runs, windows, folder = 160, 1000, bench.fresh("steps")
    bench.claim("slow_ranks_named_right", number_in(bench.run("planted", [probe, "planted", runs, folder])[1], "right") / runs, ">=", 1)
    bench.claim("ranks_named_in_1000_clean_windows", number_in(bench.run("clean", [probe, "clean", windows, folder])[1], "named"), "<=", 0)


def report_microseconds(bench, sinks, program=""):
    path = with_file(bench.work / "report.ini", f"[run]\nname = report\nstorage_path = {bench.fresh('runs')}\n"
                     f"[train]\nlibrary = {BUILD / 'bench/report_loop.so'}\n[loop]\nreports = 2000\n[checkpoint]\nevery = off\n"
                     f"[metrics]\nsinks = {sinks}\n{program}")
    return number_in(bench.run(sinks, [MPIEXEC, "-n", 2, TRAINRT, "--config", path])[1], "report_median_us")


def sinks(bench):
    need(BUILD / "bench/report_loop.so", "report_loop.so")
    program = "[sink.mine]\nprogram = {}\nwait = 0.1\n"
    figures = bench.interleaved(7, {"report_alone_us": lambda: report_microseconds(bench, "csv"),
                                    "report_to_a_program_us": lambda: report_microseconds(bench, "csv, mine", program.format("cat >/dev/null")),
                                    "report_to_one_that_hangs_us": lambda: report_microseconds(bench, "csv, mine", program.format("sleep 1000"))})
    more_us = median(figures["report_to_one_that_hangs_us"]) - median(figures["report_alone_us"])
    bench.claim("program_that_hangs_of_a_1_ms_step_that_reports", more_us / 1000, "<=", 0.01)


def main():
    need(TRAINRT, "trainrt")
    bench = Bench("see", __doc__.strip())
    parts = {"pages": pages, "phases": phases, "sinks": sinks}
    for name in sys.argv[2:] or parts:
        parts[name](bench)
    bench.finish()


main()
