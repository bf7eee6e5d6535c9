#!/usr/bin/python3
"""The small form of `make same-bits`: 4 workers that are killed on 1 CPU and continue on 2 CPUs have the digests after each epoch and the
results of an undisturbed run. test_same_bits.py has `linear` and a NumPy program."""
import glob
import os
import random
import signal
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / folder) for folder in ("chaos", "support")]
from same_bits import Proof, Schedule  # noqa: E402
from shares import cpu_shares  # noqa: E402
from worker_kinds import KINDS, can_run  # noqa: E402
from runs.program_runs import *  # noqa: E402,F403

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


def cpu_seconds(pids):
    """Returns the CPU time of processes, by pid."""
    return {pid: sum(int(open(path).read().split()[0]) for path in glob.glob(f"/proc/{pid}/task/*/schedstat")) / 1e9 for pid in pids}


@test
def ranks_of_a_DDP_script_over_gloo_that_wait_for_another_rank_sleep():
    reason = can_run("ddp_gloo", scratch())
    if reason:
        skip(reason)
    config = KINDS["ddp_gloo"].config(scratch(), "run", epochs=100000)
    job = Job([TRAINRT, "-n", 4, "--config", config], env=ONE_THREAD)
    wait_until(lambda: KINDS["ddp_gloo"].epochs_done(config) > 0 or job.ended(), 120, "the first epoch", job)
    scripts = programs(job)
    os.kill(scripts[0], signal.SIGSTOP)
    time.sleep(2)
    waiting = [*(pid for rank, pid in scripts.items() if rank > 0), *(pid for rank, pid in job.ranks().items() if rank > 0)]
    before, begin = cpu_seconds(waiting), time.monotonic()
    time.sleep(4)
    shares = {pid: (seconds - before[pid]) / (time.monotonic() - begin) for pid, seconds in cpu_seconds(waiting).items()}
    kill([*scripts.values(), *job.ranks().values()])
    print(f"shares of a core: scripts {[round(shares[pid], 5) for pid in waiting[:3]]}, trainrt {[round(shares[pid], 5) for pid in waiting[3:]]}")
    check(max(shares.values()) < 0.02, f"a waiting process uses {max(shares.values()):.3f} of a core", job)


main()
