#!/usr/bin/python3
"""Attacks a small run at each system call on its storage: the run is killed before or after the call, or stopped in it, or the call
fails once. After each attack the same command runs again, and the run must end as if it had not been attacked.

  attack.py BUILD [--seed N] [--points N] [--one POINT] [--scene NAME] [--errors all] [--time SECONDS] [--jobs N]

A point is one system call of an undisturbed run, and one action on this call. The seed chooses how each call fails, and with --points also which points are
attacked. --one repeats a point as printed.
"""
import argparse
import os
import shutil
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "support"), str(Path(__file__).resolve().parent)]
from attacked_run import AttackedRun  # noqa: E402
from conversion import CONVERSIONS, AttackedConversion, ConversionStage  # noqa: E402
from harness import BUILD, Failure, Skipped, put_scratch_into  # noqa: E402
from points import ALL_ERRORS, point_of, points_of, sample  # noqa: E402
from scenes import SCENES, Stage, require_tracing  # noqa: E402
from sweep_scene import SWEEPS, AttackedSweep, SweepStage  # noqa: E402
from tally import Progress, Tally  # noqa: E402


# For each kind of scene: its scenes, the class that prepares the starting state, and the class that attacks one point.
KINDS = ((SCENES, Stage, AttackedRun), (CONVERSIONS, ConversionStage, AttackedConversion), (SWEEPS, SweepStage, AttackedSweep))
ALL_SCENES = [name for scenes, _, _ in KINDS for name in scenes]


def kind_of(name):
    return next(kind for kind in KINDS if name in kind[0])


def attack(stage, point, tally):
    """Attacks one point, runs the command again, checks the result, and adds it to the tally."""
    attacked, why = attacked_at(stage, point), None
    try:
        attacked.carry_out()
        attacked.check_attacked()
        attacked.finish()
        attacked.check_finished()
    except Failure as failure:
        why = str(failure)
    except Exception:  # noqa: BLE001  an unreadable file or an error of the harness also counts as a miss, and the next point follows
        why = traceback.format_exc()
    if why is not None:
        folder = BUILD / "attack" / f"{tally.number_of_miss():03d}"
        attacked.keep(folder)
        print(f"FAILED {point}: {why}\n    again: make attack ONE='{point}'\n{attacked.output()}\n    kept in {folder}")
    tally.add(point, attacked.hit, why)
    attacked.clear()


def attacked_at(stage, point):
    _, _, attacked = kind_of(point.scene)
    return attacked(stage, point)


def stage_of(name):
    scenes, stage, _ = kind_of(name)
    return stage(scenes[name])


def choose(stages, seed, count, errors):
    return sample([point for stage in stages.values() for point in points_of(stage, seed, errors)], count, seed)


def attack_points(points, stages, jobs=2, time_s=None):
    """Attacks the points, `jobs` at a time, until `time_s` seconds have passed; returns the tally."""
    tally, end = Tally(len(points)), time.monotonic() + (time_s or 1e9)

    def one(point):
        if time.monotonic() < end:
            attack(stages[point.scene], point, tally)

    with Progress(tally), ThreadPoolExecutor(jobs) as pool:
        try:
            for _ in pool.map(one, points):
                pass
        except BaseException:
            end = 0
            raise
    return tally


def work_in_memory():
    """Puts scratch folders into /dev/shm: data written by a killed process survives there as on a disk, and it is faster."""
    if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 1 << 30:
        put_scratch_into("/dev/shm")


def run(seed, count=None, scenes=None, errors=None, jobs=2, time_s=None):
    """Attacks the points that the seed chooses; returns the tally."""
    work_in_memory()
    require_tracing()
    stages = {name: stage_of(name) for name in scenes or ALL_SCENES}
    points = choose(stages, seed, count, errors)
    calls = ", ".join(f"{name} {len(stage.calls)}" for name, stage in stages.items())
    print(f"attack: seed {seed}, {len(points)} points; calls in a run without an attack: {calls}")
    return attack_points(points, stages, jobs, time_s)


def run_one(text):
    point = point_of(text)
    work_in_memory()
    require_tracing()
    return attack_points([point], {point.scene: stage_of(point.scene)})


def main():
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 100000)
    parser.add_argument("--points", type=int)
    parser.add_argument("--one")
    parser.add_argument("--scene", action="append", choices=ALL_SCENES)
    parser.add_argument("--errors", choices=[ALL_ERRORS])
    parser.add_argument("--time", type=float)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    try:
        tally = run_one(given.one) if given.one else run(given.seed, given.points, given.scene, given.errors, given.jobs, given.time)
    except Skipped as reason:
        print(f"skipped: {reason}\n0 passed, 0 failed")
        return
    tally.print_report()
    sys.exit(1 if tally.missed else 0)


if __name__ == "__main__":
    main()
