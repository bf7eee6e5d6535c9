#!/usr/bin/python3
"""Runs a few plans of the chaos harness (tests/chaos; `make chaos` runs any number). After all disturbances under Slurm, a run must finish
with the same bits as an undisturbed run, and its records must be correct."""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("chaos", "support")]
from chaos import print_report, run_plans  # noqa: E402
from arena import Arena  # noqa: E402
from plans import make_plan  # noqa: E402
from harness import *  # noqa: E402,F403

SEED = 2137  # a killed rank, a signal, a damaged checkpoint, a preemption, a requeue during a load, an isolated node
PLANS = (0, 1, 2)


@test
def disturbances_do_not_change_the_results():
    tally = run_plans([make_plan(SEED, number) for number in PLANS], Arena("chaos", BUILD / "chaos"))
    print_report(tally)
    check(not tally.missed, f"plans {tally.missed} of seed {SEED} failed, see above")


main()
