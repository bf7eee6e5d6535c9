#!/usr/bin/python3
"""Samples a second that a train function gets from [data.train] on one rank, 784 bytes and a label each, batches of 64, warm page cache,
beside the machine's limits, measured in the same process over the same rows, and torch's DataLoader over h5py.

shuffled    HDF5, contiguous, nothing kept in memory, all samples among each other; the limit: pread of each row in the same order
blocks      the same file shuffled in blocks; the limit: copying the same rows in the same order out of memory
memory      the same file, kept in memory; the same limit
gzip        HDF5 with gzip chunks in their order, beside h5py's reading of the same in slices of a chunk
python      the first one, images and labels as torch tensors in a program's iter_torch_batches()
tokens      windows of 1,025 tokens out of a flat file, shuffled, beside NumPy's memmap
"""
import re
import time

import h5py
import numpy

from bench import BUILD, TRAINRT, SOURCE, Bench, need, ratio, with_file

LIBRARY = BUILD / "bench/data_loop.so"
SAMPLES, BYTES, CHUNK = 200_000, 784, 1024
TOKENS, WINDOW = 60_000_000, 1024


def write_files(folder):
    images = numpy.random.default_rng(1).integers(0, 256, (SAMPLES, BYTES), "u1")
    labels = numpy.arange(SAMPLES, dtype="u1")
    with h5py.File(folder / "plain.h5", "w") as file:
        file["images"], file["labels"] = images, labels
    with h5py.File(folder / "gzip.h5", "w") as file:
        file.create_dataset("images", data=images[:50_000] & 15, chunks=(CHUNK, BYTES), compression="gzip", compression_opts=4)
    numpy.random.default_rng(2).integers(0, 50_000, TOKENS, "u2").tofile(folder / "train.bin")
    with h5py.File(folder / "plain.h5", "r") as file:
        return file["images"].id.get_offset()


def walked(bench, label, data, loop=""):
    """What the loop prints, {name: a second}."""
    keys = "".join(f"{key} = {value}\n" for key, value in data.items())
    config = with_file(bench.work / "data.ini", f"[run]\nname = {label}\nstorage_path = {bench.fresh('runs')}\n[train]\nlibrary = {LIBRARY}\n"
                       f"[loop]\nbatch_size = 64\n{loop}\n[checkpoint]\nevery = off\n[data.train]\n{keys}")
    output = bench.run(label, [TRAINRT, "--config", config])[1]
    return {name: float(value) for name, value in re.findall(r"(\w+)_per_s=([0-9]+)", output)}


def of_program(bench, data):
    keys = "".join(f"{key} = {value}\n" for key, value in data.items())
    config = with_file(bench.work / "program.ini", f"[run]\nname = python\nstorage_path = {bench.fresh('runs')}\n[train]\nprogram = /usr/bin/python3 "
                       f"{SOURCE}/tests/bench/program_batches.py\n[data.train]\n{keys}")
    return float(re.search(r"samples_per_s=([0-9]+)", bench.run("python", [TRAINRT, "--config", config])[1])[1])


def loader(bench, file):
    output = bench.run("DataLoader", ["/usr/bin/python3", SOURCE / "tests/bench/peer_loader.py", file, "20000"])[1]
    return float(re.search(r"loader_per_s=([0-9]+)", output)[1])


def h5py_slices(file):
    with h5py.File(file, "r") as opened:
        images = opened["images"]
        begin = time.monotonic()
        for first in range(0, len(images), CHUNK):
            images[first:first + CHUNK].sum()
        return len(images) / (time.monotonic() - begin)


def memmap_windows(file):
    tokens = numpy.memmap(file, "u2", "r")
    starts = numpy.random.default_rng(3).permutation((TOKENS - 1) // WINDOW) * WINDOW
    begin = time.monotonic()
    for at in range(0, len(starts), 64):
        numpy.stack([tokens[start:start + WINDOW + 1].astype("i4") for start in starts[at:at + 64]]).sum()
    return len(starts) / (time.monotonic() - begin)


def main():
    need(TRAINRT, "trainrt")
    need(LIBRARY, "data_loop.so")
    bench = Bench("data", __doc__.strip())
    offset = write_files(bench.work)
    plain, gzip, train = (bench.work / name for name in ("plain.h5", "gzip.h5", "train.bin"))
    limits = f"file = {plain}\noffset = {offset}\nrow_bytes = {BYTES}"
    shuffled = {"source": plain, "fields": "images", "shuffle": "true"}
    figures = {}

    def part(label, data, loop=""):
        for name, value in walked(bench, label, data, loop).items():
            figures.setdefault(f"{label}_{name}", []).append(value)

    for _ in range(5):
        part("shuffled", {**shuffled, "memory": "8 MB"}, limits)
        part("blocks", {**shuffled, "memory": "8 MB", "block": 1024, "window": 64}, limits)
        part("memory", {**shuffled, "memory": "1 GB"}, limits)
        part("gzip", {"source": gzip, "memory": "8 MB", "chunk_cache": "8 MB"})
        part("tokens", {"source": train, "length": WINDOW, "shuffle": "true", "memory": "8 MB"})
        for name, measure in (("loader", lambda: loader(bench, plain)),
                              ("python", lambda: of_program(bench, {**shuffled, "fields": "images, labels", "memory": "8 MB"})),
                              ("h5py_gzip", lambda: h5py_slices(gzip)), ("memmap_tokens", lambda: memmap_windows(train))):
            figures.setdefault(name, []).append(measure())
    bench.note(figures)
    claims = (("shuffled_vs_loader", "shuffled_samples", "loader", 20), ("shuffled_vs_pread", "shuffled_samples", "shuffled_pread", 0.85),
              ("blocks_vs_loader", "blocks_samples", "loader", 50), ("blocks_vs_memory", "blocks_samples", "blocks_memory", 0.65),
              ("memory_vs_loader", "memory_samples", "loader", 50), ("memory_vs_memory", "memory_samples", "memory_memory", 0.65),
              ("python_vs_loader", "python", "loader", 8), ("gzip_vs_h5py", "gzip_samples", "h5py_gzip", 2), ("tokens_vs_memmap", "tokens_samples", "memmap_tokens", 1.8))
    for name, ours, peer, target in claims:
        bench.claim(name, ratio(figures[ours], figures[peer]), ">=", target)
    bench.finish()


main()
