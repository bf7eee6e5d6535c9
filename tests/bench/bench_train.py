#!/usr/bin/python3
"""Compares training on 2 ranks, one thread each, on FashionMNIST with PyTorch's DistributedDataParallel over gloo.

The time of an epoch is (time of a run of 3 epochs - time of a run of 1 epoch) / 2, so the start and end of a process are not
counted. It includes the evaluation after every epoch; checkpoints are off on both sides. Both sides run in turn. A ratio is
taken within each repetition, where both have about the same load by other programs, and the median of the ratios is claimed.

fashion  the MLP 784-512-512-10 of Ray's torch_benchmark.py, with a ReLU on the logits, global batch 64, SGD lr 1e-3. The peer
         gets its batches from DataLoader and DistributedSampler, like that script; a second peer has them in memory.
cost     cost of communication: an epoch of 2 ranks, compared with two runs of 1 rank each at the same time, each with half of
         the data and the same batch size per rank. Both sides have the same load, steps and evaluation per rank; only the 2
         ranks communicate, without and with loop.share_weights. Measured for the MLP, ResNet-18 with momentum, and a transformer
         of 10.4 million parameters with AdamW. The time of an epoch is the median over the epochs of a run without its first,
         in which the data is still being unpacked; of the two runs of 1 rank, the slower counts.
resnet   ResNet-18 (3x3 stem, 28x28), batch 32 per rank, SGD with momentum, on the first samples.

    bench_train.py [BUILD] [--part fashion|cost|resnet] [--repetitions N] [--samples N] [--pairs N] [--model NAME]

The peers use $TRAINRT_PYTHON, else /usr/bin/python3, with torch.
"""
import argparse
import array
import json
import os
import re
import socket
import subprocess

from bench import FASHION_MNIST, MPIEXEC, SOURCE, TRAINRT, BUILD, Bench, blas_file, median, need, ratio, skip, with_file
from fashion_data import data_sections, first_samples, need_fashion_mnist

RANKS, FEW, MANY = 2, 1, 3
PYTHON = os.environ.get("TRAINRT_PYTHON", "/usr/bin/python3")
PEER = SOURCE / "tests/bench/peers/peer_ddp.py"
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
RESNET_STEPS, RESNET_BATCH, RESNET_TEST = 24, 32, 256  # steps per epoch; batch per rank; images to evaluate
GPT_BATCH, GPT_BLOCK = 8, 64  # windows per rank and step; tokens of a window that are predicted
COST_EPOCHS, COST_STEPS = 4, 6  # epochs of a run; steps per epoch of ResNet-18 and the transformer
PARTS = ("fashion", "cost", "resnet")


class Task:
    """Training that both sides do: a train function, its data, its [loop] section, and the same options for the peer."""

    def __init__(self, function, data, loop, peer, sections=None):
        self.function, self.data, self.loop, self.peer = function, data, loop, peer
        self.sections = sections or data_sections(data)

    def config(self, bench, name, storage):
        loop = "".join(f"{key} = {value}\n" for key, value in self.loop.items())
        return with_file(bench.work / f"{name}.ini", f"[run]\nname = {name}\nstorage_path = {storage}\nseed = 0\n"
                         f"[train]\nfunction = {self.function}\n[loop]\n{loop}[checkpoint]\nevery = off\n"
                         f"{self.sections}")


def fashion_task(data):
    return Task("fashion_mnist", data, {"batch_size": 32, "eval_batch_size": 1000, "lr": 0.001, "relu_logits": "true"},
                ["--model", "mlp", "--batch-size", 32, "--eval-batch-size", 1000, "--lr", 0.001])


def resnet_task(data):
    return Task("resnet18", data, {"batch_size": RESNET_BATCH, "eval_batch_size": RESNET_TEST // RANKS, "lr": 0.01,
                                   "momentum": 0.9, "weight_decay": 0},
                ["--model", "resnet18", "--batch-size", RESNET_BATCH, "--eval-batch-size", RESNET_TEST // RANKS, "--lr", 0.01,
                 "--momentum", 0.9])


def token_files(folder, counts):
    """Writes `counts["train"]` windows of GPT_BLOCK + 1 tokens of 16 bits, which follow from a fixed formula."""
    numbers = (i * 2654435761 % 2**32 >> 20 for i in range(counts["train"] * (GPT_BLOCK + 1)))
    (folder / "train.bin").write_bytes(array.array("H", numbers).tobytes())


