"""One run that is attacked at one point, and the next attempt with the same command."""
import re
import shutil

from checks import check_attacked, check_finished
from harness import Failure, attempts, checkpoints, step_of_checkpoint
from scenes import EPOCHS, NAME


class AttackedRun:
    """`attacked` and `finished` are the jobs of the two attempts. `safe` holds the checkpoints that were committed before each job, as
    {name: step}; `known` is the number of attempts before them."""

    def __init__(self, stage, point):
        self.stage, self.point = stage, point
        self.folder = stage.folder()
        self.run_dir = self.folder / "runs" / NAME
        self.mirror = self.folder / "mirror" / NAME
        self.attacked = self.finished = None
        self.hit = False
        self.safe = [self.committed()]
        self.known = len(attempts(self.run_dir))

    def carry_out(self):
        log = self.folder / "calls"
        self.attacked = self.stage.run(self.folder, "--log", log, *self.point.words())
        self.hit = "hit\n" in log.read_text()
        self.safe.append(self.committed())
        steps = [max(safe.values(), default=0) for safe in self.safe]
        if steps[1] < steps[0]:
            raise Failure(f"the checkpoint of step {steps[0]} was committed but no longer exists")

    def finish(self):
        if self.stage.scene.beginning == "sends":
            shutil.rmtree(self.run_dir, ignore_errors=True)  # the mirror must suffice
        self.finished = self.stage.run(self.folder, epochs=EPOCHS + 1)

    def check_attacked(self):
        check_attacked(self)

    def check_finished(self):
        check_finished(self)

    def committed(self):
        folder = self.mirror if self.stage.scene.has_mirror() else self.run_dir
        return {directory.name: step_of_checkpoint(directory) for directory in checkpoints(folder) if (directory / "manifest.json").exists()}

    def dropped_steps(self):
        """Returns the steps of the checkpoints that the run reported as not written."""
        return {int(step) for step in re.findall(r"checkpoint at step (\d+) could not be written", self.attacked.err)}

    def output(self):
        parts = []
        for title, job in (("the attacked attempt", self.attacked), ("the next attempt", self.finished)):
            if job is not None:
                parts.append(f"    --- {title}: exit {job.code}\n{job.tail()}")
        return "\n".join(parts)

    def keep(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder, folder, symlinks=True)
        (folder / "output").write_text("\n".join(job.out + job.err for job in (self.attacked, self.finished) if job is not None))

    def clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)
