#!/usr/bin/python3
"""A few plans of the chaos harness (tests/chaos; `make chaos` runs as many as one likes): whatever is done to a run under Slurm, it
finishes with the bits of the run that nothing was done to, and its records tell the truth."""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("chaos", "support")]
from chaos import print_report, run_plans  # noqa: E402
from arena import Arena  # noqa: E402
from plans import make_plan  # noqa: E402
from harness import *  # noqa: E402,F403

SEED = 2137  # a rank killed, a signal, a damaged checkpoint, preempted, requeued while it loads, a node cut off
PLANS = (0, 1, 2)


@test
def chaos_leaves_no_trace_in_the_results():
    tally = run_plans([make_plan(SEED, number) for number in PLANS], Arena("chaos", BUILD / "chaos"))
    print_report(tally)
    check(not tally.missed, f"plans {tally.missed} of seed {SEED} went wrong, see above")


main()