def transformer_task(data):
    """The function gpt with 10.4 million parameters; it has no peer."""
    return Task("gpt", data, {"batch_size": GPT_BATCH, "vocab_size": 4096, "block_size": GPT_BLOCK, "n_layer": 6, "n_head": 8, "n_embd": 352}, [],
                f"[data.train]\nformat = tokens\nsource = {data}/train.bin\ndtype = u16\nlength = {GPT_BLOCK}\n")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def run_ours(bench, task, epochs):
    """Runs trainrt; returns the seconds and the output."""
    config = task.config(bench, "ours", bench.fresh("runs"))
    command = [MPIEXEC, "-n", RANKS, TRAINRT, "--config", config, f"--loop.epochs={epochs}"]
    return bench.run(f"trainrt {task.function}", command, **ONE_THREAD)


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


def steady_epoch_s(run_dir):
    """Returns the median time of the epochs of a run without its first."""
    rows = [json.loads(line) for line in (run_dir / "result.json").read_text().splitlines()]
    return median(row["_time_this_iter_s"] for row in rows[1:])


def epoch_of_ranks(bench, task, share_weights):
    storage = bench.fresh("runs")
    config = task.config(bench, "ours", storage)
    bench.run(f"cost {task.function} {'shared' if share_weights else ''}", [MPIEXEC, "-n", RANKS, TRAINRT, "--config", config,
              f"--loop.epochs={COST_EPOCHS}", f"--loop.share_weights={str(share_weights).lower()}"], **ONE_THREAD)
    return steady_epoch_s(storage / "ours")


def epoch_apart(bench, task):
    """Runs RANKS runs of 1 rank at once; returns the epoch of the slower one."""
    storage = bench.fresh("runs")
    names = [f"alone{rank}" for rank in range(RANKS)]
    commands = [([TRAINRT, "--config", task.config(bench, name, storage), f"--loop.epochs={COST_EPOCHS}"], {}) for name in names]
    bench.run_together(f"apart {task.function}", commands, **ONE_THREAD)
    return max(steady_epoch_s(storage / name) for name in names)


def bench_cost(bench, options, samples, tests):
    """Compares one run of each side after the other."""
    images = {"train": COST_STEPS * RESNET_BATCH, "test": RESNET_TEST // RANKS}
    tasks = {"fashion_mnist": (fashion_task, {"train": samples // RANKS, "test": tests // RANKS}, first_samples, 1.05),
             "resnet18": (resnet_task, images, first_samples, 1.03),
             "transformer": (transformer_task, {"train": COST_STEPS * GPT_BATCH, "test": 0}, token_files, 1.03)}
    for name in options.models or tasks:
        task, counts, write, goal = tasks[name]
        whole, half = bench.fresh(f"{name}_whole"), bench.fresh(f"{name}_half")
        write(whole, {part: RANKS * count for part, count in counts.items()})
        write(half, counts)
        together, shared, apart = bench.interleaved(options.pairs, {
            f"{name}_together_epoch_s": lambda: epoch_of_ranks(bench, task(whole), share_weights=False),
            f"{name}_share_weights_epoch_s": lambda: epoch_of_ranks(bench, task(whole), share_weights=True),
            f"{name}_apart_epoch_s": lambda: epoch_apart(bench, task(half))}).values()
        claim_spread(bench, f"{name}_step_vs_no_communication", together, apart, goal)
        claim_spread(bench, f"{name}_step_with_share_weights_vs_no_communication", shared, apart, goal)


def claim_spread(bench, name, over, under, goal):
    """Claims the median of the ratios, and prints their spread."""
    ratios = sorted(a / b for a, b in zip(over, under))
    quarter = len(ratios) // 4
    print(f"# {name}: half of the ratios between {ratios[quarter]:.3f} and {ratios[-1 - quarter]:.3f}, all between {ratios[0]:.3f} and {ratios[-1]:.3f}", flush=True)
    bench.claim(name, median(ratios), "<=", goal)


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
    options.add_argument("--pairs", type=int, default=15, help="pairs of runs of the part cost; default 15")
    options.add_argument("--model", choices=("fashion_mnist", "resnet18", "transformer"), action="append", dest="models",
                         help="models of the part cost; default: all")
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
    data = bench.fresh("data")
    if samples == 60000:
        data = FASHION_MNIST
    else:
        first_samples(data, {"train": samples, "test": tests})
    if "fashion" in options.parts:
        bench_fashion(bench, options, fashion_task(data))
    if "cost" in options.parts:
        bench_cost(bench, options, samples, tests)
    if "resnet" in options.parts:
        bench_resnet(bench, options)
    bench.finish()


main()
