#!/usr/bin/python3
"""Plain MPI programs in C, linked against MPICH, as `train.program`: MPI_COMM_WORLD contains all ranks, and no rank waits for a program that
does not call MPI."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.plain_scripts import *  # noqa: E402,F403

PROGRAM = None


def setup():
    global PROGRAM
    PROGRAM = build_plain_mpi()


def ranks_are_one_world(ranks):
    config, out = plain_config(f"{PROGRAM} {{out}}")
    job = run_ranks(ranks, config, timeout=60)
    check_exit(job, FINISHED)
    check_one_world(out, ranks, [ranks] * ranks, job)


for count in (1, 2, 3):
    add_test(f"an_MPI_program_in_C_has_a_world_of_{count}_ranks", ranks_are_one_world, count)


@test
def ranks_of_trainrt_n_are_one_world():
    out = scratch("out")
    job = run([TRAINRT, "-n", 3, "--", PROGRAM, out], cwd=scratch())
    check_exit(job, FINISHED)
    check_one_world(out, 3, [3] * 3, job)


@test
def without_the_MPI_service_each_program_is_a_singleton():
    config, out = plain_config(f"{PROGRAM} {{out}}")
    job = run_ranks(2, config, "--program.env=torch", timeout=60)
    check_exit(job, FINISHED)
    equal([path.name for path in out.iterdir()], ["0.json"], "files of singletons", job)


@test
def a_rank_that_exits_without_MPI_ends_the_barrier_and_is_named():
    config, out = plain_config(f"/bin/sh -c '[ $RANK = 1 ] || exec {PROGRAM} {{out}}'")
    job = run_ranks(3, config, timeout=60)
    check_exit(job, FAILED)
    check("cannot complete an MPI barrier: the program of rank 1 has exited" in job.err, "the missing rank is not named", job)
    equal(list(out.iterdir()), [], "files", job)


@test
def MPI_Abort_ends_the_run_and_is_reported():
    config, out = plain_config(f"{PROGRAM} {{out}}/missing")
    job = run_ranks(2, config, timeout=60)
    check_exit(job, FAILED)
    check(re.search(r"the program of rank \d called MPI_Abort\(3\) and is killed", job.err), "the rank that called MPI_Abort", job)
    check("SIGSEGV" not in job.err, "the program continued after MPI_Abort", job)


main(setup)
