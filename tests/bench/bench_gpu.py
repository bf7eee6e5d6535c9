#!/usr/bin/python3
"""A step on one GPU: the train functions resnet18 and gpt (124 M parameters) against the same models in plain PyTorch, which has
its data ready on the device and neither runtime nor checkpoints around it. An epoch's time is (a run of 3 epochs - a run of 1) / 2,
from outside, checkpoints off; the median of the ratios of the repetitions counts. trainrt takes the GPU by itself: the torch module
must be built with the CUDA libtorch of the same PyTorch (cmake -DTORCH_ROOT=.../site-packages/torch).

    bench_gpu.py [BUILD] [--python PYTHON] [--repetitions N]
    --try-on-cpu    tiny models on the CPU: only to see that both sides run; nothing is claimed
"""
import argparse
import random
import struct
import subprocess

from bench import BUILD, SOURCE, TRAINRT, Bench, need, ratio, skip, with_file
from fashion_data import data_sections, first_samples, need_fashion_mnist

FEW, MANY = 1, 3
GPT_124M = {"vocabulary": 50257, "block": 1024, "layers": 12, "heads": 12, "width": 768}
GPT_TINY = {"vocabulary": 97, "block": 16, "layers": 2, "heads": 2, "width": 32}
KEYS = {"vocabulary": "vocab_size", "block": "block_size", "layers": "n_layer", "heads": "n_head", "width": "n_embd"}


def write_windows(path, count, shape):
    source = random.Random(0)
    length = shape["block"] + 1
    tokens = [source.randrange(shape["vocabulary"]) for _ in range(count * length)]
    path.write_bytes(struct.pack(">4B2I", 0, 0, 12, 2, count, length) + struct.pack(f">{len(tokens)}i", *tokens))
    return path


class Side:
    """One model on both sides."""

    def __init__(self, bench, options, function, loop, sections, peer):
        self.bench, self.options, self.function, self.loop, self.sections, self.peer = bench, options, function, loop, sections, peer

    def ours(self, epochs):
        loop = "".join(f"{key} = {value}\n" for key, value in self.loop.items())
        config = with_file(self.bench.work / f"{self.function}.ini",
                           f"[run]\nname = gpu\nstorage_path = {self.bench.fresh('runs')}\n[train]\nfunction = {self.function}\n"
                           f"[loop]\n{loop}[scaling]\ngpus_per_worker = {0 if self.options.try_on_cpu else 1}\n"
                           f"[checkpoint]\nevery = off\n{self.sections}")
        return self.bench.run(f"trainrt {self.function}", [TRAINRT, "--config", config, f"--loop.epochs={epochs}"])[0]

    def plain(self, epochs):
        device = "cpu" if self.options.try_on_cpu else "cuda"
        peer = SOURCE / "tests/bench/peer_plain.py"
        command = [self.options.python, peer, "--model", self.function, "--device", device, "--epochs", epochs, *self.peer]
        return self.bench.run(f"pytorch {self.function}", command)[0]

    def compare(self):
        name = self.function
        epoch = lambda run: (run(MANY) - run(FEW)) / (MANY - FEW)  # noqa: E731
        figures = self.bench.interleaved(self.options.repetitions, {
            f"{name}_trainrt_epoch_s": lambda: epoch(self.ours), f"{name}_pytorch_epoch_s": lambda: epoch(self.plain)})
        if not self.options.try_on_cpu:
            self.bench.claim(f"{name}_step_vs_pytorch", ratio(figures[f"{name}_trainrt_epoch_s"], figures[f"{name}_pytorch_epoch_s"]),
                             "<=", 1.03)


def resnet(bench, options):
    data = bench.fresh("images")
    batch, steps = (8, 2) if options.try_on_cpu else (128, 200)
    first_samples(data, {"train": batch * steps, "test": batch})
    return Side(bench, options, "resnet18", {"batch_size": batch, "eval_batch_size": batch, "lr": 0.01, "momentum": 0.9},
                data_sections(data), ["--data", data, "--batch-size", batch])


def gpt(bench, options):
    shape = GPT_TINY if options.try_on_cpu else GPT_124M
    batch, steps = (2, 3) if options.try_on_cpu else (8, 40)
    windows = write_windows(bench.work / "tokens", batch * steps, shape)
    words = [word for key, value in shape.items() for word in (f"--{key}", value)]
    return Side(bench, options, "gpt", {"batch_size": batch, **{KEYS[key]: value for key, value in shape.items()}},
                f"[data.train]\nformat = idx\nsource = {windows}\n", ["--data", windows, "--batch-size", batch, *words])


def read_options():
    options = argparse.ArgumentParser()
    options.add_argument("build", nargs="?", help="build directory, read in bench.py")
    options.add_argument("--python", default="/usr/bin/python3", help="one that has PyTorch with CUDA")
    options.add_argument("--repetitions", type=int, default=3)
    options.add_argument("--try-on-cpu", action="store_true")
    return options.parse_args()


def main():
    options = read_options()
    need(TRAINRT, "trainrt")
    need(BUILD / "modules/torch.so", "the torch module")
    need_fashion_mnist()
    wanted = "import torch" if options.try_on_cpu else "import sys, torch; sys.exit(not torch.cuda.is_available())"
    if subprocess.run([options.python, "-c", wanted], capture_output=True).returncode != 0:
        skip(f"{options.python} has no PyTorch that can use a GPU")
    bench = Bench("gpu", __doc__.strip())
    for side in (resnet(bench, options), gpt(bench, options)):
        side.compare()
    bench.finish()


main()
