#!/usr/bin/python3
"""Compares training on 2 ranks, one thread each, on FashionMNIST with PyTorch's DistributedDataParallel over gloo.

The time of an epoch is (time of a run of 3 epochs - time of a run of 1 epoch) / 2, so the start and end of a process are not
counted. It includes the evaluation after every epoch; checkpoints are off on both sides. Both sides run in turn. A ratio is
taken within each repetition, where both have about the same load by other programs, and the median of the ratios is claimed.

fashion  the MLP 784-512-512-10 of Ray's torch_benchmark.py, with a ReLU on the logits, global batch 64, SGD lr 1e-3. The peer
         gets its batches from DataLoader and DistributedSampler, like that script; a second peer has them in memory.
cost     cost of communication: an epoch of 2 ranks, compared with two runs of 1 rank each at the same time, each with half of
         the data and the same batch size per rank. Both sides have the same load, steps and evaluation per rank; only the 2
         ranks communicate.
resnet   ResNet-18 (3x3 stem, 28x28), batch 32 per rank, SGD with momentum, on the first samples.

    bench_train.py [BUILD] [--part fashion|cost|resnet] [--repetitions N] [--samples N]
"""
import argparse
import re
import socket
import subprocess

from bench import FASHION_MNIST, MPIEXEC, SOURCE, TRAINRT, BUILD, Bench, blas_file, need, ratio, skip, with_file
from fashion_data import data_sections, first_samples, need_fashion_mnist

RANKS, FEW, MANY = 2, 1, 3
PYTHON = "/usr/bin/python3"
PEER = SOURCE / "tests/bench/peers/peer_ddp.py"
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
RESNET_STEPS, RESNET_BATCH, RESNET_TEST = 24, 32, 256  # steps per epoch; batch per rank; images to evaluate
PARTS = ("fashion", "cost", "resnet")


class Task:
    """Training that both sides do: a train function, its data, its [loop] section, and the same options for the peer."""

    def __init__(self, function, data, loop, peer):
        self.function, self.data, self.loop, self.peer = function, data, loop, peer

    def config(self, bench, name, storage):
        loop = "".join(f"{key} = {value}\n" for key, value in self.loop.items())
        return with_file(bench.work / f"{name}.ini", f"[run]\nname = {name}\nstorage_path = {storage}\nseed = 0\n"
                         f"[train]\nfunction = {self.function}\n[loop]\n{loop}[checkpoint]\nevery = off\n"
                         f"{data_sections(self.data)}")


def fashion_task(data):
    return Task("fashion_mnist", data, {"batch_size": 32, "eval_batch_size": 1000, "lr": 0.001, "relu_logits": "true"},
                ["--model", "mlp", "--batch-size", 32, "--eval-batch-size", 1000, "--lr", 0.001])


def resnet_task(data):
    return Task("resnet18", data, {"batch_size": RESNET_BATCH, "eval_batch_size": RESNET_TEST // RANKS, "lr": 0.01,
                                   "momentum": 0.9, "weight_decay": 0},
                ["--model", "resnet18", "--batch-size", RESNET_BATCH, "--eval-batch-size", RESNET_TEST // RANKS, "--lr", 0.01,
                 "--momentum", 0.9])


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def run_ours(bench, task, epochs):
    """Runs trainrt; returns the seconds and the output."""
    config = task.config(bench, "ours", bench.fresh("runs"))
    command = [MPIEXEC, "-n", RANKS, TRAINRT, "--config", config, f"--loop.epochs={epochs}"]
    return bench.run(f"trainrt {task.function}", command, **ONE_THREAD)


def run_apart(bench, task, epochs):
    """Starts one run of one rank for each of the RANKS, all at once; returns the seconds."""
    storage = bench.fresh("runs")
    commands = [([TRAINRT, "--config", task.config(bench, f"alone{rank}", storage), f"--loop.epochs={epochs}"], {})
                for rank in range(RANKS)]
    return bench.run_together(f"apart {task.function}", commands, **ONE_THREAD)


