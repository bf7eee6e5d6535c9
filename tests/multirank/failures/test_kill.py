#!/usr/bin/python3
"""All ranks of one run are killed by SIGKILL at 20 random moments, and then in each phase that the random kills missed. The same command
continues the run each time, and it ends with the same bits as an uninterrupted run."""
import random
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

RANKS = 2
RANDOM_KILLS = 20
LOOP = {"epochs": 120, "batch_size": 16, "step_pause": 0.001, "report_every": 4, "dropout": 0.1, "optimizer": "adamw"}
DATA = {"samples": 320, "features": 64}  # 10 steps per epoch: 1200 steps, REPORTS reports
REPORTS = 300
EVERY = "2 reports"


def phases():
    """Returns all phases of a run in order; those of a save are read from src/checkpoint/save/phases.hpp."""
    text = (SOURCE / "src/checkpoint/save/phases.hpp").read_text()
    saving = re.findall(r"^  (\w+),", text[text.index("enum class Phase"):text.index("};")], re.M)
    return ["start", "claimed", "replace", "load", "step", "report", "append", "reported", *saving, "finish", "close", "exit"]


LAST = ("finish", "close", "exit")  # phases that occur once, at the end of the run


class Table:
    """Counts the kills in each phase of rank 0."""

    def __init__(self):
        self.at_random = dict.fromkeys(phases(), 0)
        self.on_purpose = dict.fromkeys(phases(), 0)

    def missed(self):
        return [phase for phase in phases() if not self.at_random[phase] + self.on_purpose[phase]]

    def print(self):
        print(f"     {'killed in phase':<18} {'at random':>9} {'on purpose':>10}")
        for phase in phases():
            print(f"     {phase:<18} {self.at_random[phase]:>9} {self.on_purpose[phase]:>10}")


def check_was_killed(job):
    code = job.wait(30)
    check_exit_after_kill(job, code)


def kill_at_random(config, table, longest, last_report):
    """Kills all ranks after a random time of at most `longest` seconds, or as soon as the run has made `last_report` reports."""
    phase_file = scratch() / "phase"
    job = start_ranks(RANKS, config, first_env={"TRAINRT_PHASE_FILE": phase_file})
    pids = job.wait_for_ranks(RANKS)
    moment = time.monotonic() + random.uniform(0, longest)
    wait_until(lambda: time.monotonic() >= moment or report_count(run_dir_of(config)) >= last_report or job.ended(), longest + 30, "the kill", job)
    check(not job.ended(), "the run ended before it could be killed: make it longer", job)
    kill(pids.values())
    check_was_killed(job)
    phase = phase_file.read_text().strip() if phase_file.exists() else ""
    if phase:  # a rank that was killed before main() has no phase
        check(phase in table.at_random, f"unknown phase {phase!r}")
        table.at_random[phase] += 1


def kill_in(phase, config, table):
    times = 1 if phase in ("start", "claimed", "load", "retired", "deleted", *LAST) else random.randint(1, 3)
    job = start_ranks(RANKS, config, first_env={"TRAINRT_STOP_AT": f"{phase}:{times}"})
    wait_until(lambda: job.ended() or is_stopped(job.ranks().get(0, 0)), 60, f"rank 0 to reach the phase {phase}, {times} time(s)", job)
    check(not job.ended(), f"the phase {phase} was not reached {times} times", job)
    kill(job.ranks().values())
    check_was_killed(job)
    table.on_purpose[phase] += 1


def uninterrupted(folder):
    """Runs without a kill; returns the config, the seconds until the first report, and the seconds from then to the end."""
    config = linear_config(folder, "whole", LOOP, DATA, {"every": EVERY})
    start = time.monotonic()
    job = start_ranks(RANKS, config)
    wait_for_reports(run_dir_of(config), 1, job)
    started = time.monotonic()
    job.code = job.wait(120)
    check_exit(job, FINISHED)
    return config, started - start, time.monotonic() - started


@test
def kill_9_at_any_moment_leaves_the_same_bits():
    seed = random.randrange(10**6)
    random.seed(seed)
    folder = scratch()
    whole, start_s, run_s = uninterrupted(folder)
    config = linear_config(folder, "killed", LOOP, DATA, {"every": EVERY})
    run_dir = run_dir_of(config)
    table = Table()
    try:
        for number in range(1, RANDOM_KILLS + 1):
            kill_at_random(config, table, start_s + run_s / RANDOM_KILLS, number * REPORTS // (2 * RANDOM_KILLS))
        equal(run_state(run_dir) if (run_dir / "run.json").exists() else "running", "running", "state after the random kills")
        for phase in table.missed():
            kill_in(phase, config, table)
        kills = [attempt["exit_code"] for attempt in attempts(run_dir)]
        check(len(kills) > RANDOM_KILLS / 2, f"only {len(kills)} attempts wrote a record")
        last = run_ranks(RANKS, config, timeout=120)
        check_exit(last, FINISHED)
    except Failure as failure:
        raise Failure(f"(seed {seed}) {failure}") from None
    finally:
        table.print()
    equal(table.missed(), [], "phases without a kill")
    check_iterations(run_dir)
    check_same_bits(run_dir, run_dir_of(whole))
    check_verifies(run_dir)
    check_no_debris(run_dir, keep=2)


main()
