#!/usr/bin/python3
"""Breaks sweeps by seeded plans, and checks after each that every trial ended once, with the bits of its config or its line run alone.

  sweeps.py BUILD [--seed N] [--plans N] [--plan N] [--time SECONDS]

A plan depends on the seed and its number only: --seed 7 --plan 31 breaks that one again. Moments of the kills are the machine's.
"""
import argparse
import random
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from sweeps import *  # noqa: E402,F403

TRIALS, EPOCHS = 6, 9
SCHEDULERS = {"fifo": {}, "asha": {"max_t": EPOCHS, "reduction_factor": 3}, "median": {"grace_period": 3}, "hyperband": {"max_t": EPOCHS},
              "pbt": {"perturbation_interval": 3}}


class Plan:
    """What is run, and how it is broken."""

    def __init__(self, seed, number):
        self.draws = random.Random(f"{seed}:{number}")
        self.scheduler = self.draws.choice(sorted(SCHEDULERS))
        self.processes, self.at_once, self.workers = self.draws.randint(1, 2), self.draws.randint(1, 2), self.draws.randint(1, 2)
        self.kinds = [self.draws.choice(["kill the sweep", "kill a rank", "stop the sweep"]) for _ in range(self.draws.randint(2, 5))]

    def __str__(self):
        return f"{self.scheduler}, {self.processes} processes with {self.at_once} trials at once of {self.workers} ranks: {', '.join(self.kinds)}"

    def config(self, folder):
        if self.scheduler == "pbt":
            made = {"epochs": 12, "step_pause": 0.004}
            return pbt_config(folder, loop=made, tune={"max_concurrent_trials": self.at_once, "workers": self.workers, "max_failures": 20})
        return sweep_config(folder, loop={"epochs": EPOCHS, "step_pause": 0.004},
                            tune={"num_samples": TRIALS, "scheduler": self.scheduler, "max_concurrent_trials": self.at_once, "workers": self.workers,
                                  "max_failures": 20}, **({f"tune.{self.scheduler}": SCHEDULERS[self.scheduler]} if SCHEDULERS[self.scheduler] else {}))


def disturb(kind, jobs, draws):
    """True if there was somebody to disturb."""
    alive = [job for job in jobs if not job.ended()]
    if not alive:
        return False
    if kind == "kill a rank":
        ranks = [pid for path in Path("/proc").glob("[0-9]*/environ") if (pid := trial_process(path, alive))]
        if not ranks:
            return False
        kill([draws.choice(sorted(ranks))])
        return True
    job = draws.choice(alive)
    if kind == "kill the sweep":
        kill([job.process.pid])
    else:
        job.process.send_signal(signal.SIGTERM)
    return True


def trial_process(path, jobs):
    """Of a trial of these, its number."""
    try:
        parent = int((path.parent / "stat").read_text().rsplit(")", 1)[1].split()[1])
        is_trial = b"TRAINRT_TRIAL=" in path.read_bytes()
    except (OSError, IndexError):
        return None
    return int(path.parent.name) if is_trial and parent in {job.process.pid for job in jobs} else None


def break_sweep(plan, config, tally):
    jobs = []
    for kind in plan.kinds:
        while sum(not job.ended() for job in jobs) < plan.processes:
            jobs.append(Job([TRAINRT, "tune", "--config", config]))
        time.sleep(plan.draws.uniform(0.1, 0.9))
        tally[kind if disturb(kind, jobs, plan.draws) else "came too late"] += 1
    for job in jobs:
        job.wait(120)


def carry_out(plan, tally):
    config = plan.config(scratch())
    break_sweep(plan, config, tally)
    job = tune(config, timeout=180)
    check_exit(job, 0)
    trials = check_each_once(config, TRIALS)
    if plan.scheduler == "pbt":
        check_clones(config, trials, plan.workers)
        return
    for trial in trials:
        check_iterations(trial["path"], trial["training_iteration"])
    finished = [trial for trial in trials if trial["state"] == "finished" and trial["training_iteration"] == EPOCHS]
    if finished:
        check_as_alone(config, max(finished, key=lambda trial: trial["attempts"]), plan.workers)


def main():
    arguments = argparse.ArgumentParser(prog="sweeps.py BUILD")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--plans", type=int, default=20)
    arguments.add_argument("--plan", type=int)
    arguments.add_argument("--time", type=float, help="seconds after which no further plan begins")
    options = arguments.parse_args(sys.argv[2:])
    tally, missed, began = Counter(), [], time.monotonic()
    numbers = [options.plan] if options.plan is not None else range(options.plans)
    done = 0
    for number in numbers:
        if options.time and time.monotonic() - began > options.time:
            break
        plan = Plan(options.seed, number)
        print(f"plan {number}: {plan}", flush=True)
        done += 1
        try:
            carry_out(plan, tally)
        except Exception:
            traceback.print_exc()
            missed.append(number)
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(tally.items()))
    print(f"sweeps: {done} plans ({kinds}); {len(missed)} misses {missed or ''}")
    return bool(missed)


sys.exit(main())
