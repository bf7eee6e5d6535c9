"""A sweep of two trials of `linear`, one after the other. The calls of `trainrt tune` and of its trials are attacked."""
import re

from attacked_run import AttackedRun
from harness import FAILED, FINISHED, STOPPED, TRAINRT, USAGE, Job, check, check_exit, check_same_bits, equal, reported_metrics, scratch
from scenes import INJECTOR, NAME, TIME_LIMIT_S, Scene
from runs.sweeps import sweep_config, trials_of

TRIALS, EPOCHS = 2, 2
SWEEPS = {name: Scene(name, 1, 0, "new") for name in ("sweep/new",)}


class SweepStage:
    """Like Stage (scenes.py): a folder with a config, the calls that can be attacked, and a sweep that is not attacked."""

    def __init__(self, scene):
        self.scene = scene
        quiet = self.folder()
        log = quiet / "calls"
        check_exit(self.run(quiet, "--log", log), FINISHED)
        self.calls = [tuple(line.split("\t")) for line in log.read_text().splitlines()]
        self.quiet = quiet / "runs" / NAME

    def folder(self):
        folder = scratch("point")
        # The scheduler writes decisions but stops no trial, because there are too few, so trials do not depend on each other.
        sweep_config(folder, NAME, tune={"num_samples": TRIALS, "scheduler": "median"}, loop={"epochs": EPOCHS}, data={"samples": 64},
                     **{"tune.median": {"min_samples_required": 2 * TRIALS}})
        return folder

    def run(self, folder, *injector_words, epochs=None):
        """Runs the sweep to its end; returns the job. After an attack (`epochs` is given), it may retry trials that the attack made fail."""
        words = ["--tune.max_failures=9"] if epochs else []
        injector = [INJECTOR, "--watch", folder / "runs", *injector_words] if injector_words else []
        job = Job([*injector, TRAINRT, "tune", "--config", folder / f"{NAME}.ini", *words])
        job.code = job.wait(TIME_LIMIT_S)
        return job


class AttackedSweep(AttackedRun):
    """A sweep that is attacked at one point, and the next start."""

    def check_attacked(self):
        """Checks how the attacked start ended."""
        job, point = self.attacked, self.point
        if point.sort() == "kill" and self.hit:
            return
        allowed = {FINISHED, STOPPED} if point.action == "stop" else {FINISHED, FAILED, *([USAGE] if point.action in ("EACCES", "EPERM") else [])}
        check(job.code in allowed, f"exit {job.code}, expected one of {sorted(allowed)}")
        check(job.code == FINISHED or re.search(r"^trainrt: .+", job.err, re.M), f"exit {job.code} without a message of trainrt")

    def check_finished(self):
        """Checks that the next start finished every trial as if the sweep had not been attacked."""
        check_exit(self.finished, FINISHED)
        trials = trials_of(self.folder / f"{NAME}.ini")
        equal([trial["state"] for trial in trials], ["finished"] * TRIALS, "states of the trials", self.finished)
        for number, trial in enumerate(trials):
            quiet = self.stage.quiet / f"trial_{number:05d}"
            check_same_bits(trial["path"], quiet)
            # Files derived from the reports may be missing, because a finished trial is not started again.
            equal(reported_metrics(trial["path"]), reported_metrics(quiet), f"reports of trial {number}")