def run_peer(bench, task, epochs, loader):
    command = [PYTHON, PEER, "--data", task.data, "--epochs", epochs, "--loader", loader, *task.peer]
    shared = {"WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), **ONE_THREAD}
    return bench.run_together(f"ddp {task.function} {loader}", [(command, {"RANK": str(rank)}) for rank in range(RANKS)],
                              **shared)


def epoch_seconds(run):
    few, many = run(FEW), run(MANY)
    return (many - few) / (MANY - FEW)


def claim_ratio(bench, name, over, under, relation, target):
    """Claims a ratio, or skips it if other load on the machine made the difference of two runs zero or negative."""
    if min(over + under) <= 0:
        print(f"skipped: {name}: the machine is too busy to time an epoch", flush=True)
    else:
        bench.claim(name, ratio(over, under), relation, target)


def bench_fashion(bench, options, task):
    work = {"trainrt_epoch_s": lambda: epoch_seconds(lambda epochs: run_ours(bench, task, epochs)[0])}
    for loader in ("dataloader", "memory"):
        work[f"ddp_{loader}_epoch_s"] = lambda loader=loader: epoch_seconds(
            lambda epochs: run_peer(bench, task, epochs, loader))
    figures = bench.interleaved(options.repetitions, work)
    ours = figures["trainrt_epoch_s"]
    claim_ratio(bench, "fashion_mnist_vs_ddp_gloo", figures["ddp_dataloader_epoch_s"], ours, ">=", 3.5)
    claim_ratio(bench, "fashion_mnist_vs_ddp_gloo_batches_in_memory", figures["ddp_memory_epoch_s"], ours, ">=", 3)


def bench_cost(bench, options, task, half):
    """Measures the part `cost`, with two more repetitions than the other parts, because its runs are short."""
    figures = bench.interleaved(options.repetitions + 2, {
        "together_epoch_s": lambda: epoch_seconds(lambda epochs: run_ours(bench, task, epochs)[0]),
        "apart_epoch_s": lambda: epoch_seconds(lambda epochs: run_apart(bench, half, epochs))})
    print("# step cost: time of an epoch of 2 ranks / time of an epoch of two runs of 1 rank at the same time, each on half of the "
          "data: the same steps and evaluation per rank, without communication", flush=True)
    claim_ratio(bench, "fashion_mnist_step_vs_no_communication", figures["together_epoch_s"], figures["apart_epoch_s"], "<=",
                1.25)


def overlapped(output):
    """Returns the percentage of the bytes of gradients that were averaged during backward passes, as the train function printed it."""
    share = re.search(r"([0-9.]+) % of their bytes were averaged while", output)
    return float(share[1]) if share else None


def bench_resnet(bench, options):
    data = bench.fresh("resnet_data")
    first_samples(data, {"train": RESNET_STEPS * RESNET_BATCH * RANKS, "test": RESNET_TEST})
    task = resnet_task(data)
    shares = []

    def ours(epochs):
        seconds, output = run_ours(bench, task, epochs)
        shares.append(overlapped(output))
        return seconds

    figures = bench.interleaved(options.repetitions, {
        "resnet18_trainrt_epoch_s": lambda: epoch_seconds(ours),
        "resnet18_ddp_epoch_s": lambda: epoch_seconds(lambda epochs: run_peer(bench, task, epochs, "memory"))})
    bench.record["figures"]["resnet18_overlapped_percent"] = shares
    print(f"# resnet18: {RESNET_STEPS} steps per epoch; overlapped share of communication: "
          f"{', '.join('unknown' if share is None else f'{share:.3g} %' for share in shares)}", flush=True)
    claim_ratio(bench, "resnet18_vs_ddp_gloo", figures["resnet18_ddp_epoch_s"], figures["resnet18_trainrt_epoch_s"], ">=", 1)


def read_options():
    options = argparse.ArgumentParser()
    options.add_argument("build", nargs="?", help="build directory, read in bench.py")
    options.add_argument("--part", choices=PARTS, action="append", dest="parts")
    options.add_argument("--repetitions", type=int, default=3)
    options.add_argument("--samples", type=int, help="number of samples of the training set; default: all, or "
                         "6400 with the slow reference BLAS")
    options = options.parse_args()
    options.parts = options.parts or PARTS
    return options


def main():
    options = read_options()
    need(TRAINRT, "trainrt")
    need(BUILD / "modules/torch.so", "the torch module")
    need(MPIEXEC, "mpiexec")
    need_fashion_mnist()
    bench = Bench("train", __doc__.strip())
    if subprocess.run([PYTHON, "-c", "import torch, numpy"], capture_output=True).returncode != 0:
        skip(f"{PYTHON} has no torch (package python3-torch)")
    slow = "/blas/libblas.so" in blas_file()
    samples = options.samples or (6400 if slow else 60000)
    tests = 10000 if samples == 60000 else max(1000, samples // 6)
    if samples < 60000:
        print(f"# training on the first {samples} samples; BLAS {blas_file()}{' (the slow reference one)' if slow else ''}", flush=True)
    bench.record["training_samples"] = samples
    data, half = bench.fresh("data"), bench.fresh("half")
    if samples == 60000:
        data = FASHION_MNIST
    else:
        first_samples(data, {"train": samples, "test": tests})
    if "fashion" in options.parts:
        bench_fashion(bench, options, fashion_task(data))
    if "cost" in options.parts:
        first_samples(half, {"train": samples // RANKS, "test": tests // RANKS})
        bench_cost(bench, options, fashion_task(data), fashion_task(half))
    if "resnet" in options.parts:
        bench_resnet(bench, options)
    bench.finish()


main()
