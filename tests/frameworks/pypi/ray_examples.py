"""Ray Train's own examples, from its wheel: the word `ray` becomes `trainrt`, and nothing else changes. Their data is laid ready. Each is
started by its fit(), and on ranks that are there; killed and started again; requeued."""
import gzip
import re
import struct
from pathlib import Path

import environments
from cases import CLUSTER, LIMIT_S, cluster_env
from frameworks import Framework
from harness import (BUILD, FINISHED, TRAINRT, Job, check, check_exit, check_iterations, check_verifies, equal, kill, report_count, reports, run_state,
                     scratch, wait_until)

RAY = ("torch", ("torch", "ray"), "ray")
LINEAR = Framework("Ray_torch_linear_example", "torch_linear_example.py", *RAY, words=("--smoke-test",))
FASHION = Framework("Ray_torch_fashion_mnist_example", "torch_fashion_mnist_example.py", *RAY)
EXAMPLES = [LINEAR, FASHION]
REPORTS = {LINEAR.name: 3, FASHION.name: 10}
IMAGES = {"train": 1600, "t10k": 400}  # of FashionMNIST, so that the example's 10 epochs are seconds
# Its function, for 2 workers on the CPU: its main asks for GPUs.
START = "import torch_fashion_mnist_example\nif __name__ == '__main__':\n    torch_fashion_mnist_example.train_fashion_mnist(num_workers=2)\n"
DATASET = Path("/usr/share/datasets/fashion-mnist")


class Place:
    """A folder with the example and its data; its runs are in `runs`."""

    def __init__(self, example):
        self.example = example
        self.environment = environments.ready(example)
        self.folder = scratch(example.name)
        [source] = self.environment.glob(f"lib/python3*/site-packages/ray/train/examples/pytorch/{example.script}")
        (self.folder / example.script).write_text(re.sub(r"\bray\b", "trainrt", source.read_text()))
        if example is FASHION:
            self._lay_data()
            (self.folder / "start.py").write_text(START)
        self.variables = {**environments.activated(example, self.environment), "HOME": self.folder, "OMP_NUM_THREADS": 1, "PYTHONPATH": BUILD / "python"}

    def _lay_data(self):
        raw = self.folder / "data/FashionMNIST/raw"
        raw.mkdir(parents=True)
        for part, count in IMAGES.items():
            for kind, header, size in (("images-idx3", 16, 28 * 28), ("labels-idx1", 8, 1)):
                whole = gzip.decompress((DATASET / f"{part}-{kind}-ubyte.gz").read_bytes())
                (raw / f"{part}-{kind}-ubyte").write_bytes(whole[:4] + struct.pack(">I", count) + whole[8:header + count * size])

    @property
    def script(self):
        return self.example.script if self.example is LINEAR else "start.py"

    def start(self, *launcher, env=None):
        return Job([*launcher, "python3", self.script, *self.example.words], cwd=self.folder, env={**(env or {}), **self.variables})

    @property
    def run_dir(self):
        [found] = [path for path in (self.folder / "runs").iterdir() if not path.name.startswith(".")]
        return found

    def wait_for_report(self, job):
        wait_until(lambda: any(report_count(path) >= 1 for path in self.folder.glob("runs/[!.]*")), LIMIT_S, "a report", job)

    def check_ended(self, job):
        check_exit(job, FINISHED)
        rows = reports(self.run_dir)
        check(len(rows) >= REPORTS[self.example.name], f"only {len(rows)} reports", job)
        check_iterations(self.run_dir)
        check(rows[-1]["loss"] < rows[0]["loss"], f"it does not learn: {rows}", job)
        equal(run_state(self.run_dir), "finished", "state of the run", job)
        return rows


_whole = []  # the last row of an undisturbed run of FASHION, which seeds everything


def check_same(place, rows, job):
    """FASHION makes itself reproducible, and begins again; LINEAR draws its weights anew."""
    if place.example is not FASHION:
        return check_verifies(place.run_dir)
    _whole.append({key: value for key, value in rows[-1].items() if not key.startswith("_")})
    equal(_whole[-1], _whole[0], "the last report", job)
    return None


def fit_starts_ranks(example):
    place = Place(example)
    job = place.start()
    job.code = job.wait(LIMIT_S)
    check_same(place, place.check_ended(job), job)


def on_given_ranks(example):
    place = Place(example)
    job = place.start(TRAINRT, "-n", 2, "--")
    job.code = job.wait(LIMIT_S)
    check_same(place, place.check_ended(job), job)


def killed(example):
    """All ranks, on the way; the same command is started again."""
    place = Place(example)
    job = place.start()
    place.wait_for_report(job)
    kill([job.process.pid, *job.ranks().values()])
    job.wait(60)
    again = place.start()
    again.code = again.wait(LIMIT_S)
    check_same(place, place.check_ended(again), again)


def requeued(example):
    """The job, on two nodes."""
    place = Place(example)
    cluster_env()
    exported = ",".join(f"{key}={value}" for key, value in place.variables.items())
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1", f"--export=ALL,{exported}"], "python3", place.folder / place.script, *example.words, script="program.sbatch",
                         cwd=place.folder)
    place.wait_for_report(job)
    CLUSTER.call("scontrol", "requeue", job.id)
    job.wait_for_restart(1, 120)
    job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", timeout=LIMIT_S)
    equal(job.state(), "COMPLETED", "end of the job", job)
    job.code = FINISHED
    check_same(place, place.check_ended(job), job)


def cases_of_example(_):
    """(name, function)."""
    return [("fit_starts_ranks", fit_starts_ranks), ("on_given_ranks", on_given_ranks), ("killed", killed), ("requeued", requeued)]
