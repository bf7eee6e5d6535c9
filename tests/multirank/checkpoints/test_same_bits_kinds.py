#!/usr/bin/python3
"""The small form of `make same-bits`: 4 workers that are killed on 1 CPU and continue on 2 CPUs have the digests after each epoch and the
results of an undisturbed run. test_same_bits.py has `linear` and a NumPy program."""
import random
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / folder) for folder in ("chaos", "support")]
from same_bits import Proof, Schedule  # noqa: E402
from shares import cpu_shares  # noqa: E402
from worker_kinds import KINDS, can_run  # noqa: E402
from harness import *  # noqa: E402,F403

SHARES = cpu_shares()
PROOF = Proof(4, SHARES[:2])
SCRIPTS = ("ddp_gloo", "ddp_trainrt", "gpt", "xgboost")


def resized(kind):
    if len(SHARES) < 2:
        skip("needs 2 CPUs")
    reason = can_run(kind, scratch())
    if reason:
        skip(reason)
    KINDS[kind].epochs = 4 if kind != "xgboost" else 12
    schedule = Schedule(random.random(), kind, PROOF.shares)
    schedule.segments = [(SHARES[0], [("cancel", 2)]), (SHARES[1], [])]
    print(f"{kind}: {PROOF.by_schedule(kind, schedule)}")


add_test("FashionMNIST_has_the_same_bits_on_1_and_2_CPUs", resized, "fashion_mnist")


@test
def a_script_chosen_at_random_has_the_same_bits_on_1_and_2_CPUs():
    resized(random.choice(SCRIPTS))


main()
