#!/usr/bin/python3
"""Tests storage that is full, over its quota or unavailable for a while, for files that a run requires: the log of record, the records of
the run and of its attempts, the manifest at a start. The run must wait or continue, report this, lose no committed checkpoint and no
report, and finish with the bits of a run without faults."""
import signal
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

RANKS = 2
EPOCHS = 6
SHIM = BUILD / "tests/fault_shim.so"
LOOP = {"epochs": EPOCHS, "optimizer": "adamw", "dropout": 0.1}
_whole = {}


def setup():
    if MPIEXEC is None:
        skip("mpiexec.mpich is missing (package mpich)")


def config_of(folder, name, loop=None, storage=None, **checkpoint):
    return linear_config(folder, name, {**LOOP, **(loop or {})}, {"samples": 128, "features": 1500}, {"num_to_keep": 3, **checkpoint}, storage)


def without_faults():
    if not _whole:
        config = config_of(scratch(), "whole")
        check_exit(run_ranks(RANKS, config), FINISHED)
        _whole["run"] = run_dir_of(config)
    return _whole["run"]


def fault_env(faults):
    if not SHIM.exists():
        skip("the library that injects faults was not built (builds with sanitizers leave it out)")
    return {"LD_PRELOAD": SHIM, "TRAINRT_FAULTS": faults}


def start(config, faults):
    """Starts a run with faults on rank 0, the rank that writes the log and the records."""
    return start_ranks(RANKS, config, first_env=fault_env(faults))


def run_with(config, faults):
    job = start(config, faults)
    job.code = job.wait(90)
    return job


def check_like_whole(run_dir, job):
    check_exit(job, FINISHED)
    equal(run_state(run_dir), "finished", "state")
    check_iterations(run_dir, EPOCHS)
    check_same_bits(run_dir, without_faults())
    check_verifies(run_dir)
    check_no_debris(run_dir)


def lost(job):
    return job.err.count("could not be written and is dropped")


# ---- temporary faults: name, fault, maximum number of lost checkpoints, words of the messages ----------------------------------
# "/result.json" is the file with its final name, not the temporary file.

PASSING = {
    "a_failed_append_to_the_log": ("write:EIO:/result.json:1:2", 0, ["kept in memory"]),
    "a_failed_fsync_of_the_log": ("fsync:EIO:/result.json:1:1", 0, []),
    "a_stale_handle_of_the_log": ("fsync:ESTALE:/result.json:1,write:ESTALE:/result.json:2:9", 0, []),
    "a_log_that_cannot_be_written_at_all_for_a_while": ("write:EIO:result.json:4:8", 0, ["storage does not answer", "storage answers again"]),
    "an_incomplete_line_of_the_log_on_a_full_disk": ("write:short:/result.json:1:1,write:ENOSPC:/result.json:2:2", 3, ["kept in memory"]),
    "a_full_disk_while_the_log_is_written": ("write:ENOSPC:/result.json:1:3", 3, ["kept in memory", "No space left"]),
    "a_quota_while_the_log_is_written": ("write:EDQUOT:/result.json:2:3", 3, ["kept in memory", "quota"]),
    "a_full_disk_that_only_fsync_of_the_log_reports": ("fsync:ENOSPC:/result.json:1:2", 2, ["No space left"]),
    "records_that_cannot_be_written_for_a_while": ("write:EIO:run.json:0:3", 0, ["storage does not answer", "storage answers again"]),
    "a_record_of_an_attempt_that_cannot_be_created_for_a_while": ("link:EIO:attempts:0:2", 0, ["storage does not answer"]),
    "an_end_of_an_attempt_that_cannot_be_written_for_a_while": ("rename:EIO:attempts_000001.json:0:2", 0, ["storage does not answer"]),
    "directories_that_cannot_be_created_for_a_while": ("mkdir:EHOSTDOWN:/logs:0:2,mkdir:EIO:.attempt:0:1", 0, ["storage does not answer"]),
    "a_listing_that_fails_for_a_while": ("open:ENOTCONN:/attempts:0:2", 0, ["storage does not answer"]),
    "a_table_that_cannot_be_written_for_a_while": ("write:ENOSPC:progress.csv:2:3", 0, ["progress.csv", "is not up to date"]),
    "a_metrics_file_that_cannot_be_written_for_a_while": ("open:EIO:metrics.h5:0:1", 0, ["metrics.h5"]),
}


def a_passing_fault(faults, most_lost, words):
    for asynchronous in (True, False):
        config = config_of(scratch(), "run", **{"async": asynchronous})
        job = run_with(config, faults)
        check_like_whole(run_dir_of(config), job)
        check(lost(job) <= most_lost, f"{lost(job)} checkpoints were dropped", job)
        for word in words:
            check(word in job.err, f"the message lacks {word!r}", job)


