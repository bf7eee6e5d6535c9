#!/usr/bin/python3
"""Compares an unchanged script under `trainrt -n N -- python3 s.py` with `torchrun --nproc-per-node N s.py` of PyPI's torch.

    make bench-program ONLY='port --starts 100'     default: all parts, 500 starts

python   start of 2 ranks of a script with Debian's Python; peer: two interpreters started without a launcher
start    from the start of the launcher to the first line of the last rank, 2 and 8 ranks
step     a step of DistributedDataParallel over gloo, 2 ranks, one thread each; the ratio is taken within each repetition
restart  from the kill -9 of a worker to the first line of the last rank, minus the start of an interpreter
port     failed starts of a program that binds MASTER_PORT and exits, 4 at once, while another process takes every free port
cost     CPU time of the trainrt process of a rank while its program trains, as a share of one core, and its memory (PSS); 2 ranks

torch comes from the environments of `make test-frameworks`, which are created if they are missing; `python` and `port` do not need it.
"""
import argparse
import concurrent.futures
import functools
import re
import sys
import time
from pathlib import Path

from bench import BUILD, SOURCE, TRAINRT, Bench, median, need, ratio

WORDS = sys.argv[2:]
sys.argv[1:] = [str(BUILD)]  # read by the harness of the tests
sys.path.insert(0, str(SOURCE / "tests/support"))
sys.path.insert(0, str(SOURCE / "tests/frameworks/pypi"))
import environments  # noqa: E402
import frameworks  # noqa: E402
import harness  # noqa: E402

FOLDER = Path(__file__).resolve().parent / "programs"
TORCH = next(each for each in frameworks.FRAMEWORKS if each.package == "torch")
TRAIN_S = 10
START_LIMIT_S = 120
AT_ONCE = 4
PYTHON = "/usr/bin/python3"


class Launchers:
    """Runs scripts with trainrt and torchrun on the same interpreter, and measures them."""

    def __init__(self, bench):
        self.bench = bench
        self.environment = environments.ready(TORCH)
        self.variables = {**environments.activated(TORCH, self.environment), "OMP_NUM_THREADS": "1"}
        self.python = self.environment / "bin/python3"

    def command(self, name, ranks, script, *words):
        program = [FOLDER / script, *map(str, words)]
        if name == "torchrun":
            return [self.environment / "bin/torchrun", "--nproc-per-node", ranks, "--max-restarts", 1, *program]
        return [TRAINRT, "-n", ranks, "--", self.python, *program]

    def job(self, name, ranks, script, *words):
        command = self.command(name, ranks, script, *words)
        self.bench.note_command(f"{name} {script}", [str(word) for word in command])
        return harness.Job(command, env=self.variables, cwd=self.bench.fresh(f"{name}.cwd"))

    def start_s(self, name, ranks):
        out = self.bench.fresh("starts")
        start = time.time()
        job = self.job(name, ranks, "program_starts.py", out, 0)
        _ended_well(job)
        return max(_first_lines(out, ranks, 1, job)) - start

    def restart_s(self, name):
        out = self.bench.fresh("starts")
        job = self.job(name, 2, "program_starts.py", out, 300)
        _first_lines(out, 2, 1, job)
        victim = next(pid for pid in harness.processes_with(job.token) if harness.environment_of(pid).get("RANK") == "1")
        start = time.time()
        harness.kill([victim])
        took = max(_first_lines(out, 2, 2, job)) - start
        job.end()
        return took

    def step_ms(self, name):
        job = self.job(name, 2, "program_ddp.py", TRAIN_S)
        _ended_well(job)
        return float(re.search(r"step_ms ([0-9.]+)", job.out)[1])

    def interpreter_s(self):
        return self.bench.run("interpreter", [self.python, "-c", "pass"])[0]

    def cost_of_a_rank(self):
        """Returns the share of a core and the PSS in MB, as means over the ranks while the programs train."""
        job = self.job("trainrt", 2, "program_ddp.py", 2 * TRAIN_S)
        job.wait_for("training", START_LIMIT_S)
        ranks = list(job.ranks().values())
        before = [_cpu_s(pid) for pid in ranks]
        time.sleep(TRAIN_S)
        share = sum(_cpu_s(pid) - earlier for pid, earlier in zip(ranks, before)) / TRAIN_S / len(ranks)
        memory = sum(_pss_mb(pid) for pid in ranks) / len(ranks)
        _ended_well(job)
        return share, memory


def failed_binds(bench, starts):
    """Starts the program `starts` times; returns the number of failed starts."""
    thief = harness.Job([PYTHON, FOLDER / "port_thief.py"])
    thief.wait_for("ready", START_LIMIT_S)
    folder = bench.fresh("binds")

    def ended_well(number):
        command = [TRAINRT, f"--run.name=start{number}", "--failure.max_failures=0", "--", PYTHON, FOLDER / "program_binds.py"]
        return harness.Job(command, cwd=folder).wait(START_LIMIT_S) == 0

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
        failed = list(threads.map(ended_well, range(starts))).count(False)
    thief.end()
    return failed


