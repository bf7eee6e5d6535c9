"""Tests that XGBoost and LightGBM share under their Ray-like trainers. The script is frameworks/scripts/boosted_trees.py."""
import json

from runs.program_runs import *  # noqa: F403

SCRIPT = SOURCE / "tests/frameworks/scripts/boosted_trees.py"


class Trees:
    """Runs of one library, in their own folder."""

    def __init__(self, library, python=PYTHON, env=None):
        self.library, self.python = library, python
        self.folder = scratch(library)
        (self.folder / "runs").mkdir()
        self.env = {**ONE_THREAD, "PYTHONPATH": BUILD / "python", "TRAINRT_EXECUTABLE": TRAINRT, "RUNS": self.folder / "runs", **(env or {})}

    def job(self, name, workers=2, launcher=(), timeout=120, **more):
        return run([*launcher, self.python, SCRIPT, self.library, name, workers], timeout=timeout, env={**self.env, **more}, cwd=self.folder)

    def result(self, name, workers=2, **more):
        job = self.job(name, workers, **more)
        check_exit(job, FINISHED)
        lines = [line for line in job.out.splitlines() if line.startswith("RESULT ")]
        return json.loads(lines[0][7:]), job

    # ---- checks ----

    def ranks_train_together(self):
        """Checks that the first tree covers the rows of all ranks and that each rank has the same model."""
        found, job = self.result("newer", FORM="newer", ROUNDS=10)
        models = re.findall(r"MODEL (\w+) ([\d.]+)", "".join(path.read_text() for path in (self.folder / "runs/newer/logs").glob("rank-*.log")))
        equal(len(models), 2, "ranks that reported their model", job)
        equal(len({digest for digest, _ in models}), 1, "number of different models", job)
        equal((found["rounds"], found["checkpoints"]), (10, 2), "rounds and checkpoints", job)
        check("error" in found["metrics"] and "own-rmse" not in found["metrics"], f"metrics: {found['metrics']}", job)

    def check_older_form(self, cover):
        """`cover(found)` returns whether the first tree covers all rows."""
        found, job = self.result("older")
        check(cover(found["cover"]), f"the first tree covers {found['cover']}", job)
        equal(found["features"], ["first", "second", "rest_0", "rest_1"], "features", job)
        equal((found["rounds"], found["checkpoints"]), (20, 4), "rounds and checkpoints", job)
        check(found["metrics"]["train-rmse"] < 0.9 and "valid-rmse" in found["metrics"], f"metrics: {found['metrics']}", job)
        return found

    def a_killed_rank_costs_the_rounds_since_the_last_checkpoint(self):
        found, job = self.result("killed", KILL_AT=12, FAILURES=2)
        check((self.folder / "runs/killed-killed").exists(), "no rank was killed", job)
        equal((found["rounds"], found["checkpoints"]), (20, 4), "rounds and checkpoints", job)
        return found

    def a_rank_may_have_no_rows(self):
        found, job = self.result("few", workers=3, ROWS=2, ROUNDS=2)
        equal((found["rounds"], found["checkpoints"]), (3, 1), "reports (two rounds and the end) and checkpoints", job)
