#!/usr/bin/python3
"""Disturbs sweeps by seeded plans. After each plan, every trial must have ended exactly once with the same bits as a single run.

  break_sweeps.py BUILD [--slurm] [--seed N] [--plans N] [--plan N] [--time SECONDS]

A plan depends only on the seed and its number, so --seed 7 --plan 31 repeats a plan. The exact moments of the kills vary.
"""
import argparse
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "support"), str(Path(__file__).resolve().parent)]
from sweep_places import Here, OnCluster  # noqa: E402
from runs.sweeps import *  # noqa: E402,F403

TRIALS, EPOCHS = 6, 9
SCHEDULERS = {"fifo": {}, "asha": {"max_t": EPOCHS, "reduction_factor": 3}, "median": {"grace_period": 3}, "hyperband": {"max_t": EPOCHS},
              "pbt": {"perturbation_interval": 3}}


class Plan:
    """A sweep and the disturbances of it."""

    def __init__(self, seed, number, place):
        self.draws = random.Random(f"{seed}:{number}")
        self.scheduler = self.draws.choice(sorted(SCHEDULERS))
        self.processes, self.at_once, self.workers = self.draws.randint(1, 2), self.draws.randint(1, 2), self.draws.randint(1, 2)
        self.slices = self.draws.random() < 0.4 and MPIEXEC is not None
        self.step_pause_s = place.STEP_PAUSE_S
        self.kinds = [self.draws.choice(place.KINDS) for _ in range(self.draws.randint(2, 5))]

    def __str__(self):
        return (f"{self.scheduler}, {self.processes} {'steps of slices' if self.slices else 'sweeps'} with {self.at_once} trials at once of "
                f"{self.workers} ranks: {', '.join(self.kinds)}")

    def config(self, folder):
        loop, tune = {"step_pause": self.step_pause_s}, {"max_concurrent_trials": self.at_once, "workers": self.workers, "max_failures": 20}
        if self.scheduler == "pbt":
            return pbt_config(folder, loop=loop, tune=tune)
        own = {f"tune.{self.scheduler}": SCHEDULERS[self.scheduler]} if SCHEDULERS[self.scheduler] else {}
        return sweep_config(folder, loop={"epochs": EPOCHS, **loop}, tune={"num_samples": TRIALS, "scheduler": self.scheduler, **tune}, **own)


def break_sweep(place, plan, config, tally):
    jobs = []
    for kind in plan.kinds:
        alive = [job for job in jobs if place.is_alive(job)]
        started = [place.start(config, plan) for _ in range(plan.processes - len(alive))]
        jobs += started
        time.sleep(plan.draws.uniform(0.1, 0.9) + place.START_S * bool(started))
        alive = [job for job in alive + started if place.is_alive(job)]
        tally[kind if alive and place.disturb(kind, alive, plan) else "too late"] += 1
    for job in jobs:
        place.wait(job)


def carry_out(place, plan, tally):
    config = plan.config(scratch())
    break_sweep(place, plan, config, tally)
    place.finish(config, plan)
    trials = check_each_once(config, TRIALS)
    if plan.scheduler == "pbt":
        check_clones(config, trials, plan.workers)
        return
    for trial in trials:
        check_iterations(trial["path"], trial["training_iteration"])
    finished = [trial for trial in trials if trial["training_iteration"] == EPOCHS and not trial.get("why")]
    if finished:
        check_as_alone(config, max(finished, key=lambda trial: trial["attempts"]), plan.workers)


def main():
    arguments = argparse.ArgumentParser(prog="break_sweeps.py BUILD")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--plans", type=int, default=20)
    arguments.add_argument("--plan", type=int)
    arguments.add_argument("--time", type=float, help="seconds after which no further plan starts")
    arguments.add_argument("--slurm", action="store_true", help="run the sweeps as jobs of the tests' Slurm")
    options = arguments.parse_args(sys.argv[2:])
    place = OnCluster() if options.slurm else Here()
    numbers = [options.plan] if options.plan is not None else range(options.plans)
    try:
        return bool(carry_out_all(options.seed, numbers, place, options.time)[1])
    finally:
        place.down()


def carry_out_all(seed, numbers, place, time_s=None):
    """Runs the plans; returns the count of each disturbance and the numbers of the failed plans. No plan starts after `time_s` seconds."""
    tally, missed, began = Counter(), [], time.monotonic()
    done = 0
    for number in numbers:
        if time_s and time.monotonic() - began > time_s:
            break
        plan = Plan(seed, number, place)
        print(f"plan {number}: {plan}", flush=True)
        done += 1
        try:
            carry_out(place, plan, tally)
        except Exception:
            traceback.print_exc()
            missed.append(number)
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(tally.items()))
    print(f"sweeps: {done} plans ({kinds}); {len(missed)} misses {missed or ''}")
    return tally, missed


if __name__ == "__main__":
    sys.exit(main())