def _ended_well(job):
    code = job.wait(START_LIMIT_S)
    harness.check(code == 0, f"exit {code}", job)


def _first_lines(out, ranks, count, job):
    """Waits until each rank has started `count` times; returns the time of that start for each rank."""
    def times():
        lines = [(out / str(rank)).read_text().split("\n")[:-1] if (out / str(rank)).exists() else [] for rank in range(ranks)]
        return [float(each[count - 1]) for each in lines if len(each) >= count]

    harness.wait_until(lambda: len(times()) == ranks, START_LIMIT_S, f"start {count} of {ranks} ranks", job)
    return times()


def _cpu_s(pid):
    fields = Path(f"/proc/{pid}/schedstat").read_text().split()
    own = int(fields[0])
    for task in Path(f"/proc/{pid}/task").iterdir():
        if task.name != str(pid):
            own += int((task / "schedstat").read_text().split()[0])
    return own / 1e9


def _pss_mb(pid):
    return int(re.search(r"^Pss: +(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)[1]) * 1024 / 1e6


# ---- the parts of the benchmark: one function for each PART of the command line ---------------------------------------------------


def start(bench, launchers):
    for ranks, repetitions in ((2, 7), (8, 5)):
        figures = bench.interleaved(repetitions, {f"{name}_start_{ranks}_s": lambda name=name: launchers.start_s(name, ranks)
                                                  for name in ("trainrt", "torchrun")})
        bench.claim(f"start_{ranks}_ranks_vs_torchrun", ratio(figures[f"trainrt_start_{ranks}_s"], figures[f"torchrun_start_{ranks}_s"]), "<=", 1)


def step(bench, launchers):
    figures = bench.interleaved(5, {f"{name}_step_ms": lambda name=name: launchers.step_ms(name) for name in ("trainrt", "torchrun")})
    bench.claim("ddp_step_vs_torchrun", ratio(figures["trainrt_step_ms"], figures["torchrun_step_ms"]), "<=", 1.01)


def restart(bench, launchers):
    figures = bench.interleaved(5, {"interpreter_s": launchers.interpreter_s, "trainrt_restart_s": lambda: launchers.restart_s("trainrt"),
                                    "torchrun_restart_s": lambda: launchers.restart_s("torchrun")})
    bench.claim("restart_less_interpreter_s", median(figures["trainrt_restart_s"]) - median(figures["interpreter_s"]), "<=", 1)


def python(bench):
    figures = bench.interleaved(9, {"trainrt_python_start_s": lambda: python_start_s(bench, [TRAINRT, "-n", 2, "--"]),
                                    "bare_python_start_s": lambda: python_start_s(bench, None)})
    bench.claim("start_2_ranks_vs_bare_python", ratio(figures["trainrt_python_start_s"], figures["bare_python_start_s"]), "<=", 8)


def python_start_s(bench, launcher):
    """Returns the seconds until both ranks have printed their first line, started by `launcher` or, if that is None, as two processes."""
    out = bench.fresh("starts")
    script = [PYTHON, FOLDER / "program_starts.py", out, "0"]
    start = time.time()
    jobs = [harness.Job([*launcher, *script], cwd=bench.fresh("python.cwd"))] if launcher else [
        harness.Job(script, env={"RANK": str(rank)}) for rank in range(2)]
    for job in jobs:
        _ended_well(job)
    return max(_first_lines(out, 2, 1, jobs[0])) - start


def port(bench, starts):
    name = f"failed_binds_of_{starts}"
    began = time.monotonic()
    figures = bench.interleaved(1, {name: lambda: failed_binds(bench, starts)})
    bench.record["figures"]["seconds_of_all_starts"] = time.monotonic() - began
    bench.claim(name, figures[name][0], "<=", 0)


def cost(bench, launchers):
    costs = [launchers.cost_of_a_rank() for _ in range(3)]
    bench.record["figures"]["share_of_a_core_and_pss_mb"] = costs
    bench.claim("share_of_a_core_a_rank", median(share for share, _ in costs), "<=", 0.001)
    bench.claim("pss_mb_a_rank", median(memory for _, memory in costs), "<=", 30)


def main():
    parts = {"python": lambda: python(bench), "start": lambda: start(bench, launchers()), "step": lambda: step(bench, launchers()), "restart": lambda: restart(bench, launchers()),
             "port": lambda: port(bench, options.starts), "cost": lambda: cost(bench, launchers())}
    arguments = argparse.ArgumentParser(prog="bench_program.py BUILD")
    arguments.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    arguments.add_argument("--starts", type=int, default=500, help="number of starts of the part `port`")
    options = arguments.parse_args(WORDS)
    if unknown := set(options.parts) - set(parts):
        arguments.error(f"unknown part {', '.join(sorted(unknown))}; valid parts: {', '.join(parts)}")
    need(TRAINRT, "trainrt")
    bench = Bench("program", __doc__.strip())
    launchers = functools.cache(lambda: Launchers(bench))
    try:
        for name, measure in parts.items():
            if name in options.parts or not options.parts:
                measure()
    except harness.Failure as failure:
        sys.exit(f"program: {failure}")
    bench.finish()


main()