for _name, _case in PASSING.items():
    add_test(f"a_run_survives_{_name}", a_passing_fault, *_case)


@test
def a_start_waits_for_unavailable_storage_and_loads_the_newest_checkpoint():
    for faults in ("open:EIO:manifest.json:0:3", "open:ESTALE:shard-:0:2", "pread:EIO:shard-:1:3", "read:EIO:result.json:0:2", "read:EIO:run.json:0:2"):
        config = config_of(scratch(), "run", {"epochs": EPOCHS - 2})
        check_exit(run_ranks(RANKS, config), FINISHED)
        config = config_of(config.parent, "run")
        job = run_with(config, faults)
        check_like_whole(run_dir_of(config), job)
        check(f"continuing from {run_dir_of(config)}/checkpoint_{EPOCHS - 3:06}" in job.err, f"{faults}: it did not load the newest checkpoint", job)
        check("storage does not answer" in job.err and "storage answers again" in job.err, f"{faults}: the message about the wait is missing", job)


# ---- storage that is unmounted or renamed -------------------------------------------------------------------------------------


@test
def a_run_waits_for_its_directory_to_reappear_without_losing_a_checkpoint():
    config = config_of(scratch(), "run", {"step_pause": 0.01})
    run_dir = run_dir_of(config)
    job = start_ranks(RANKS, config)
    wait_for_reports(run_dir, 2, job)
    away = run_dir.with_name("away")
    run_dir.rename(away)
    job.wait_for("storage does not answer", 60)
    time.sleep(1)
    away.rename(run_dir)
    job.code = job.wait(90)
    check_like_whole(run_dir, job)
    equal(lost(job), 0, "dropped checkpoints", job)
    check("storage answers again" in job.err and "another attempt owns" not in job.err, "the cause is missing", job)


@test
def a_single_rank_that_misses_the_run_directory_reports_that_it_waits():
    """Rank 0 has written its part of the checkpoint and waits for rank 1, which is about to open the file."""
    config = config_of(scratch(), "run", {"step_pause": 0.01})
    run_dir = run_dir_of(config)
    job = start_ranks(RANKS, config, other_env=fault_env("lstat:slow=2000:/checkpoint_000002$:0:1"))
    wait_until(lambda: list(run_dir.glob(".attempt_*/checkpoint_000002/shard*")) or job.ended(), 60, "the part of rank 0", job)
    time.sleep(0.5)
    away = run_dir.with_name("away")
    run_dir.rename(away)
    job.wait_for("rank 1: warning: storage does not answer", 60)
    away.rename(run_dir)
    job.code = job.wait(90)
    check_like_whole(run_dir, job)
    equal(lost(job), 0, "dropped checkpoints", job)
    check("rank 1: warning: storage answers again" in job.err, "the message that the storage works again is missing", job)


@test
def a_run_waits_for_an_unmounted_file_system():
    folder, elsewhere = tmpfs(64), scratch("elsewhere")
    try:
        config = config_of(scratch(), "run", {"step_pause": 0.01}, storage=folder)
        subprocess.run(["mount", "--bind", folder, elsewhere], check=True)
        job = start_ranks(RANKS, config)
        wait_for_reports(folder / "run", 2, job)
        subprocess.run(["umount", "-l", folder], check=True)
        job.wait_for("storage does not answer", 60)
        subprocess.run(["mount", "--bind", elsewhere, folder], check=True)
        job.code = job.wait(90)
        check_like_whole(folder / "run", job)
        equal(lost(job), 0, "dropped checkpoints", job)
    finally:
        for mounted in (folder, elsewhere):
            subprocess.run(["umount", "-l", mounted], check=False, capture_output=True)


@test
def a_run_whose_directory_stays_missing_ends_after_the_storage_timeout():
    config = config_of(scratch(), "run", {"epochs": 5000, "step_pause": 0.01}, max_failed=1)
    run_dir = run_dir_of(config)
    job = start_ranks(RANKS, config, "--failure.storage_timeout=4")
    wait_for_reports(run_dir, 2, job)
    run_dir.rename(run_dir.with_name("away"))
    began = time.monotonic()
    job.code = job.wait(90)
    check_exit(job, FAILED)
    check(time.monotonic() - began >= 4, f"the run ended after {time.monotonic() - began:.1f} s", job)
    check("No such file or directory" in job.err and "another attempt owns" not in job.err, "the reason is missing", job)


