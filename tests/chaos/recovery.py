#!/usr/bin/python3
"""Disturbs runs with failure.recovery = live on this machine. Each run must end with the state and the reports of an undisturbed run.

  recovery.py BUILD [--kinds NAME,NAME] [--seed N] [--runs N] [--kills N] [--time SECONDS]

Each run is disturbed by random events until `--kills` processes were killed in it. The events of a run depend only on the seed, the number of the
run and its kind; their exact moments vary. Every tenth run has too little memory for its copies, or a full /dev/shm.
"""
import argparse
import random
import re
import sys
import textwrap
import time
import traceback
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "support")]
from harness import (FINISHED, TRAINRT, Failure, Job, Skipped, check, check_iterations, check_same_bits, is_standby, kill, linear_config, own_mount,  # noqa: E402
                     processes_with, run_dir_of, scratch, signal, wait_until)
from runs.memory_copies import Copies  # noqa: E402
from runs.program_runs import program_config, programs  # noqa: E402

CONTINUES = "continuing from the copy of the State in memory"
MEMORY = {"recovery": "live", "max_failures": 1000000, "max_no_progress": 0}
PROGRAM = """
    import time, numpy, trainrt
    ctx = trainrt.context()
    weights = numpy.zeros(2_000_000)
    state = trainrt.State()
    state.tensor("model/weights", weights)
    state["epoch"] = state["batch"] = 0
    ctx.restore(state)
    while state["epoch"] < ctx.config("epochs", int):
        while state["batch"] < 5:
            gradient = numpy.random.default_rng(ctx.step_seed).normal(size=1000)
            ctx.all_reduce(gradient, "mean")
            weights[:1000] += gradient
            weights[1000:] += gradient[0]
            state["batch"] += 1
            time.sleep(0.005)
            ctx.step()
        state["epoch"], state["batch"] = state["epoch"] + 1, 0
        ctx.report({"size": float(numpy.abs(weights).sum())})
    ctx.save()
"""


def linear(folder, kills):
    loop = {"epochs": 12 + 6 * kills, "batch_size": 16, "step_pause": 0.004, "report_every": 4, "dropout": 0.1, "optimizer": "adamw"}
    return linear_config(folder, "run", loop, {"samples": 320, "features": 4000}, {"every": "2 s"}, failure=MEMORY)


def numpy(folder, kills):
    script = folder / "train.py"
    script.write_text(textwrap.dedent(PROGRAM))
    return program_config(f"/usr/bin/python3 {script}", "run", {"epochs": 30 + 12 * kills}, {"every": "2 s"}, folder=folder, failure=MEMORY)


KINDS = {"linear": (linear, 2), "linear4": (linear, 4), "numpy": (numpy, 2)}


