#!/usr/bin/python3
"""Compares a step on one GPU of the train functions resnet18 and gpt (124 M parameters) with the same models in plain PyTorch, which has
its data on the device and uses no runtime and no checkpoints. Each side reports the time of its epochs; the first one is not counted.
Checkpoints are off. fp32 has TF32 off, and bf16 is autocast on both sides. Peak device memory is measured by nvidia-smi, without the
memory in use before. trainrt selects the GPU automatically. Build the torch module with the CUDA libtorch of the same PyTorch (cmake
-DTORCH_ROOT=.../site-packages/torch).

    bench_gpu.py [BUILD] [--python PYTHON] [--repetitions N] [--precisions fp32,bf16] [--models resnet18,gpt]
    --try-on-cpu    run tiny models on the CPU, to test that both sides work; makes no claims
"""
import argparse
import json
import random
import shutil
import struct
import subprocess

from bench import BUILD, SOURCE, TRAINRT, Bench, median, need, ratio, skip, with_file
from fashion_data import data_sections, first_samples, need_fashion_mnist

TRACE = BUILD / "tests/kernel_trace.so"
EPOCHS = 4  # the first one warms up
GPT_124M = {"vocabulary": 50257, "block": 1024, "layers": 12, "heads": 12, "width": 768}
GPT_TINY = {"vocabulary": 97, "block": 16, "layers": 2, "heads": 2, "width": 32}
KEYS = {"vocabulary": "vocab_size", "block": "block_size", "layers": "n_layer", "heads": "n_head", "width": "n_embd"}


def write_windows(path, count, shape):
    source = random.Random(0)
    length = shape["block"] + 1
    tokens = [source.randrange(shape["vocabulary"]) for _ in range(count * length)]
    path.write_bytes(struct.pack(">4B2I", 0, 0, 12, 2, count, length) + struct.pack(f">{len(tokens)}i", *tokens))
    return path


class UsedMemory:
    """Measures the peak device memory in MiB from its construction to most(), without the memory in use before; 0 if nvidia-smi is
    missing."""

    def __init__(self):
        program = shutil.which("nvidia-smi")
        command = [program, "--query-gpu=memory.used", "--format=csv,noheader,nounits", "-i", "0", "-lms", "100"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True) if program else None
        if self._process:
            self._before = int(self._process.stdout.readline())

    def most(self):
        if self._process is None:
            return 0
        self._process.terminate()
        return max((int(line) for line in self._process.communicate()[0].split() if line.isdigit()), default=self._before) - self._before


