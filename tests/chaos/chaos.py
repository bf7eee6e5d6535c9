#!/usr/bin/python3
"""Disturbs runs by seeded plans, and checks after each that no work was lost.

  chaos.py BUILD [--seed N] [--plans N] [--plan N] [--json PLAN] [--time SECONDS]

A plan depends only on the seed and its number, so --seed 7 --plan 31 repeats a plan. --json takes a plan as printed, which may be
edited.
"""
import argparse
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "support"), str(Path(__file__).resolve().parent)]
from arena import Arena  # noqa: E402
from broken_run import BrokenRun, Event  # noqa: E402
from checks import check_plan  # noqa: E402
from disturbances import DOERS  # noqa: E402
from harness import BUILD, Failure, Skipped, attempts  # noqa: E402
from plans import make_plan, plan_of  # noqa: E402


class Tally:
    """Counts the disturbances and results of all plans."""

    def __init__(self):
        self.kinds, self.late, self.skipped = Counter(), 0, Counter()
        self.passed, self.missed, self.by_hand = 0, [], 0

    def line(self):
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.kinds.items()))
        extra = f"; {self.late} came after the end of the run" if self.late else ""
        return (f"chaos: {self.passed + len(self.missed)} plans, {sum(self.kinds.values())} disturbances ({kinds}){extra}; started by hand "
                f"{self.by_hand} times; {len(self.missed)} misses")


def carry_out(broken):
    """Carries out all disturbances of the plan, each at its moment."""
    disturbances = broken.plan.disturbances
    broken.stop_next_start_in(disturbances[0].when)
    broken.submit()
    for index, each in enumerate(disturbances):
        if not broken.wait_for_moment(each.when):
            broken.late += disturbances[index:]
            return
        if index + 1 < len(disturbances):
            broken.stop_next_start_in(disturbances[index + 1].when)
        disturb(broken, each)


def disturb(broken, each):
    now, ranks, attempt_count, safe_step = time.time(), set(broken.ranks().values()), len(attempts(broken.run_dir)), broken.safe_step()
    try:
        done = DOERS[each.kind](broken, **each.options)
    except Skipped as reason:
        broken.skipped.append((each.kind, str(reason)))
        return
    if done:
        broken.old_ranks |= ranks if each.ends_attempt() else set()
        broken.events.append(Event(now, each, done, attempt_count, safe_step))
    else:
        broken.late.append(each)


def run_plan(arena, plan, tally):
    """Runs and checks one plan; returns whether all checks passed."""
    begin = time.monotonic()
    broken, kept = None, False
    try:
        arena.settle()
        arena.quiet(plan)
        broken = BrokenRun(arena, plan)
        carry_out(broken)
        broken.finish()
        check_plan(broken)
        kept = True
    except Failure as failure:
        print_miss(arena, plan, broken, str(failure))
    except Exception:  # noqa: BLE001  an error of the harness also counts as a miss, and the next plan follows
        print_miss(arena, plan, broken, traceback.format_exc())
    if broken is not None:
        count(tally, broken)
        broken.tear_down()
    if kept:
        notes = "".join(f", {count} {label}" for label, count in (("by hand", len(broken.by_hand)), ("late", len(broken.late))) if count)
        print(f"ok {plan} ({time.monotonic() - begin:.1f} s{notes})")
        broken.clear()
    return kept


def count(tally, broken):
    tally.kinds.update(event.disturbance.kind for event in broken.events)
    tally.skipped.update(broken.skipped)
    tally.late += len(broken.late)
    tally.by_hand += len(broken.by_hand)


def print_miss(arena, plan, broken, why):
    print(f"FAILED {plan}: {why}\n    as JSON: {plan.as_json()}\n    again:   make chaos SEED={plan.seed} PLAN={plan.number}")
    if broken is None:
        return
    for event in broken.events:
        print(f"    {time.strftime('%H:%M:%S', time.gmtime(event.time))} {event.text}")
    if broken.by_hand:
        print(f"    started by hand after: {', '.join(broken.by_hand)}")
    print("\n".join("    | " + line for line in broken.output().splitlines()[-60:]))
    print(f"    kept in {arena.keep(plan, broken.run_dir, broken.folder)}")


def run_plans(plans, arena, time_s=None):
    """Runs the plans until `time_s` seconds have passed; returns the tally."""
    tally, end = Tally(), time.monotonic() + (time_s or 1e9)
    try:
        arena.up()
        for plan in plans:
            if time.monotonic() > end:
                print(f"time limit reached before plan {plan.number}")
                break
            if run_plan(arena, plan, tally):
                tally.passed += 1
            else:
                tally.missed.append(plan.number)
                arena.renew()
    finally:
        arena.down()
    return tally


def print_report(tally):
    for (kind, reason), times in tally.skipped.items():
        print(f"skipped: {kind} ({times} times): {reason}")
    print(tally.line())
    print(f"{tally.passed} passed, {len(tally.missed)} failed")


def main():
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 100000)
    parser.add_argument("--plans", type=int, default=20)
    parser.add_argument("--plan", type=int)
    parser.add_argument("--json")
    parser.add_argument("--time", type=float)
    given = parser.parse_args()
    numbers = [given.plan] if given.plan is not None else range(given.plans)
    plans = [plan_of(given.json)] if given.json else (make_plan(given.seed, number) for number in numbers)
    print(f"chaos: seed {given.seed}" if not given.json else "chaos: a plan given as JSON")
    try:
        tally = run_plans(plans, Arena("chaos", BUILD / "chaos"), given.time)
    except Skipped as reason:
        print(f"skipped: {reason}\n0 passed, 0 failed")
        return
    print_report(tally)
    sys.exit(1 if tally.missed else 0)


if __name__ == "__main__":
    main()
