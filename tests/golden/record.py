#!/usr/bin/python3
"""Records the golden runs of the current version in tests/golden/runs/VERSION: `python3 tests/golden/record.py BUILD`.

Each part that the folder lacks is recorded: stopped_run, stopped_sweep and checkpoint. An existing part is never changed; to record it again
before its version is released, remove it first. After the release it must remain: later versions are tested with it."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from runs.golden import *  # noqa: E402,F403

CONFIGS = {"stopped_run": RUN_CONFIG, "stopped_sweep": SWEEP_CONFIG}


def is_halfway(kind, run_dir):
    """Returns whether the run has a checkpoint, or the sweep has a trial that was ended and one that runs."""
    if kind == "stopped_run":
        return report_count(run_dir) >= 9
    return report_count(run_dir / "trial_00001") >= 1


def record(kind, folder):
    """Records a run or sweep that was stopped by a signal, and the digest of the result of an uninterrupted one."""
    command, digest = KINDS[kind]
    whole, stopped = scratch(), scratch()
    for own in (whole, stopped):
        config = write_config(own / f"{NAME}.ini", CONFIGS[kind])
    expected = {"digest": digest(finish(command, whole)), "cpu": kind_of_cpu()}
    run_dir = stopped / "runs" / NAME
    job = Job(command(), cwd=stopped)
    wait_until(lambda: is_halfway(kind, run_dir) or job.ended(), 60, "half of the reports", job)
    kill([job.process.pid], signal.SIGTERM)
    job.code = job.wait(60)
    check_exit(job, STOPPED)
    folder.mkdir(parents=True)
    shutil.copy(config, folder)
    shutil.copytree(run_dir, folder / NAME, ignore=shutil.ignore_patterns("trial_*.log"))
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def record_checkpoint(folder):
    job = run([BUILD / "tests/test_unit_checkpoint", "[golden-write]"])
    check_exit(job, FINISHED)
    check(folder.exists(), f"{folder} was not written", job)


folder = GOLDEN / version_of_source()
for kind in (*KINDS, "checkpoint"):
    if (folder / kind).exists():
        print(f"exists: {folder / kind}")
        continue
    record_checkpoint(folder / kind) if kind == "checkpoint" else record(kind, folder / kind)
    print(f"recorded: {folder / kind}")
