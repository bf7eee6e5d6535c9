#!/usr/bin/python3
"""Runs trainings with a fixed number of workers on different numbers of CPUs and nodes. Each run must have the digests after each epoch and the
results of an undisturbed run.

  same_bits.py BUILD [--workers N] [--kinds NAME,NAME] [--seed N] [--schedules N] [--schedule N] [--time SECONDS] [--no-slurm]

Each kind of training runs undisturbed on each share (some CPUs or nodes), and disturbed by schedules that resize, kill and requeue it.
A schedule depends only on the seed, its number and the shares; the exact moments of its events vary. --schedules 0: no schedule. --schedule N: only this one.
"""
import argparse
import random
import sys
import time
import traceback
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "support"), str(Path(__file__).resolve().parent)]
from cluster import Cluster  # noqa: E402
from harness import Failure, Skipped, attempts, check, equal, run_dir_of, run_state, scratch, wait_until  # noqa: E402
from shares import NODE_COUNTS, cpu_shares, node_shares  # noqa: E402
from worker_kinds import KINDS, can_run  # noqa: E402


class Proof:
    """Runs of one number of workers. The undisturbed run to compare with is made once per kind, on the largest share."""

    def __init__(self, workers, shares):
        self.workers, self.shares = workers, shares
        self._references = {}

    def reference(self, name):
        """Returns (digests, results) of an undisturbed run."""
        if name not in self._references:
            self._references[name] = self._undisturbed(name, max(self.shares, key=lambda share: share.cpus))
        return self._references[name]

    def _undisturbed(self, name, share):
        kind = KINDS[name]
        config = kind.config(scratch(), "run")
        share.finish(share.start(config, self.workers))
        self._check_records(config)
        return kind.digests(config), kind.results(config)

    def _check_records(self, config):
        equal(run_state(run_dir_of(config)), "finished", "state of the run")
        equal({attempt["ranks"] for attempt in attempts(run_dir_of(config))}, {self.workers}, "numbers of ranks")

    def compare(self, name, digests, results):
        """Checks that the digests of each epoch and the results are those of the undisturbed run. Returns the number of digests."""
        expected, wanted = self.reference(name)
        equal({key: found for key, found in digests.items() if key in expected}, expected, "digests after each epoch")
        equal(results, wanted, "results")
        check(len(expected) >= 3, f"only {len(expected)} epochs")
        return len(expected)

    def on_share(self, name, share):
        """Compares an undisturbed run on one share."""
        return self.compare(name, *self._undisturbed(name, share))

    def by_schedule(self, name, schedule):
        """Compares a run that a schedule disturbs. Returns (number of digests, events that took place)."""
        self.reference(name)
        kind, done = KINDS[name], []
        config = kind.config(scratch(), "run")
        for share, events in schedule.segments:
            job = share.start(config, self.workers)
            for event, after_epochs in events:
                target = kind.epochs_done(config) + after_epochs
                wait_until(lambda: kind.epochs_done(config) >= target or share.has_ended(job), 900, f"epoch {target} on {share.name}", job)
                time.sleep(schedule.draws.uniform(0, 0.2))
                if share.disturb(job, event, schedule.draws):
                    done.append(event)
            share.finish(job)
            if run_dir_of(config).exists() and run_state(run_dir_of(config)) == "finished":
                break
        self._check_records(config)
        return self.compare(name, kind.digests(config), kind.results(config)), done


class Schedule:
    """Two to four segments, each on another share. All but the last one end by an event that ends their job."""

    def __init__(self, seed, number, shares):
        self.draws = random.Random(f"{seed}:{number}")
        places = [self.draws.choice(shares)]
        while len(places) < self.draws.randint(2, 4):
            places.append(self.draws.choice([share for share in shares if share is not places[-1]] or shares))
        self.segments = [(share, self._events(share, share is places[-1] and index == len(places) - 1)) for index, share in enumerate(places)]

    def _events(self, share, is_last):
        events = [(self.draws.choice(share.EVENTS), self.draws.randint(1, 2))] if self.draws.random() < 0.4 else []
        return events if is_last else [*events, (self.draws.choice(share.ENDS), self.draws.randint(1, 3))]

    def __str__(self):
        return "; ".join(f"{share.name}: {', '.join(event for event, _ in events) or 'to the end'}" for share, events in self.segments)


def attempt(label, function, *arguments):
    """Calls the function and prints its result as a line of a table. Returns whether it succeeded."""
    begin = time.monotonic()
    try:
        found, ok = function(*arguments), True
    except Skipped as reason:
        found, ok = f"skipped: {reason}", True
    except Failure as failure:
        found, ok = f"MISS: {failure}", False
    except Exception:  # noqa: BLE001  an error of one run must not hide the others
        found, ok = f"ERROR: {traceback.format_exc()}", False
    count, events = found if isinstance(found, tuple) else (found, [])
    text = f"{count} digests equal" if isinstance(count, int) else count
    print(f"| {label} | {', '.join(events)} | {text} | {time.monotonic() - begin:.1f} s |", flush=True)
    return ok


def prove(proof, kinds, arguments):
    """Makes the runs until the time is over; returns (runs, misses). Each round has one undisturbed run and one schedule of each kind."""
    end, results = time.monotonic() + arguments.time, []
    shares = [] if arguments.schedule is not None else proof.shares
    turns = [arguments.schedule] if arguments.schedule is not None else range(max(arguments.schedules, len(shares)))
    for turn in turns:
        for name in kinds:
            if turn < len(shares) and time.monotonic() < end:
                share = shares[-1 - turn]
                results.append(attempt(f"{name} | undisturbed on {share.name}", proof.on_share, name, share))
            if (turn < arguments.schedules or turns == [turn]) and time.monotonic() < end:
                schedule = Schedule(arguments.seed, f"{turn}:{name}", proof.shares)
                results.append(attempt(f"{name} | {turn}: {schedule}", proof.by_schedule, name, schedule))
    return len(results), results.count(False)


def main():
    parser = argparse.ArgumentParser(prog="same_bits.py BUILD")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--schedules", type=int, default=50)
    parser.add_argument("--schedule", type=int)
    parser.add_argument("--time", type=float, default=1e9)
    parser.add_argument("--no-slurm", action="store_true")
    arguments = parser.parse_args(sys.argv[2:])
    reasons = {name: can_run(name, scratch()) for name in arguments.kinds.split(",")}
    for name, reason in reasons.items():
        if reason:
            print(f"skipped: {name}: {reason}")
    cluster = None if arguments.no_slurm else Cluster("shares")
    try:
        if cluster:
            cluster.up(max(NODE_COUNTS), "--cpus", "2")
        proof = Proof(arguments.workers, [*cpu_shares(), *(node_shares(cluster) if cluster else [])])
        count, misses = prove(proof, [name for name, reason in reasons.items() if not reason], arguments)
    except Skipped as reason:
        sys.exit(f"skipped: {reason}")
    finally:
        if cluster:
            cluster.down()
    print(f"same bits: {count} runs of {arguments.workers} workers, seed {arguments.seed}; {misses} misses")
    sys.exit(1 if misses else 0)


if __name__ == "__main__":
    main()
