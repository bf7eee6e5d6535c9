#!/usr/bin/python3
"""Time of a start on 2 local ranks.

    make bench-start ONLY=linear     default: all parts

linear  from the start of the process to the first line of the train function, without a module; peer: `mpiexec -n 2 true`
first   from the command `trainrt -n 2` to the end of the first step of fashion_mnist with 60,000 images
old     from the start of the process to the first step of a continued run, as the record of the attempt has it (timing.startup_s). The run
        has 300 attempts and 5 or 500 old checkpoints, and the same reports in both cases
torch   like linear, with the torch module

With --verbose, trainrt prints how long each part of the start took.
"""
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from bench import BUILD, MPIEXEC, TRAINRT, Bench, median, need, ratio, with_file
from fashion_data import FASHION_MNIST, data_sections, first_samples, need_fashion_mnist
from runs.old_run import grow_old

LINEAR = "[train]\nfunction = linear\n[loop]\nepochs = 1\n[data.train]\nformat = synthetic\nsamples = 64\n"


def start_seconds(bench, name, config):
    path = with_file(bench.work / f"{name}.ini", config + f"[run]\nname = {name}\nstorage_path = {bench.fresh('runs')}\n"
                     "[checkpoint]\nevery = off\n")
    _, output = bench.run(name, [MPIEXEC, "-n", 2, TRAINRT, "--verbose", "--config", path], OMP_NUM_THREADS="1")
    return sum(seconds for part, seconds in parts_of(output).items() if part not in ("set-up and restore", "first step"))


def parts_of(output):
    """Returns {part: seconds} of the line that --verbose prints after the first step."""
    found = re.search(r"trainrt: start: .* to the end of the first step: (.*)", output)
    if not found:
        sys.exit(f"start: --verbose has printed no parts of the start:\n{output[-2000:]}")
    return {part: float(seconds) for part, seconds in re.findall(r"([^,]+?) ([0-9.]+) s(?:, |$)", found[1])}


class OldRun:
    """A run with a long history, which each start continues for one epoch."""

    def __init__(self, bench, checkpoints, attempts=300):
        self.bench, self.epochs = bench, 0
        self.name = f"old{checkpoints}"
        storage = bench.fresh(self.name)
        self.folder = storage / "run"
        self.config = with_file(storage / "run.ini", LINEAR + f"[run]\nname = run\nstorage_path = {storage}\n")
        self.go_on()
        grow_old(self.folder, checkpoints, attempts, self.go_on)

    def go_on(self):
        self.epochs += 1
        self.bench.run(self.name, [MPIEXEC, "-n", 2, TRAINRT, "--config", self.config, f"--loop.epochs={self.epochs}"], OMP_NUM_THREADS="1")

    def start_seconds(self):
        self.go_on()
        record = sorted((self.folder / "attempts").glob("*.json"))[-1]
        return json.loads(record.read_text())["timing"]["startup_s"]


def mpiexec_seconds(bench):
    return bench.run("mpiexec", [MPIEXEC, "-n", 2, "true"])[0]


def linear(bench):
    figures = bench.interleaved(9, {"start_linear_s": lambda: start_seconds(bench, "linear", LINEAR), "mpiexec_true_s": lambda: mpiexec_seconds(bench)})
    bench.claim("start_without_module_s", median(figures["start_linear_s"]), "<=", 0.3)
    bench.claim("start_without_module_vs_mpiexec", ratio(figures["start_linear_s"], figures["mpiexec_true_s"]), "<=", 8)


def first(bench):
    if not (BUILD / "modules/torch.so").exists():
        print("skipped: start_to_first_step_s: the torch module is not built", flush=True)
        return
    need_fashion_mnist()
    sections = "[train]\nfunction = fashion_mnist\n[loop]\nepochs = 1\n" + data_sections(FASHION_MNIST)

    def seconds():
        path = with_file(bench.work / "first.ini", sections + f"[run]\nname = first\nstorage_path = {bench.fresh('runs')}\n")
        found = parts_of(bench.run("first", [TRAINRT, "-n", 2, "--verbose", "--config", path])[1])
        print("# " + ", ".join(f"{part} {part_s} s" for part, part_s in found.items()), flush=True)
        return sum(found.values())

    bench.claim("start_to_first_step_s", median(bench.interleaved(5, {"start_to_first_step_s": seconds})["start_to_first_step_s"]), "<=", 1.0)


def old(bench):
    few, many = OldRun(bench, 5), OldRun(bench, 500)
    figures = bench.interleaved(7, {"first_step_with_5_checkpoints_s": few.start_seconds, "first_step_with_500_checkpoints_s": many.start_seconds})
    bench.claim("start_with_500_checkpoints_vs_5",
                ratio(figures["first_step_with_500_checkpoints_s"], figures["first_step_with_5_checkpoints_s"]), "<=", 1.3)


def torch(bench):
    if not (BUILD / "modules/torch.so").exists():
        print("skipped: start_with_torch_s: the torch module is not built", flush=True)
        return
    need_fashion_mnist()
    data = bench.fresh("data")
    first_samples(data, {"train": 64, "test": 64})
    config = f"[train]\nfunction = fashion_mnist\n[loop]\nepochs = 1\nhidden = 8\n{data_sections(data)}"
    figures = bench.interleaved(7, {"start_torch_s": lambda: start_seconds(bench, "torch", config)})
    bench.claim("start_with_torch_s", median(figures["start_torch_s"]), "<=", 0.8)


def main():
    parts = {"linear": linear, "first": first, "old": old, "torch": torch}
    asked = sys.argv[2:] or list(parts)
    if unknown := set(asked) - set(parts):
        sys.exit(f"start: no part {', '.join(sorted(unknown))}; valid parts: {', '.join(parts)}")
    need(TRAINRT, "trainrt")
    need(MPIEXEC, "mpiexec")
    bench = Bench("start", __doc__.strip())
    for name in asked:
        parts[name](bench)
    bench.finish()


main()
