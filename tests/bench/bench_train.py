#!/usr/bin/python3
"""FashionMNIST, the seeds' benchmark, 2 ranks: an epoch of trainrt against one of PyTorch DistributedDataParallel over gloo.

Same data, model (ReLU on the logits included), global batch 64, SGD lr 1e-3, evaluation after every epoch, one thread a rank,
no checkpoints. The time of an epoch is (a run of 3 epochs - a run of 1) / 2, taken from outside, so start and end count for
nobody. The claim is peer / trainrt.

    bench_train.py [BUILD] [--repetitions N] [--loader memory|dataloader] [--samples N]
"""
import argparse
import os
import socket
import subprocess
import sys
import time

from bench import FASHION_MNIST, MPIEXEC, SOURCE, TRAINRT, BUILD, Bench, blas_file, median, need, skip, with_file
from fashion_data import data_sections, first_samples, need_fashion_mnist

RANKS, FEW, MANY = 2, 1, 3
PYTHON = "/usr/bin/python3"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def run_ours(bench, data, epochs):
    storage = bench.fresh("runs")
    config = with_file(bench.work / "fashion.ini", f"[run]\nname = fashion\nstorage_path = {storage}\nseed = 0\n"
                       "[train]\nfunction = fashion_mnist\n"
                       "[loop]\nbatch_size = 32\neval_batch_size = 1000\nlr = 0.001\nrelu_logits = true\n"
                       f"[checkpoint]\nevery = off\n{data_sections(data)}")
    command = [MPIEXEC, "-n", RANKS, TRAINRT, "--config", config, f"--loop.epochs={epochs}"]
    return bench.run("trainrt", command, OMP_NUM_THREADS="1")[0]


def run_peer(bench, data, epochs, loader):
    command = [PYTHON, str(SOURCE / "tests/bench/peer_ddp.py"), "--data", str(data), "--epochs", str(epochs),
               "--batch-size", "32", "--eval-batch-size", "1000", "--loader", loader]
    shared = {"WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "OMP_NUM_THREADS": "1"}
    bench.note_command(f"ddp_{loader}", command, {"RANK": "0..1", **shared})
    start = time.monotonic()
    ranks = [subprocess.Popen(command, env={**os.environ, **shared, "RANK": str(rank)}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) for rank in range(RANKS)]
    try:
        outputs = [rank.communicate(timeout=1800)[0] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    seconds = time.monotonic() - start
    for rank, output in zip(ranks, outputs):
        if rank.returncode != 0:
            sys.exit(f"train: the peer ended with {rank.returncode}:\n{output[-3000:]}")
    return seconds


def epoch_seconds(run):
    few, many = run(FEW), run(MANY)
    return (many - few) / (MANY - FEW)


def read_options():
    options = argparse.ArgumentParser()
    options.add_argument("build", nargs="?", help="build directory, read in bench.py")
    options.add_argument("--repetitions", type=int, default=3)
    options.add_argument("--loader", choices=("memory", "dataloader"), action="append")
    options.add_argument("--samples", type=int, help="first samples of the training set; all by default, "
                         "6400 where the BLAS is the slow reference one")
    return options.parse_args()


def main():
    options = read_options()
    loaders = options.loader or ["memory"]
    need(TRAINRT, "trainrt")
    need(BUILD / "modules/torch.so", "the torch module")
    need(MPIEXEC, "mpiexec")
    need_fashion_mnist()
    bench = Bench("train", __doc__.strip())
    if subprocess.run([PYTHON, "-c", "import torch, numpy"], capture_output=True).returncode != 0:
        skip(f"{PYTHON} has no torch (package python3-torch)")
    slow = "/blas/libblas.so" in blas_file()
    samples = options.samples or (6400 if slow else None)
    data = FASHION_MNIST
    if samples:
        print(f"# the first {samples} samples; BLAS {blas_file()}{' (the slow reference one)' if slow else ''}", flush=True)
        data = bench.fresh("data")
        first_samples(data, {"train": samples, "test": max(1000, samples // 6)})
    bench.record["training_samples"] = samples or 60000
    work = {"trainrt_epoch_s": lambda: epoch_seconds(lambda epochs: run_ours(bench, data, epochs))}
    for loader in loaders:
        peer = lambda epochs, loader=loader: run_peer(bench, data, epochs, loader)
        work[f"ddp_{loader}_epoch_s"] = lambda peer=peer: epoch_seconds(peer)
    figures = bench.interleaved(options.repetitions, work)
    ours = median(figures["trainrt_epoch_s"])
    for loader in loaders:
        name = "fashion_mnist_vs_ddp_gloo" + ("" if loader == "memory" else f"_{loader}")
        peer = median(figures[f"ddp_{loader}_epoch_s"])
        if min(ours, peer) <= 0:
            print(f"skipped: {name}: the machine is too busy to time an epoch", flush=True)
        else:
            bench.claim(name, peer / ours, ">=", 1.0)
    bench.finish()


main()
