#!/usr/bin/python3
"""Runs a few plans of tests/chaos/break_sweeps.py, which disturbs sweeps (`make chaos-sweeps` runs more plans). Whichever process is killed or
stopped, every trial must end exactly once, with the same bits as a single run of its config."""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("chaos", "support")]
from break_sweeps import carry_out_all  # noqa: E402
from sweep_places import Here  # noqa: E402
from harness import *  # noqa: E402,F403

SEED = 2
PLANS = (0, 5, 6)  # median in two sweeps at once, a population of trials with two ranks, hyperband in slices


def setup():
    if MPIEXEC is None:
        skip("mpiexec.mpich is missing (package mpich)")


@test
def kills_and_stops_do_not_change_the_results_of_a_sweep():
    tally, missed = carry_out_all(SEED, PLANS, Here())
    equal(missed, [], f"failed plans; repeat with: make chaos-sweeps SEED={SEED} PLAN=N")
    check(tally.total() > tally["too late"], f"nothing was disturbed: {dict(tally)}")


main(setup)
