#!/usr/bin/python3
"""Runs and sweeps that any earlier version of trainrt stopped continue to the bits of an uninterrupted run."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.golden import *  # noqa: E402,F403


def continued(kind, golden):
    """Copies a golden run into a new folder, continues it there to its end, and returns its directory."""
    command, _ = KINDS[kind]
    folder = scratch()
    shutil.copy(golden / f"{NAME}.ini", folder)
    shutil.copytree(golden / NAME, folder / "runs" / NAME)
    return finish(command, folder)


def uninterrupted(kind, golden):
    command, _ = KINDS[kind]
    folder = scratch()
    shutil.copy(golden / f"{NAME}.ini", folder)
    return finish(command, folder)


def ends_with_the_expected_bits(kind, golden):
    expected = json.loads((golden / "expected.json").read_text())
    _, digest = KINDS[kind]
    run_dir = continued(kind, golden)
    found = digest(run_dir)
    if expected["cpu"] == kind_of_cpu():
        equal(found, expected["digest"], f"digest of {golden}")
    else:  # on another kind of CPU, the bits may differ
        equal(found, digest(uninterrupted(kind, golden)), f"digest of {golden} and of an uninterrupted run on this kind of CPU")
    return run_dir


def run_continues(golden):
    run_dir = ends_with_the_expected_bits("stopped_run", golden)
    check_iterations(run_dir)
    check_verifies(run_dir)
    equal(len(attempts(run_dir)), 2, "attempts")
    versions_of_attempts = [attempt["trainrt_version"] for attempt in json.loads(run([TRAINRT, "result", run_dir, "--json"]).out)["attempts"]]
    equal(versions_of_attempts[1], version_of_source(), "version of the second attempt")
    check(versions_of_attempts[0] in (None, golden.parent.name), f"version of the first attempt: {versions_of_attempts[0]}")
    shown = run([TRAINRT, "result", run_dir])
    equal("  trainrt  " in shown.out, versions_of_attempts[0] != versions_of_attempts[1], "whether the versions of the attempts are shown", shown)


def sweep_continues(golden):
    run_dir = ends_with_the_expected_bits("stopped_sweep", golden)
    trials = json.loads(run([TRAINRT, "tune", "status", run_dir, "--json"]).out)
    check(max(trial["attempts"] for trial in trials) == 2, f"no trial was continued: {trials}")
    for trial in trials:
        check(Path(trial["path"]).parent == run_dir, f"a trial has another folder: {trial}")
        check_verifies(trial["path"])


for folder in versions():
    add_test(f"a_run_stopped_by_{folder.name}_ends_with_the_bits_of_an_uninterrupted_one", run_continues, folder / "stopped_run")
    add_test(f"a_sweep_stopped_by_{folder.name}_ends_with_the_bits_of_an_uninterrupted_one", sweep_continues, folder / "stopped_sweep")


@test
def the_current_version_has_golden_runs():
    folder = GOLDEN / version_of_source()
    for kind in (*KINDS, "checkpoint"):
        check((folder / kind).exists(), f"{folder / kind} is missing; run: python3 tests/golden/record.py BUILD")


main()