@test
def failed_saves_on_unavailable_storage_do_not_end_the_run_within_the_storage_timeout():
    config = config_of(scratch(), "run", max_failed=1)
    job = run_with(config, "fsync:EIO:shard-:1:3")
    check_like_whole(run_dir_of(config), job)
    check(1 <= lost(job) <= 3, f"{lost(job)} checkpoints were dropped", job)


@test
def an_attempt_that_loses_only_its_private_directory_ends_promptly_with_its_own_error():
    config = config_of(scratch(), "run", {"epochs": 5000, "step_pause": 0.01})
    run_dir = run_dir_of(config)
    job = start_ranks(RANKS, config, "--failure.storage_timeout=300")
    wait_for_reports(run_dir, 2, job)
    (run_dir / ".attempt_000001").rename(run_dir.with_name("taken"))
    job.code = job.wait(60)
    check(job.code not in (FINISHED, STOPPED), f"it exits {job.code}", job)
    check(re.search("another attempt owns this run now|a newer attempt has taken over", job.err), "the reason is missing", job)
    check("storage does not answer" not in job.err, "the run waited for the storage", job)


@test
def a_start_without_file_descriptors_or_memory_fails_and_loads_no_older_checkpoint():
    words = {"EMFILE": "ulimit -n", "ENFILE": "limit of open files", "ENOMEM": "out of memory"}
    faults = [f"open:{error}:{part}" for error in words for part in ("manifest.json", "shard-")]
    config = config_of(scratch(), "run", {"epochs": EPOCHS - 2})
    check_exit(run_ranks(RANKS, config), FINISHED)
    before = checkpoints(run_dir_of(config))
    for fault in faults:
        job = run_with(config_of(config.parent, "run"), fault)
        check_exit(job, FAILED)
        check(words[fault.split(":")[1]] in job.err, f"{fault}: the reason is missing", job)
        check("continuing from" not in job.err, f"{fault}: it continued from an older checkpoint", job)
    equal(checkpoints(run_dir_of(config)), before, "checkpoints")
    check_like_whole(run_dir_of(config), run_ranks(RANKS, config_of(config.parent, "run")))
    job = run([TRAINRT, "verify", run_dir_of(config)], env={"LD_PRELOAD": SHIM, "TRAINRT_FAULTS": "open:EMFILE:shard-"})
    check_exit(job, FAILED)
    check("ulimit -n" in job.err and "DAMAGED" not in job.out, "verify reports damage", job)


# ---- a view that cannot be written ------------------------------------------------------------------------------------------------


def without_view(run_dir):
    return [path.name for path in checkpoints(run_dir) if not (path / "state.h5").exists()]


@test
def a_failed_view_is_written_again_after_the_next_checkpoint_or_at_the_end():
    for after in (0, EPOCHS - 1):  # the first and the last checkpoint
        config = config_of(scratch(), "run", num_to_keep=0)
        job = run_with(config, f"open:ENOSPC:.attempt_000001/state.h5:{after}:1")
        check_like_whole(run_dir_of(config), job)
        equal(job.err.count("cannot write the combined view of a checkpoint"), 1, "number of messages", job)
        equal(without_view(run_dir_of(config)), [], "checkpoints without a view", job)


@test
def verify_notes_a_missing_view_and_the_next_start_writes_it():
    config = config_of(scratch(), "run", num_to_keep=0)
    run_dir = run_dir_of(config)
    check_exit(run_with(config, "open:ENOSPC:/state.h5"), FINISHED)
    equal(len(without_view(run_dir)), EPOCHS, "checkpoints without a view")
    job = run([TRAINRT, "verify", run_dir])
    check_exit(job, FINISHED)
    equal(len(re.findall(r"^ok        .*checkpoint_\d{6} \(without state.h5\)$", job.out, re.M)), EPOCHS, "checkpoints reported without a view", job)
    check("the next start of the run writes the file" in job.out, "the remedy is missing", job)
    check_exit(run_ranks(RANKS, config), FINISHED)  # the run has already finished
    equal(without_view(run_dir), [], "checkpoints without a view")
    for directory in checkpoints(run_dir):
        (directory / "state.h5").unlink()
    more = config_of(config.parent, "run", {"epochs": EPOCHS + 1}, num_to_keep=0)
    check_exit(run_ranks(RANKS, more), FINISHED)
    equal(without_view(run_dir), [], "checkpoints without a view")
    check_verifies(run_dir)
    check_no_debris(run_dir)


# ---- a limit on the size of files -----------------------------------------------------------------------------------------------


