#!/usr/bin/python3
"""Tests an abandoned attempt that is still alive. All its ranks are frozen (SIGSTOP) at each point at which it changes the run
directory, a newer attempt takes over, and the old one is continued. It must exit with a message, must not change a byte of the
run directory, and the run must have the bits of an undisturbed one."""
import hashlib
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

RANKS = 2
JOB = "4711"
LOOP = {"epochs": 6, "optimizer": "adamw", "dropout": 0.1}
TAKEN_OVER = r"a newer attempt has taken over this run; attempt 1 ends"
# Phases of a save and of a deletion, as in src/checkpoint/save/phases.hpp.
PHASES = re.findall(r"^  (\w+),", (SOURCE / "src/checkpoint/save/phases.hpp").read_text().split("enum class Phase")[1].split("};")[0], re.M)
_whole = {}


def config_of(folder, name, **loop):
    return linear_config(folder, name, {**LOOP, **loop}, {"samples": 128}, {"num_to_keep": 2})


def without_faults():
    if not _whole:
        config = config_of(scratch(), "whole")
        check_exit(run_ranks(RANKS, config), FINISHED)
        _whole["run"] = run_dir_of(config)
    return _whole["run"]


def job(restart_count):
    """Returns the environment of a job after `restart_count` requeues. A later one takes over from an earlier one."""
    return {"SLURM_JOB_ID": JOB, "SLURM_RESTART_COUNT": restart_count}


def bytes_of(run_dir):
    """Returns the digests of all files of a run directory, including hidden ones."""
    return {str(path.relative_to(run_dir)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(Path(run_dir).rglob("*")) if path.is_file()}


def changed_since(before, config):
    """Returns the files of the run that differ from the result of bytes_of()."""
    after = bytes_of(run_dir_of(config))
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def frozen_at(config, phase, times=1):
    """Returns attempt 1 with all its ranks stopped after rank 0 has reached the phase. Returns None if the attempt ends before."""
    first = start_ranks(RANKS, config, first_env={"TRAINRT_STOP_AT": f"{phase}:{times}"}, env=job(0))
    wait_until(lambda: first.ended() or is_stopped(first.ranks().get(0, 0)), 60, f"rank 0 to reach {phase}, {times} time(s)", first)
    if first.ended():
        first.code = first.wait()
        return None
    pids = first.ranks()
    kill(pids.values(), signal.SIGSTOP)
    wait_until(lambda: all(is_stopped(pid) for pid in pids.values()), 30, "all ranks to stop", first)
    return first


def continue_ranks(first):
    kill(first.ranks().values(), signal.SIGCONT)


def check_exits(first):
    first.code = first.wait(60)
    check(first.code not in (FINISHED, STOPPED), f"the old attempt exits {first.code}, which a batch script takes for success", first)
    check(re.search(TAKEN_OVER, first.err) or "another attempt owns this run now" in first.err, "the message about the newer attempt is missing", first)
    check(not re.search(r"report it to the administrators of this file system|could not be written and is dropped|Traceback", first.err), "the message blames the storage", first)


def check_run(config):
    run_dir = run_dir_of(config)
    equal(run_state(run_dir), "finished", "state")
    check_iterations(run_dir, LOOP["epochs"])
    check_same_bits(run_dir, without_faults())
    check_verifies(run_dir)
    check_no_debris(run_dir, keep=2)


def a_zombie(phase, times=1):
    """Returns False if attempt 1 does not reach the phase `times` times."""
    config = config_of(scratch(), "run")
    first = frozen_at(config, phase, times)
    if first is None:
        check_exit(first_of(config), FINISHED)
        return False
    second = run_ranks(RANKS, config, env=job(1))
    check_exit(second, FINISHED)
    check_run(config)
    before = bytes_of(run_dir_of(config))
    continue_ranks(first)
    check_exits(first)
    equal(changed_since(before, config), [], "files that the old attempt changed", first)
    return True


def first_of(config):
    return run_ranks(RANKS, config)


for _phase in PHASES:
    add_test(f"an_attempt_frozen_at_{_phase}_changes_nothing_after_it_is_taken_over", a_zombie, _phase, 1 if _phase in ("retired", "deleted") else 2)
for _phase in ("claimed", "step", "append", "reported", "finish", "close"):
    add_test(f"an_attempt_frozen_at_{_phase}_changes_nothing_after_it_is_taken_over", a_zombie, _phase)


@test
def an_attempt_frozen_before_it_renames_any_of_its_files_changes_nothing():
    times = 1
    while a_zombie("replace", times):
        times += 1
    check(times > 7, f"only {times - 1} files were renamed; expected run.json twice, params.json, result.json, progress.csv, metrics.h5, the record")


@test
def an_old_attempt_that_continues_does_not_disturb_the_new_attempt():
    for phase in ("append", "manifest_written", "directory_synced", "retired"):
        folder = scratch()
        config = config_of(folder, "run", step_pause=0.2)
        first = frozen_at(config, phase)
        check(first is not None, f"the phase {phase} was not reached")
        second = start_ranks(RANKS, config, env=job(1))
        wait_until(lambda: second.ended() or len(attempts(run_dir_of(config))) == 2, 30, "attempt 2", second)
        wait_until(lambda: second.ended() or "continuing from" in second.err or report_count(run_dir_of(config)) > 0, 30, "attempt 2 to load", second)
        check(not second.ended(), "attempt 2 ended too soon for this test", second)
        continue_ranks(first)
        check_exits(first)
        second.code = second.wait(60)
        check_exit(second, FINISHED)
        check_run(config)


@test
def an_old_attempt_that_crashes_leaves_only_its_crash_report():
    config = config_of(scratch(), "run")
    first = frozen_at(config, "step", 2)
    check_exit(run_ranks(RANKS, config, env=job(1)), FINISHED)
    before = bytes_of(run_dir_of(config))
    rank_1 = first.ranks()[1]
    kill([rank_1], signal.SIGSEGV)  # pending, so it is handled before the process continues
    kill([rank_1], signal.SIGCONT)
    first.code = first.wait(60)
    check(first.code not in (FINISHED, STOPPED), f"the old attempt exits {first.code}, which a batch script takes for success", first)
    equal(changed_since(before, config), ["logs/crash-attempt-000001-rank-00001.txt"], "files that the old attempt changed", first)
    check(f"rank 1 on {os.uname().nodename} died of SIGSEGV, sent by process {os.getpid()}, at step 2 (training)" in first.err, "the crash is not reported", first)
    check_run(config)


@test
def a_second_job_does_not_take_over_a_running_attempt():
    config = config_of(scratch(), "run", step_pause=0.4)
    first = start_ranks(RANKS, config, env=job(1))
    wait_for_reports(run_dir_of(config), 1, first)
    for other in ({"SLURM_JOB_ID": "4712"}, job(1), job(0)):  # another job, another step, a process from before a requeue
        second = run_ranks(RANKS, config, env=other)
        check_exit(second, USAGE)
        check("is already running" in second.err, "the reason is missing", second)
    first.code = first.wait(60)
    check_exit(first, FINISHED)
    check_run(config)


@test
def a_start_killed_before_its_record_costs_only_an_attempt_number():
    config = config_of(scratch(), "run")
    run_dir = run_dir_of(config)
    (run_dir / ".attempt_000003").mkdir(parents=True)
    (run_dir / "attempts").mkdir()
    os.utime(run_dir / ".attempt_000003", (1, 1))
    last = run_ranks(RANKS, config)
    check_exit(last, FINISHED)
    equal([attempt["attempt"] for attempt in attempts(run_dir)], [4], "attempts")
    check_run(config)


main()