class Run:
    """A run that is being disturbed."""

    def __init__(self, name, kills, prefix=(), words=()):
        config, self.ranks = KINDS[name]
        self.has_programs = config is numpy
        self.config = config(scratch(), kills)
        self.job = Job([*prefix, TRAINRT, "-n", self.ranks, "--config", self.config, *words], env={"OMP_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1})
        self.copies = Copies(self.job)

    def standbys(self):
        return [pid for pid in processes_with(self.job.token) if is_standby(pid)]

    def ranks_running(self):
        """Returns the processes of the ranks by rank, without the process that starts them."""
        return {rank: pid for rank, pid in self.job.ranks().items() if pid != self.job.process.pid}

    def some_rank(self, draws):
        return self._one_of(draws, self.ranks_running)

    def some_process(self, draws):
        """Returns the process of a rank or of its program."""
        return self._one_of(draws, lambda: programs(self.job)) if self.has_programs and draws.random() < 0.5 else self.some_rank(draws)

    def _one_of(self, draws, find):
        found = {}
        wait_until(lambda: found.update(find()) or found or self.job.ended(), 60, "processes", self.job)
        return found[draws.choice(sorted(found))] if found else None

    def await_copies(self):
        wait_until(lambda: self.copies.is_in_use() or self.job.ended(), 60, "a copy", self.job)


def kill_process(run, draws):
    return [run.some_process(draws)]


def kill_two(run, draws):
    return [run.some_process(draws), run.some_process(draws)]


def kill_all(run, draws):
    return list(run.ranks_running().values())


def kill_standby(run, draws):
    return run.standbys()[:1]


def kill_standby_and_rank(run, draws):
    return [*run.standbys()[:1], run.some_rank(draws)]


def stop_standby_and_kill_rank(run, draws):
    kill(run.standbys()[-1:], signal.SIGSTOP)
    return [run.some_rank(draws)]


def freeze_and_kill(run, draws):
    frozen = run.some_rank(draws)
    kill([frozen], signal.SIGSTOP)
    time.sleep(draws.uniform(0, 0.1))
    return [draws.choice([frozen, run.some_rank(draws)])]


def freeze(run, draws):
    frozen = run.some_process(draws)
    kill([frozen], signal.SIGSTOP)
    time.sleep(draws.uniform(0, 0.3))
    kill([frozen], signal.SIGCONT)
    return []


def kill_in_copy(run, draws):
    rank = draws.randrange(run.ranks)
    victim = run.ranks_running().get(rank)
    limit = time.monotonic() + 0.5
    while not run.copies.is_being_written(rank) and time.monotonic() < limit:
        pass
    return [victim]


def kill_in_recovery(run, draws):
    """Kills a rank, and once more while the run recovers."""
    first = run.some_rank(draws)
    kill([first])
    time.sleep(draws.uniform(0, 0.12))
    return [first, *list(run.ranks_running().values())[:1]]


EVENTS = [kill_process, kill_process, kill_two, kill_all, kill_standby, kill_standby_and_rank, stop_standby_and_kill_rank, freeze_and_kill, freeze,
          kill_in_copy, kill_in_copy, kill_in_recovery, kill_in_recovery]


def disturb(run, kills, draws, end):
    """Disturbs the run until `kills` processes were killed, or until the time `end`, but with at least one event. The first event kills one process.
    Returns (number of killed processes, names of the events)."""
    killed, events = 0, []
    while killed < kills and not (events and time.monotonic() > end):
        run.await_copies()
        time.sleep(draws.uniform(0, 0.6))
        if run.job.ended():
            break
        event = draws.choice(EVENTS) if events else kill_process
        victims = {pid for pid in event(run, draws) if pid}
        kill(victims)
        killed += len(victims)
        events.append(event.__name__)
    return killed, events


class Proof:
    def __init__(self, kills, seconds):
        self.kills, self.killed, self.recoveries, self.end = kills, 0, 0, time.monotonic() + seconds
        self._references = {}

    def reference(self, name):
        if name not in self._references:
            run = Run(name, self.kills, words=("--failure.recovery=restart",))
            check(run.job.wait(300) == FINISHED, "the undisturbed run failed", run.job)
            self._references[name] = run_dir_of(run.config)
        return self._references[name]

    def compare(self, run, name):
        run_dir = run_dir_of(run.config)
        check_iterations(run_dir)
        check_same_bits(run_dir, self.reference(name))

    def disturbed(self, name, draws, shortage):
        self.reference(name)
        prefix = own_mount("/dev/shm", "size=64k") if shortage == "full /dev/shm" else ()
        words = ("--failure.memory=1 KiB",) if shortage == "failure.memory = 1 KiB" else ()
        run = Run(name, self.kills, prefix, words)
        kills = 2 if words else self.kills
        if words:  # no copies: the run continues from checkpoints
            run.await_copies = lambda: wait_until(lambda: run.ranks_running() or run.job.ended(), 60, "ranks", run.job)
        killed, events = disturb(run, kills, draws, self.end)
        check(run.job.wait(300) == FINISHED, f"the run failed after {', '.join(events)}", run.job)
        self.compare(run, name)
        recoveries = len(re.findall(CONTINUES, run.job.err))
        check(recoveries > 0 or words, f"no recovery from a copy after {', '.join(events)}", run.job)
        self.killed += killed
        self.recoveries += recoveries
        run.job.end()
        return f"{killed} | {recoveries} | {', '.join(sorted(set(events)))}"


def attempt(label, function, *arguments):
    """Calls the function and prints its result as a line of a table. Returns "equal", "skipped" or "miss"."""
    begin, result = time.monotonic(), "miss"
    try:
        text, result = f"{function(*arguments)} | equal", "equal"
    except Skipped as reason:
        text, result = f"0 | 0 | skipped: {reason} | ", "skipped"
    except Failure as failure:
        text = f"MISS: {failure}"
    except Exception:  # noqa: BLE001  an error of one run must not hide the others
        text = f"ERROR: {traceback.format_exc()}"
    print(f"| {label} | {text} | {time.monotonic() - begin:.1f} s |", flush=True)
    return result


def prove(kinds, seed, runs, kills, seconds):
    """Makes the runs until the time is over, but at least one of each kind. Returns their results, as attempt() does."""
    proof, results = Proof(kills, seconds), []
    print("| run | killed processes | recoveries from a copy | events | state and reports | time |\n|---|---|---|---|---|---|", flush=True)
    for number in range(runs):
        for name in kinds:
            if number > 0 and time.monotonic() > proof.end:
                break
            shortage = {4: "failure.memory = 1 KiB", 9: "full /dev/shm"}.get(number % 10, "")
            draws = random.Random(f"{seed}:{number}:{name}")
            results.append(attempt(f"{name} {number}{shortage and ': ' + shortage}", proof.disturbed, name, draws, shortage))
    print(f"recovery: {len(results)} runs, seed {seed}; {proof.killed} processes killed, {proof.recoveries} recoveries from a copy; {results.count('miss')} misses")
    return results


def main():
    parser = argparse.ArgumentParser(prog="recovery.py BUILD")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--time", type=float, default=1e9)
    arguments = parser.parse_args(sys.argv[2:])
    sys.exit("miss" in prove(arguments.kinds.split(","), arguments.seed, arguments.runs, arguments.kills, arguments.time))


if __name__ == "__main__":
    main()
