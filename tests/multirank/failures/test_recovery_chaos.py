#!/usr/bin/python3
"""A short sample of `make chaos-recovery`: runs with copies in memory are disturbed at random, and end with the state and the reports of an
undisturbed run."""
import random
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "chaos")]
import recovery  # noqa: E402
from harness import *  # noqa: E402,F403


@test
def runs_that_are_killed_at_random_end_with_the_same_state_and_reports():
    seed = random.randrange(1_000_000)
    equal(recovery.prove(["linear", "numpy"], seed, 1, 3, 15), ["equal", "equal"], f"results of the two kinds with seed {seed}")


main()
