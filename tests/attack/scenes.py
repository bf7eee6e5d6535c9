"""Scenes: a small run of `linear`, the rank that is attacked, and the state in which the attack begins."""
import itertools
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

from harness import BUILD, FINISHED, MPIEXEC, TRAINRT, Job, Skipped, check, check_exit, checkpoints, linear_config, run, scratch

INJECTOR = BUILD / "tests/attack_injector"
CANNOT_TRACE = 97
NAME = "run"
EPOCHS = 3  # epochs of the attacked attempt; the next one continues to EPOCHS + 1, so that it always has work to do
TIME_LIMIT_S = 180  # per attempt, which takes a tenth of a second on an idle machine

# The call at which the first attempt of a "killed" run ends: two checkpoints are committed, the second one still without state.h5.
KILLED_AT = ("rename", f"{NAME}/.attempt_000001/checkpoint_000001>{NAME}/checkpoint_000001", "1", "kill-after")
# The call at which the first attempt of a "stopped" run gets its signal, in the second epoch.
STOPPED_AT = ("write", f"{NAME}/result.json", "1", f"signal:{signal.SIGTERM.value}")


@dataclass(frozen=True)
class Scene:
    name: str
    ranks: int
    attacked: int   # the rank that is attacked
    # The attempt that is attacked. "new": the first one. "killed", "stopped": the second one; the first one was killed or stopped. "sends": the
    # third one, while it copies its checkpoint to a mirror. "restores": the third one, which has no run directory and restores the run from
    # the mirror.
    beginning: str

    def steps_an_epoch(self):
        return 4 // self.ranks

    def has_mirror(self):
        return self.beginning in ("sends", "restores")

    def watched(self, folder):
        return folder if self.has_mirror() else folder / "runs"

    def attacks(self, path):
        """Returns whether calls on `path`, relative to the watched directory, are points of this scene."""
        return not self.has_mirror() or path.startswith("mirror") or self.beginning == "restores" and path.startswith("runs/.")


SCENES = {name: Scene(name, *rest) for name, *rest in (
    ("alone/new", 1, 0, "new"), ("alone/killed", 1, 0, "killed"), ("alone/stopped", 1, 0, "stopped"), ("first/new", 2, 0, "new"), ("first/killed", 2, 0, "killed"),
    ("second/new", 2, 1, "new"), ("second/killed", 2, 1, "killed"), ("mirror/sends", 1, 0, "sends"), ("mirror/restores", 1, 0, "restores"),
    ("mirror/first", 2, 0, "restores"))}


def require_tracing():
    """Skips the tests if the injector does not work on this machine."""
    if not INJECTOR.exists():
        raise Skipped("the injector was not built: it supports only Linux on x86-64")
    job = run([INJECTOR, "--watch", "/nowhere", "true"])
    if job.code == CANNOT_TRACE:
        raise Skipped(f"this machine does not allow tracing of system calls: {job.err.strip()}")
    check_exit(job, 0)


def config_in(folder, scene):
    """Writes a config in which the first checkpoint is the best, so that later ones are deleted. A run with a mirror saves only at its end,
    because the number of copies of several checkpoints would depend on timing."""
    mirror = {"mirror": folder / "mirror", "every": "100 reports"} if scene.has_mirror() else {}
    return linear_config(folder, NAME, {"epochs": EPOCHS, "optimizer": "adamw", "dropout": 0.1}, {"samples": 64},
                         {"num_to_keep": 1, "score_attribute": "loss", "score_order": "max", **mirror})


def command(scene, config, *injector_words, epochs=EPOCHS):
    """Returns the command of one attempt. With `injector_words`, the injector starts the attacked rank."""
    program = [TRAINRT, "--config", config, f"--loop.epochs={epochs}"]
    ranks = [program] * scene.ranks
    if injector_words:
        ranks[scene.attacked] = [INJECTOR, "--watch", scene.watched(Path(config).parent), *injector_words, *program]
    if scene.ranks == 1:
        return ranks[0]
    if MPIEXEC is None:
        raise Skipped("mpiexec.mpich is not installed (package mpich)")
    return [MPIEXEC, *itertools.chain(*(([":"] if rank else []) + ["-n", "1", *words] for rank, words in enumerate(ranks)))]


class Stage:
    """The starting state of a scene, the calls that can be attacked, and a run that is not attacked."""

    def __init__(self, scene):
        self.scene = scene
        self.start = self._begin()  # a folder with runs/
        quiet = self.folder()
        log = quiet / "calls"
        check_exit(self.run(quiet, "--log", log), FINISHED)
        self.calls = [call for call in (tuple(line.split("\t")) for line in log.read_text().splitlines()) if scene.attacks(call[1])]
        self.quiet = quiet / "runs" / NAME
        longer = self.folder(quiet)
        check_exit(self.run(longer, epochs=EPOCHS + 1), FINISHED)
        self.longer = longer / "runs" / NAME

    def folder(self, source=None):
        """Creates a new folder with the starting state, or with the state of `source`; returns its path."""
        folder = scratch("point")
        config_in(folder, self.scene)
        for name in ("runs", "mirror"):
            if ((source or self.start) / name).exists():
                shutil.copytree((source or self.start) / name, folder / name, symlinks=True)
        return folder

    def run(self, folder, *injector_words, epochs=EPOCHS):
        """Runs one attempt in `folder` to its end; returns the job."""
        job = Job(command(self.scene, folder / f"{NAME}.ini", *map(str, injector_words), epochs=epochs))
        job.code = job.wait(TIME_LIMIT_S)
        return job

    def _begin(self):
        folder = scratch("stage")
        config_in(folder, self.scene)
        if self.scene.beginning == "new":
            return folder
        if self.scene.has_mirror():
            return self._mirrored(folder)
        first = Scene("", self.scene.ranks, 0, "new")  # rank 0 writes the files in KILLED_AT and STOPPED_AT
        at = KILLED_AT if self.scene.beginning == "killed" else STOPPED_AT
        job = Job(command(first, folder / f"{NAME}.ini", "--log", str(folder / "calls"), "--at", *at))
        job.code = job.wait(TIME_LIMIT_S)
        check("hit\n" in (folder / "calls").read_text(), f"the first attempt does not make the call {' '.join(at)}", job)
        check(checkpoints(folder / "runs" / NAME), "the first attempt should have left checkpoints", job)
        return folder

    def _mirrored(self, folder):
        """Runs until two checkpoints are in the mirror; returns the folder."""
        for epochs in range(1, EPOCHS):
            check_exit(self.run(folder, epochs=epochs), FINISHED)
        if self.scene.beginning == "restores":
            shutil.rmtree(folder / "runs" / NAME)
        return folder
