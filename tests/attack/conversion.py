"""Attacks `trainrt data convert` at each system call on the folder of its output. An output file, if it exists, must be complete, and the
same command must then write the same bytes as a conversion that was not attacked."""
import re
import shutil
from dataclasses import dataclass

from checks import RAW
from harness import FAILED, FINISHED, TRAINRT, USAGE, Job, check, check_exit, equal, scratch
from scenes import INJECTOR, TIME_LIMIT_S

ROWS = 3000


@dataclass(frozen=True)
class Conversion:
    name: str
    output: str
    words: tuple = ()
    ranks: int = 1


CONVERSIONS = {scene.name: scene for scene in (
    Conversion("convert/h5", "out.h5"), Conversion("convert/gzip", "out.h5", ("--compress", "gzip")), Conversion("convert/npz", "out.npz"),
    Conversion("convert/csv", "out.csv"), Conversion("convert/split", "out.h5", ("--split", "0.7", "--shuffle")))}


class ConversionStage:
    """One conversion without an attack: the calls that can be attacked, and the resulting files."""

    def __init__(self, scene):
        self.scene = scene
        quiet = self.folder()
        log = quiet / "calls"
        check_exit(self.run(quiet, "--log", log), FINISHED)
        self.calls = [tuple(line.split("\t")) for line in log.read_text().splitlines()]
        self.quiet = files_in(quiet)
        check(self.quiet and not any(name.startswith(".") for name in self.quiet), f"unexpected files of a conversion: {sorted(self.quiet)}")

    def folder(self):
        folder = scratch("point")
        (folder / "out").mkdir()
        (folder / "in.csv").write_text("key,x,y\n" + "".join(f"{row % 7},{row * 0.37:.6g},{row}\n" for row in range(ROWS)))
        return folder

    def run(self, folder, *injector_words):
        injector = [INJECTOR, "--watch", folder / "out", *map(str, injector_words)] if injector_words else []
        job = Job([*injector, TRAINRT, "data", "convert", folder / "in.csv", "-o", folder / "out" / self.scene.output, *self.scene.words])
        job.code = job.wait(TIME_LIMIT_S)
        return job


def files_in(folder):
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}


class AttackedConversion:
    """Like AttackedRun: the jobs of both conversions, and the files in the folder after the first."""

    def __init__(self, stage, point):
        self.stage, self.point = stage, point
        self.folder = stage.folder()
        self.attacked = self.finished = None
        self.hit = False
        self.left = {}

    def carry_out(self):
        log = self.folder / "calls"
        self.attacked = self.stage.run(self.folder, "--log", log, *self.point.words())
        self.hit = "hit\n" in log.read_text()
        self.left = files_in(self.folder)

    def finish(self):
        self.finished = self.stage.run(self.folder)

    def output(self):
        return "\n".join(f"    --- {title}: exit {job.code}\n{job.tail()}"
                         for title, job in (("the attacked conversion", self.attacked), ("the next conversion", self.finished)) if job is not None)

    def keep(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder, folder, symlinks=True)
        (folder / "output").write_text(self.output())

    def clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def check_complete(self, files, when):
        """Checks that each existing output file is complete."""
        for name, data in files.items():
            check(name.startswith(".") or data == self.stage.quiet.get(name), f"{name} {when} differs from the file of a conversion without an attack")

    def check_attacked(self):
        job = self.attacked
        self.check_complete(self.left, "after the attack")
        if self.point.sort() == "kill" and self.hit:
            return
        check(self.point.action == "stop" or job.code in (FINISHED, FAILED, USAGE), f"exit {job.code}")
        check(not re.search(RAW, job.err), "the error is a raw message of a library")
        check(self.point.action == "stop" or job.code == FINISHED or re.search(r"^trainrt: .+", job.err, re.M), f"exit {job.code} without a message of trainrt")
        if job.code == FINISHED:
            equal(sorted(set(self.stage.quiet) - set(self.left)), [], "missing files after exit 0")

    def check_finished(self):
        """Checks that the second conversion wrote the output without leaving other files. If the output was already complete, it may be refused."""
        found = files_in(self.folder)
        self.check_complete(found, "after the second conversion")
        was_complete = set(self.stage.quiet) <= set(self.left)
        check(self.finished.code == FINISHED or (was_complete and self.finished.code == USAGE), f"the second conversion: exit {self.finished.code}")
        equal(sorted(set(self.stage.quiet) - set(found)), [], "missing files")
        if self.finished.code == FINISHED:
            equal(sorted(name for name in found if name not in self.stage.quiet), [], "other files in the folder")