class Side:
    """Runs one model with trainrt and with plain PyTorch."""

    def __init__(self, bench, options, function, steps, loop, sections, peer):
        self.bench, self.options, self.function, self.steps, self.loop, self.sections, self.peer = bench, options, function, steps, loop, sections, peer
        self.memory = {}

    def command_of_ours(self, precision, runs, epochs=EPOCHS):
        loop = "".join(f"{key} = {value}\n" for key, value in self.loop.items())
        config = with_file(self.bench.work / f"{self.function}.ini",
                           f"[run]\nname = gpu\nstorage_path = {runs}\n[train]\nfunction = {self.function}\n"
                           f"[loop]\n{loop}precision = {precision}\n[scaling]\ngpus_per_worker = {0 if self.options.try_on_cpu else 1}\n"
                           f"[checkpoint]\nevery = off\n{self.sections}")
        return [TRAINRT, "--config", config, f"--loop.epochs={epochs}"]

    def command_of_plain(self, precision, epochs=EPOCHS, words=()):
        device = "cpu" if self.options.try_on_cpu else "cuda"
        peer = SOURCE / "tests/bench/peers/peer_plain.py"
        return [self.options.python, peer, "--model", self.function, "--device", device, "--precision", precision, "--epochs", epochs, *words, *self.peer]

    def ours(self, precision):
        runs = self.bench.fresh("runs")
        self.run("trainrt", precision, self.command_of_ours(precision, runs))
        return [json.loads(line)["_time_this_iter_s"] for line in (runs / "gpu/result.json").read_text().splitlines()]

    def plain(self, precision, *words):
        return json.loads(self.run("pytorch", precision, self.command_of_plain(precision, words=words)).splitlines()[-1])

    def explain(self, precision):
        """After a missed claim, prints the time of PyTorch with deterministic algorithms, the largest kernels of both sides, and the time
        without a running kernel."""
        epochs = self.plain(precision, "--deterministic")
        self.bench.note({f"{self.function}_{precision}_pytorch_deterministic_step_ms": [1e3 * median(epochs[1:]) / self.steps]})
        if not TRACE.exists():
            return
        for side, command in (("trainrt", self.command_of_ours(precision, self.bench.fresh("traced"), 2)), ("pytorch", self.command_of_plain(precision, 2))):
            output = self.run(side, precision, command, CUDA_INJECTION64_PATH=str(TRACE))
            for line in output.splitlines():
                if line.startswith("trace "):
                    print(f"note {self.function} {precision} {side} {line}", flush=True)

    def run(self, side, precision, command, **environment):
        used = UsedMemory()
        try:
            return self.bench.run(f"{side} {self.function} {precision}", command, **environment)[1]
        finally:
            self.memory.setdefault(f"{self.function}_{precision}_{side}_peak_mib", []).append(used.most())

    def compare(self, precision):
        name = f"{self.function}_{precision}"
        step_ms = lambda run: 1e3 * median(run(precision)[1:]) / self.steps  # noqa: E731
        figures = self.bench.interleaved(self.options.repetitions, {
            f"{name}_trainrt_step_ms": lambda: step_ms(self.ours), f"{name}_pytorch_step_ms": lambda: step_ms(self.plain)})
        self.bench.note({key: values for key, values in self.memory.items() if key.startswith(name)})
        if self.options.try_on_cpu:
            return
        against = ratio(figures[f"{name}_trainrt_step_ms"], figures[f"{name}_pytorch_step_ms"])
        self.bench.claim(f"{name}_step_vs_pytorch", against, "<=", 1.0)
        if against > 1:
            self.explain(precision)


def resnet(bench, options):
    data = bench.fresh("images")
    batch, steps = (8, 2) if options.try_on_cpu else (128, 75)  # 9,600 of the 10,000 images that are packed for machines with a GPU
    first_samples(data, {"train": batch * steps, "test": batch})
    return Side(bench, options, "resnet18", steps, {"batch_size": batch, "eval_batch_size": batch, "lr": 0.01, "momentum": 0.9},
                data_sections(data), ["--data", data, "--batch-size", batch])


def gpt(bench, options):
    shape = GPT_TINY if options.try_on_cpu else GPT_124M
    batch, steps = (2, 3) if options.try_on_cpu else (8, 20)
    windows = write_windows(bench.work / "tokens", batch * steps, shape)
    words = [word for key, value in shape.items() for word in (f"--{key}", value)]
    return Side(bench, options, "gpt", steps, {"batch_size": batch, **{KEYS[key]: value for key, value in shape.items()}},
                f"[data.train]\nformat = idx\nsource = {windows}\n", ["--data", windows, "--batch-size", batch, *words])


def read_options():
    options = argparse.ArgumentParser()
    options.add_argument("build", nargs="?", help="build directory, read in bench.py")
    options.add_argument("--python", default="/usr/bin/python3", help="a Python with PyTorch and CUDA")
    options.add_argument("--repetitions", type=int, default=3)
    options.add_argument("--precisions", default="fp32,bf16")
    options.add_argument("--models", default="resnet18,gpt")
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
    for make_side in [{"resnet18": resnet, "gpt": gpt}[name] for name in options.models.split(",")]:
        side = make_side(bench, options)
        for precision in options.precisions.split(","):
            side.compare(precision)
    bench.finish()


main()
