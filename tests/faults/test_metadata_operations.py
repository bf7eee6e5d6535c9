#!/usr/bin/python3
"""Counts the metadata operations of a checkpoint: calls of a rank on paths in the run directory, counted by a preloaded library, as the
difference between runs with few and with more checkpoints. The number per rank must not grow with the number of ranks."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

SHIM = BUILD / "tests/fault_shim.so"
RANKS = (1, 2, 4, 8)
FEW, MORE = 2, 6  # checkpoints
# Calls with a path. Calls on open files (pwrite, fsync, fallocate, fstat, close) are only printed.
BY_PATH = ("open", "openat", "openat2", "rename", "renameat", "renameat2", "link", "linkat", "mkdir", "mkdirat", "unlink", "unlinkat", "rmdir", "stat", "lstat",
           "fstatat", "access", "opendir")
BY_FILE = ("pwrite", "fsync", "fdatasync", "fallocate", "ftruncate", "fstat")
# Ranks except 0: one check whether the directory exists, one open of the shard, and a second open for bytes that direct I/O cannot
# write. On storage that shows directories late there are more checks; here the directory is visible at once.
MOST_OF_OTHERS = 4
MOST_OF_FIRST = 32
# Additional calls of rank 0 with many ranks compared with one: one for a file that several ranks share, and one for a heartbeat that all
# long runs contain and one short run does not. One call per rank would be 7 more with 8 ranks.
MORE_WITH_RANKS = 2


def setup():
    if MPIEXEC is None:
        skip("mpiexec.mpich is missing (package mpich)")
    if not SHIM.exists():
        skip("the library that counts calls was not built (builds with sanitizers leave it out)")


def counted_run(layout, ranks, count, retention):
    """Returns {rank: {call: number}} for a run with `count` checkpoints."""
    folder = scratch()
    config = linear_config(folder, "run", {"epochs": count, "batch_size": 8}, {"samples": 8 * ranks, "features": 4000}, {"layout": layout, "num_to_keep": retention})
    command = []
    for rank in range(ranks):
        command += [":"] * (rank > 0) + ["-n", "1", "env", f"LD_PRELOAD={SHIM}", f"TRAINRT_COUNT_CALLS={folder}/calls-{rank}", f"TRAINRT_COUNT_PATH={run_dir_of(config)}",
                                         TRAINRT, "--config", config]
    job = Job([MPIEXEC, *command])
    job.code = job.wait(90)
    check_exit(job, FINISHED)
    equal(len(checkpoints(run_dir_of(config))), min(count, retention or count), "checkpoints", job)
    return {rank: {name: int(number) for name, number in (line.split() for line in (folder / f"calls-{rank}").read_text().splitlines())} for rank in range(ranks)}


_least = {}


def least_calls(layout, ranks, count, retention, runs):
    """Returns the minimum of several runs, because heartbeats and waits depend on time and add calls to some runs."""
    for _ in range(runs):
        found = counted_run(layout, ranks, count, retention)
        known = _least.setdefault((layout, ranks, count, retention), found)
        for rank, calls in found.items():
            for name, number in calls.items():
                known[rank][name] = min(known[rank][name], number)
    return _least[layout, ranks, count, retention]


def calls_per_checkpoint(layout, ranks, retention=0, runs=2):
    """Returns (calls on paths, calls on open files) for each rank."""
    few, more = (least_calls(layout, ranks, count + retention, retention, runs) for count in (FEW, MORE))
    per = lambda rank, names: sum(more[rank][name] - few[rank][name] for name in names) / (MORE - FEW)
    return [(per(rank, BY_PATH), per(rank, BY_FILE)) for rank in range(ranks)]


_table = {}


def table():
    if not _table:
        print(f"     {'layout':<8} {'ranks':>5} {'rank 0: by path':>16} {'by file':>8} {'others, max: by path':>22} {'by file':>8}")
        for layout in ("rank", "node", "single"):
            for ranks in RANKS:
                found = _table[layout, ranks] = calls_per_checkpoint(layout, ranks)
                others = [max((counts[kind] for counts in found[1:]), default=0) for kind in (0, 1)]
                print(f"     {layout:<8} {ranks:>5} {found[0][0]:>16.2f} {found[0][1]:>8.2f} {others[0]:>22.2f} {others[1]:>8.2f}")
    return _table


@test
def other_ranks_than_0_make_few_calls_per_checkpoint_for_any_number_of_ranks():
    for (layout, ranks), found in table().items():
        for rank, (by_path, _) in enumerate(found[1:], 1):
            check(by_path <= MOST_OF_OTHERS, f"layout {layout}, {ranks} ranks: rank {rank} makes {by_path} calls per checkpoint")


@test
def rank_0_makes_the_same_number_of_calls_with_many_ranks_as_with_one():
    for layout in ("rank", "node", "single"):
        found = {ranks: table()[layout, ranks][0][0] for ranks in RANKS}
        for ranks in [ranks for ranks in RANKS if found[ranks] > min(found.values()) + MORE_WITH_RANKS]:
            found[ranks] = calls_per_checkpoint(layout, ranks, runs=4)[0][0]
        check(max(found.values()) <= min(found.values()) + MORE_WITH_RANKS, f"layout {layout}: calls of rank 0 per checkpoint by number of ranks: {found}")
        check(max(found.values()) <= MOST_OF_FIRST, f"layout {layout}: rank 0 makes {max(found.values())} calls per checkpoint")


@test
def deleting_a_checkpoint_costs_rank_0_one_call_per_file_and_a_few_more():
    """With num_to_keep, in the steady state each new checkpoint deletes an old one."""
    found = {}
    for layout, files in (("single", 1), ("rank", 4)):
        kept = calls_per_checkpoint(layout, 4, retention=1)[0][0]
        found[files] = kept - table()[layout, 4][0][0]
        print(f"     retention, {files} shard files: {found[files]:.2f} more calls per checkpoint")
    check(found[4] - found[1] <= 3 + 0.5, f"three more files cost {found[4] - found[1]} more calls")


main(setup)
