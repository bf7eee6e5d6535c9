#!/usr/bin/python3
"""Tests storage that fails while checkpoints are written. A preloaded library makes selected system calls of real runs fail, slow or short.
No committed checkpoint may be lost, no incomplete one may be loaded, and after the storage recovers the run must finish with the bits of
a run without faults."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

RANKS = 2
EPOCHS = 6  # each with a report and a checkpoint
SHIM = BUILD / "tests/fault_shim.so"
_whole = {}  # a run without faults, by layout


def setup():
    if MPIEXEC is None:
        skip("mpiexec.mpich is missing (package mpich)")
    if not SHIM.exists():
        skip("the library that injects faults was not built (builds with sanitizers leave it out)")


def faulty(faults, rank=None):
    """Returns the environment in which the given calls fail on one rank, or on all ranks without `rank`."""
    env = {"LD_PRELOAD": SHIM, "TRAINRT_FAULTS": faults}
    return {"env": env} if rank is None else {"rank_env": {rank: env}}


def start(config, env=None, rank_env=None):
    program = [TRAINRT, "--config", str(config)]
    if not rank_env:
        return Job([MPIEXEC, "-n", RANKS, *program], env=env)
    command = []
    for rank in range(RANKS):
        own = [f"{key}={value}" for key, value in rank_env.get(rank, {}).items()]
        command += [":"] * (rank > 0) + ["-n", "1", *(["env", *own] if own else []), *program]
    return Job([MPIEXEC, *command], env=env)


def run_to_end(config, timeout=60, **environment):
    job = start(config, **environment)
    job.code = job.wait(timeout)
    return job


def config_of(folder, name, layout="node", asynchronous=True, loop=None, **checkpoint):
    return linear_config(folder, name, {"epochs": EPOCHS, "optimizer": "adamw", "dropout": 0.1, **(loop or {})}, {"samples": 128, "features": 1500},
                         {"num_to_keep": 0, "layout": layout, "async": asynchronous, **checkpoint})


def without_faults():
    """Returns the run directory of a run without faults. Its weights do not depend on the layout."""
    if not _whole:
        config = config_of(scratch(), "whole")
        check_exit(run_to_end(config), FINISHED)
        _whole["run"] = run_dir_of(config)
    return _whole["run"]


def dropped(job):
    """Returns the messages about dropped checkpoints."""
    return [line for line in job.err.splitlines() if "could not be written and is dropped" in line]


def check_named(job, count, *words):
    """Checks that `count` checkpoints were dropped with one message for each. A message has all words (rank, operation, path, reason), or states that
    the reason is the same as before."""
    lines = dropped(job)
    equal(len(lines), count, "dropped checkpoints", job)
    equal(len({re.search(r"checkpoint at step (\d+)", line).group(1) for line in lines}), count, "steps in the messages", job)
    check(not lines or "for the same reason" not in lines[0], "the first message has no reason", job)
    for line in lines:
        for word in words:
            check("for the same reason" in line or re.search(word, line), f"{word!r} is not in {line!r}", job)


def check_committed_whole(run_dir, job=None):
    """Checks that all visible checkpoints are intact and that no other files are visible."""
    if checkpoints(run_dir):
        verified = run([TRAINRT, "verify", str(run_dir)])
        check(verified.code == FINISHED and "DAMAGED" not in verified.out, "a committed checkpoint is damaged", verified)
    seen = [path.name for path in Path(run_dir).iterdir() if path.name.startswith("checkpoint") and not re.fullmatch(r"checkpoint_\d{6}", path.name)]
    check(not seen, f"incomplete checkpoints are visible: {seen}", job)


def check_like_whole(config, job):
    check_exit(job, FINISHED)
    check_committed_whole(run_dir_of(config), job)
    check_same_bits(run_dir_of(config), without_faults())
    check_no_debris(run_dir_of(config))


# ---- temporary faults: the run drops a checkpoint, continues, and has the results of a run without faults ---------------------
# name: fault, rank with the fault (or all ranks), number of lost checkpoints, words that each message must contain

RANK_1 = r"(rank 1|ranks 0-1) on \S+: "
RANK_0 = r"(rank 0|ranks 0-1) on \S+: "
TEMPORARY = {
    "a_full_disk_while_data_is_written": ("pwrite:ENOSPC:shard-:1:1", 1, 1, [RANK_1, "write at byte", "shard-", "No space left"]),
    "a_full_disk_while_space_is_reserved": ("fallocate:ENOSPC:shard-:0:1", 1, 1, [RANK_1, "reserve", "shard-", "No space left"]),
    "a_full_disk_while_a_file_is_created": ("open:ENOSPC:shard-:0:1", 1, 1, [RANK_1, "create", "shard-", "No space left"]),
    "a_full_disk_at_the_manifest": ("open:ENOSPC:manifest.json:0:1", 0, 1, [RANK_0, "create", "manifest.json", "No space left"]),
    "no_inode_for_the_first_directory": ("mkdir:ENOSPC:checkpoint_000000:0:1", 0, 1, [RANK_0, "make directory", "checkpoint_000000", "No space left"]),
    "no_inode_for_a_later_directory": ("mkdir:EDQUOT:checkpoint_000002:0:1", 0, 1, [RANK_0, "make directory", "checkpoint_000002", "quota"]),
    "an_io_error_in_a_write": ("pwrite:EIO:shard-:3:1", 1, 1, [RANK_1, "write at byte", "shard-", "Input/output error"]),
    "an_io_error_in_the_fsync_of_a_shard": ("fsync:EIO:shard-:1:1", 1, 1, [RANK_1, "fsync", "shard-", "Input/output error"]),
    "an_io_error_in_the_close_of_a_shard": ("close:EIO:shard-:1:1", 1, 1, [RANK_1, "close", "shard-", "Input/output error"]),
    "a_full_disk_while_the_manifest_is_written": ("write:ENOSPC:manifest.json:1:1", 0, 1, [RANK_0, "write at byte", "manifest.json", "No space left"]),
    "a_quota_in_the_fsync_of_the_manifest": ("fsync:EDQUOT:manifest.json:1:1", 0, 1, [RANK_0, "fsync", "manifest.json", "quota"]),
    "an_io_error_in_the_fsync_of_the_directory": ("fsync:EIO:checkpoint_000001:1:1", 0, 1, [RANK_0, "fsync", "checkpoint_000001", "Input/output error"]),
    "a_failed_rename": ("renameat2:EIO:checkpoint_000001:0:1", 0, 1, [RANK_0, "rename", "checkpoint_000001", "Input/output error"]),
    "errors_on_all_ranks": ("pwrite:EIO:shard-:2:1", None, 1, [RANK_0, RANK_1, "write at byte", "shard-", "Input/output error"]),
    "two_failed_saves_in_a_row": ("fsync:EIO:shard-:1:2", 1, 2, [RANK_1, "fsync", "shard-", "Input/output error"]),
}


def a_temporary_fault(fault, rank, lost, words, layout, asynchronous):
    config = config_of(scratch(), "run", layout, asynchronous)
    job = run_to_end(config, **faulty(fault, rank))
    check_named(job, lost, *words)
    equal(len(checkpoints(run_dir_of(config))), EPOCHS - lost, "checkpoints", job)
    check_like_whole(config, job)


for _number, (_name, _case) in enumerate(TEMPORARY.items()):
    # Tests each layout, asynchronous and synchronous. The number of the fsync of the directory depends on the layout.
    _layout, _async = [("node", True), ("rank", False), ("rank", True), ("node", False)][_number % 4]
    add_test(f"a_run_survives_{_name}_{_layout}_{'async' if _async else 'sync'}", a_temporary_fault, *_case, _layout, _async)


# ---- harmless faults: no checkpoint is lost -----------------------------------------------------------------------------------

HARMLESS = {
    "interrupted_calls_everywhere": ",".join(f"{call}:EINTR:/run/" for call in ("open", "read", "pread", "write", "pwrite", "fsync", "rename", "mkdir",
                                                                              "unlink", "fallocate")),
    "short_reads_and_writes": ",".join(f"{call}:short:checkpoint_" for call in ("read", "pread", "write", "pwrite")),
    "a_file_system_without_flock": "flock:ENOSYS",
    "a_file_system_without_fallocate": "fallocate:EOPNOTSUPP",
    "a_file_system_without_renameat2": "renameat2:EINVAL",
    "an_io_error_in_a_manifest_that_is_written_again": "write:EIO:manifest.json:1:1,fsync:EIO:manifest.json:3:1",
    "a_slow_disk": "pwrite:slow=40:shard-,fsync:slow=40",
}


def a_harmless_fault(fault):
    for asynchronous in (True, False):
        config = config_of(scratch(), "run", "node" if asynchronous else "rank", asynchronous)
        job = run_to_end(config, **faulty(fault))
        check_named(job, 0)
        equal(len(checkpoints(run_dir_of(config))), EPOCHS, "checkpoints", job)
        check_like_whole(config, job)


for _name, _fault in HARMLESS.items():
    add_test(f"no_checkpoint_is_lost_with_{_name}", a_harmless_fault, _fault)


# ---- permanent faults ---------------------------------------------------------------------------------------------------------


def check_continues(config):
    """Checks that the same command finishes the run when the storage works again."""
    job = run_to_end(config)
    check_like_whole(config, job)
    return job


@test
def a_full_disk_ends_the_run_after_max_failed_checkpoints_and_it_continues_with_free_space():
    for asynchronous in (True, False):
        config = config_of(scratch(), "run", asynchronous=asynchronous, max_failed=2)
        job = run_to_end(config, **faulty("pwrite:ENOSPC:shard-:4", 1))
        check_exit(job, FAILED)
        check(re.search(r"failure 2 in a row \(checkpoint\.max_failed = 2\)", job.err), "the reason of the end is missing", job)
        check("No space left" in job.err and re.search(RANK_1, job.err), "cause and rank are missing", job)
        committed = len(checkpoints(run_dir_of(config)))
        check(0 < committed < EPOCHS, f"{committed} checkpoints before the disk was full", job)
        check_committed_whole(run_dir_of(config), job)
        equal(run_state(run_dir_of(config)), "failed", "state of the run")
        second = check_continues(config)
        check(f"continuing from {checkpoints(run_dir_of(config))[committed - 1]}" in second.err, "the run did not continue from the newest checkpoint", second)


@test
def a_run_that_saved_nothing_on_a_full_disk_starts_again_at_step_0():
    config = config_of(scratch(), "run", max_failed=3)
    job = run_to_end(config, **faulty("fallocate:ENOSPC:shard-,pwrite:ENOSPC:shard-"))
    check_exit(job, FAILED)
    equal(checkpoints(run_dir_of(config)), [], "checkpoints", job)
    check_named(job, 3, RANK_0, RANK_1, "No space left")  # the third message is the error that ends the run
    check_continues(config)


@test
def max_failed_0_lets_a_run_continue_without_checkpoints_until_its_last_save_fails():
    config = config_of(scratch(), "run", max_failed=0)
    job = run_to_end(config, **faulty("fsync:EIO:shard-", 1))
    check_exit(job, FAILED)  # save() at the end
    equal(checkpoints(run_dir_of(config)), [], "checkpoints", job)
    check(len(dropped(job)) >= EPOCHS, f"{len(dropped(job))} messages for {EPOCHS} checkpoints", job)
    check_continues(config)


@test
def a_checkpoint_whose_directory_was_not_synced_does_not_count_as_committed():
    # Fails each fsync in the run directory in turn, including that of the run directory itself after the rename.
    for after in range(4, 12):
        config = config_of(scratch(), "run", asynchronous=False)
        run_dir = run_dir_of(config)
        job = run_to_end(config, **faulty(f"fsync:EIO:runs/run:{after}:1", 0))
        if job.code != FINISHED:  # the fault hit a file that a run requires
            check_exit(job, FAILED)
            check_committed_whole(run_dir, job)
            check_continues(config)
            continue
        equal(len(checkpoints(run_dir)) + len(dropped(job)), EPOCHS, "committed and dropped", job)
        check_like_whole(config, job)


@test
def a_file_that_cannot_be_removed_is_named_and_does_no_harm():
    config = config_of(scratch(), "run", num_to_keep=1)
    job = run_to_end(config, **faulty("unlinkat:EIO:shard-", 0))
    check_exit(job, FINISHED)
    check("Input/output error" in job.err and "remove" in job.err, "the file that could not be removed is not named", job)
    equal(len(checkpoints(run_dir_of(config))), 1, "visible checkpoints", job)
    check_committed_whole(run_dir_of(config), job)
    check_same_bits(run_dir_of(config), without_faults())
    more = config_of(config.parent, "run", num_to_keep=1, loop={"epochs": EPOCHS + 1})
    check_exit(run_to_end(more), FINISHED)
    check_no_debris(run_dir_of(config), keep=1)


@test
def a_checkpoint_without_its_view_counts_and_the_next_start_writes_the_view():
    config = config_of(scratch(), "run")
    job = run_to_end(config, **faulty("open:ENOSPC:state.h5", 0))
    check_exit(job, FINISHED)
    check_named(job, 0)
    check(job.err.count("cannot write the combined view of a checkpoint") == EPOCHS, "not every missing view is named", job)
    run_dir = run_dir_of(config)
    equal(len(checkpoints(run_dir)), EPOCHS, "checkpoints", job)
    check_committed_whole(run_dir, job)
    check(not any((directory / "state.h5").exists() for directory in checkpoints(run_dir)), "a view exists", job)
    more = config_of(config.parent, "run", loop={"epochs": EPOCHS + 1})
    job = run_to_end(more)
    check_exit(job, FINISHED)
    check((checkpoints(run_dir)[EPOCHS - 1] / "state.h5").exists(), "the view of the loaded checkpoint was not written", job)
    check_same_bits(config.parent / "runs/run", _longer())


def _longer():
    if "longer" not in _whole:
        config = config_of(scratch(), "longer", loop={"epochs": EPOCHS + 1})
        check_exit(run_to_end(config), FINISHED)
        _whole["longer"] = run_dir_of(config)
    return _whole["longer"]


@test
def a_stop_during_a_slow_save_waits_for_it_and_exits_75():
    for asynchronous in (True, False):
        config = config_of(scratch(), "run", asynchronous=asynchronous, loop={"epochs": 200})
        job = start(config, **faulty("fsync:slow=1500:shard-", 1))
        wait_for_reports(run_dir_of(config), 1, job)
        begun = time.monotonic()
        kill(job.ranks().values(), signal.SIGTERM)
        code = job.wait(30)
        equal(code, STOPPED, "exit code of a stop during a slow save", job)
        check(time.monotonic() - begun > 0.5, "the run did not wait for the disk", job)
        run_dir = run_dir_of(config)
        check_committed_whole(run_dir, job)
        check_named(job, 0)
        equal(run_state(run_dir), "stopped", "state")
        steps = int(re.search(r"stopped by SIGTERM at step (\d+)", job.err + job.out).group(1))
        equal(step_of(run_dir), steps, "step of the last checkpoint", job)
        check_no_debris(run_dir)
        short = config_of(config.parent, "run", asynchronous=asynchronous)
        check_exit(run_to_end(short), FINISHED)


@test
def a_stop_that_cannot_be_saved_fails_and_keeps_the_last_checkpoint():
    config = config_of(scratch(), "run", loop={"epochs": 5000})
    job = start(config, **faulty("fsync:EIO:shard-:2", 1))
    wait_for_reports(run_dir_of(config), 2, job)
    kill(job.ranks().values(), signal.SIGTERM)
    code = job.wait(30)
    equal(code, FAILED, "exit code", job)
    check_committed_whole(run_dir_of(config), job)


main(setup)