@test
def a_file_size_limit_drops_checkpoints_with_an_error_but_kills_no_rank():
    config = config_of(scratch(), "run")
    alone = [TRAINRT, "--config", config]  # shared memory of MPI needs larger files
    job = run(["prlimit", f"--fsize={20 << 10}", *alone])
    check_exit(job, FAILED)
    check("File too large" in job.err and "ulimit -f" in job.err, "the limit is not named", job)
    check(lost(job) == 3 and "checkpoint.max_failed" in job.err, "no checkpoint was dropped", job)
    check_exit(run(alone), FINISHED)
    check_verifies(run_dir_of(config))


# ---- links out of the run directory ----------------------------------------------------------------------------


@test
def nothing_is_written_through_links_in_the_run_directory_which_may_itself_be_a_link():
    folder = scratch()
    (folder / "precious").mkdir()
    (folder / "precious/data").write_text("kept")
    (folder / "storage").mkdir()
    config = config_of(folder, "run", {"epochs": EPOCHS - 2})
    run_dir = run_dir_of(config)
    run_dir.parent.mkdir(exist_ok=True)
    run_dir.symlink_to(folder / "storage")
    check_exit(run_ranks(RANKS, config), FINISHED)
    (run_dir / ".attempt_000001").symlink_to(folder / "precious")
    (run_dir / "progress.csv").unlink()
    for name in ("progress.csv", "error.txt"):
        (run_dir / name).symlink_to(folder / "precious/data")
    check_like_whole(run_dir, run_ranks(RANKS, config_of(folder, "run")))
    check(run_dir.is_symlink() and not (run_dir / "progress.csv").is_symlink(), "the run directory is no longer a link, or progress.csv still is")
    equal([(path.name, path.read_text()) for path in (folder / "precious").iterdir()], [("data", "kept")], "files outside the run directory")


# ---- permanent faults -----------------------------------------------------------------------------------------------------------


@test
def a_log_on_a_full_disk_ends_the_run_with_the_reason_and_the_next_start_continues():
    config = config_of(scratch(), "run")
    run_dir = run_dir_of(config)
    job = run_with(config, "write:ENOSPC:/result.json:2")
    check_exit(job, FAILED)
    check("No space left" in job.err and "result.json" in job.err, "the cause is missing", job)
    for directory in checkpoints(run_dir):  # the log must contain the reports of each checkpoint
        iteration = int.from_bytes(read_checkpoint(directory)["trainrt/iteration"][2], "little")
        check(iteration <= len(reports(run_dir)), f"{directory} is of iteration {iteration}, but the log ends at {len(reports(run_dir))}", job)
    check_like_whole(run_dir, run_ranks(RANKS, config))


@test
def a_stop_is_saved_in_spite_of_a_temporary_fault():
    config = config_of(scratch(), "run", {"epochs": 5000}, every="off")
    job = start(config, "open:EIO:manifest.json:0:2")
    wait_for_reports(run_dir_of(config), 2, job)
    kill(job.ranks().values(), signal.SIGTERM)
    equal(job.wait(60), STOPPED, "exit code", job)
    equal(len(checkpoints(run_dir_of(config))), 1, "checkpoints", job)


# ---- a file system without free space --------------------------------------------------------------------------------------------


def tmpfs(megabytes):
    folder = scratch("tmpfs")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder], capture_output=True, text=True)
    if mounted.returncode != 0:
        skip(f"this machine cannot mount a file system: {mounted.stderr.strip()}")
    return folder


def fill(folder):
    """Fills the file system; returns the file that uses the space."""
    filler = folder / "filler"
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    return filler


@test
def a_disk_that_is_full_for_a_while_costs_checkpoints_but_no_report_and_no_bit():
    folder = tmpfs(16)
    try:
        config = config_of(scratch(), "run", {"step_pause": 0.05}, storage=folder)
        run_dir = folder / "run"
        job = start_ranks(RANKS, config)
        wait_for_reports(run_dir, 2, job)
        filler = fill(folder)
        job.wait_for("could not be written and is dropped", 60)
        filler.unlink()
        job.code = job.wait(90)
        check(lost(job) >= 1, "nothing was dropped: the disk was not full", job)
        check_like_whole(run_dir, job)
    finally:
        subprocess.run(["umount", "-l", folder], check=False)


@test
def a_run_on_a_full_disk_fails_and_the_same_command_finishes_it_with_free_space():
    folder = tmpfs(16)
    try:
        config = config_of(scratch(), "run", {"step_pause": 0.02}, storage=folder)
        run_dir = folder / "run"
        job = start_ranks(RANKS, config)
        wait_for_reports(run_dir, 2, job)
        filler = fill(folder)
        job.code = job.wait(90)
        check_exit(job, FAILED)
        check("No space left" in job.err, "the reason is missing", job)
        filler.unlink()
        check_like_whole(run_dir, run_ranks(RANKS, config))
    finally:
        subprocess.run(["umount", "-l", folder], check=False)


main(setup)
