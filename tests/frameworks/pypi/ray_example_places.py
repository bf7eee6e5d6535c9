"""Ray Train's own examples, and the folder for each: it holds the example's file from Ray's wheel, in which the word `ray` has become
`trainrt`, and its data. Downloads are replaced by local files."""
import gzip
import random
import re
import struct
from dataclasses import dataclass
from pathlib import Path

import environments
from cases import LIMIT_S
from frameworks import Framework
from harness import BUILD, FINISHED, Job, check, check_exit, check_iterations, equal, report_count, reports, run_state, scratch, wait_until

WHEEL = Framework("Ray", "", "torch", ("torch", "ray"), "ray")
DATASET = Path("/usr/share/datasets/fashion-mnist")
IMAGES = {"train": 1600, "t10k": 400}  # number of FashionMNIST images, for epochs of seconds
REMOTE_CSV = "s3://anonymous@air-example-data/regression.csv"
CSV_ROWS = 400


@dataclass(frozen=True)
class Example(Framework):
    path: str = ""  # in ray/train/examples
    reports: int = 1
    learns: bool = True  # the loss decreases within these few epochs
    start: str = ""  # a script that starts the example, if it does not start itself
    write_data: object = None  # write_data(folder) writes the example's data

    @property
    def started(self):
        return "start.py" if self.start else self.script


def _idx_files(raw):
    raw.mkdir(parents=True)
    for part, count in IMAGES.items():
        for kind, header, size in (("images-idx3", 16, 28 * 28), ("labels-idx1", 8, 1)):
            whole = gzip.decompress((DATASET / f"{part}-{kind}-ubyte.gz").read_bytes())
            (raw / f"{part}-{kind}-ubyte").write_bytes(whole[:4] + struct.pack(">I", count) + whole[8:header + count * size])


def _write_fashion(folder):
    _idx_files(folder / "data/FashionMNIST/raw")


def _write_mnist(folder):
    """Writes FashionMNIST's images, which Debian packages, to the folder where torchvision expects MNIST."""
    _idx_files(folder / "data/MNIST/raw")


def _write_csv(folder):
    """Writes an index without a name, 100 columns and a linear function of them, in the form of Ray's file in S3."""
    numbers = random.Random(1)
    weights = [numbers.gauss(0, 1) for _ in range(100)]
    lines = [",".join(["", *(f"x{i:03d}" for i in range(100)), "y"])]
    for index in range(CSV_ROWS):
        values = [numbers.gauss(0, 1) for _ in weights]
        lines.append(",".join([str(index), *(f"{value:.6f}" for value in [*values, sum(map(float.__mul__, weights, values))])]))
    (folder / "regression.csv").write_text("\n".join(lines) + "\n")


# Calls the example's function for 2 workers on the CPU, since its main requests GPUs.
_FASHION_START = "import torch_fashion_mnist_example\nif __name__ == '__main__':\n    torch_fashion_mnist_example.train_fashion_mnist(num_workers=2)\n"
# Keras' load_data() would download MNIST; this one returns FashionMNIST's images.
REMOTE_MNIST, LOCAL_MNIST = "tf.keras.datasets.mnist.load_data()", "__import__('local_mnist').load_data()"
_LOCAL_MNIST = f"""import gzip
import numpy as np
def idx(name, header):
    return np.frombuffer(gzip.open("{DATASET}/" + name).read(), np.uint8)[header:]
def load_data():
    return (idx("train-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28)[:6000], idx("train-labels-idx1-ubyte.gz", 8)[:6000]), None
"""


def _write_local_mnist(folder):
    (folder / "local_mnist.py").write_text(_LOCAL_MNIST)


def _example(path, *environment, **more):
    script = Path(path).name
    return Example(f"Ray_{script.removesuffix('.py')}", script, *environment, path=path, **more)


_TORCH = ("torch", ("torch", "ray"), "ray")
_TENSORFLOW = ("tensorflow", ("tensorflow", "tf_keras", "filelock"), "tensorflow-cpu")
LINEAR = _example("pytorch/torch_linear_example.py", *_TORCH, words=("--smoke-test",), reports=3)
FASHION = _example("pytorch/torch_fashion_mnist_example.py", *_TORCH, reports=10, start=_FASHION_START, write_data=_write_fashion)
EXAMPLES = [LINEAR, FASHION,
            # This example compares shapes (4,) and (4, 1) in its loss: torch warns of this, and the model learns nothing.
            _example("pytorch/torch_regression_example.py", *_TORCH, words=("--smoke-test",), reports=3, learns=False, write_data=_write_csv),
            _example("horovod/horovod_example.py", "horovod", ("pybind11", "horovod", "filelock"), "horovod", reports=4, learns=False, write_data=_write_mnist,
                     words=("--num-epochs", "4", "--data-dir", "data")),
            _example("tf/tensorflow_mnist_example.py", *_TENSORFLOW, words=("--epochs", "3"), reports=3, write_data=_write_local_mnist),
            _example("tf/tensorflow_regression_example.py", *_TENSORFLOW, words=("--smoke-test",), reports=4, write_data=_write_csv)]


class Place:
    """A folder with the example and its data. Its runs are in `runs`."""

    def __init__(self, example):
        self.example = example
        environment = environments.ready(example)
        self.folder = scratch(example.name)
        [source] = environments.ready(WHEEL).glob(f"lib/python3*/site-packages/ray/train/examples/{example.path}")
        text = re.sub(r"\bray\b", "trainrt", source.read_text())
        (self.folder / example.script).write_text(text.replace(REMOTE_CSV, str(self.folder / "regression.csv")).replace(REMOTE_MNIST, LOCAL_MNIST))
        if example.start:
            (self.folder / example.started).write_text(example.start)
        if example.write_data:
            example.write_data(self.folder)
        self.variables = {**environments.activated(example, environment), "HOME": self.folder, "OMP_NUM_THREADS": 1, "TF_CPP_MIN_LOG_LEVEL": 3,
                          "TF_USE_LEGACY_KERAS": 1, "PYTHONPATH": BUILD / "python"}

    def start(self, *launcher, env=None):
        return Job([*launcher, "python3", self.example.started, *self.example.words], cwd=self.folder, env={**(env or {}), **self.variables})

    @property
    def run_dir(self):
        [found] = [path for path in (self.folder / "runs").iterdir() if not path.name.startswith(".")]
        return found

    def wait_for_report(self, job):
        wait_until(lambda: any(report_count(path) >= 1 for path in self.folder.glob("runs/[!.]*")), LIMIT_S, "a report", job)

    def check_ended(self, job, was_ended=False):
        """Checks the end of a run. `was_ended`: it was killed or requeued, and most examples then draw new initial weights."""
        check_exit(job, FINISHED)
        rows = reports(self.run_dir)
        check(len(rows) >= self.example.reports, f"only {len(rows)} reports", job)
        check_iterations(self.run_dir)
        check(was_ended or not self.example.learns or rows[-1]["loss"] < rows[0]["loss"], f"the loss stays high: {rows}", job)
        equal(run_state(self.run_dir), "finished", "state of the run", job)
        return rows
