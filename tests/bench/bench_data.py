#!/usr/bin/python3
"""Samples per second that a train function gets from [data.train] on one rank: 784 bytes and a label per sample, batches of 64, data in
the page cache. The rates are compared with limits of the machine, measured in the same process with the same rows, and with torch's
DataLoader over h5py. Arguments after the build directory select rows of this table.

shuffled    contiguous HDF5, no data kept in memory, all samples shuffled; limit: pread of each row in the same order
blocks      the same file, shuffled in blocks; limit: copying the same rows in memory in the same order
memory      the same file, kept in memory; the same limit
gzip        HDF5 with gzip chunks, in order; peer: h5py, slices of one chunk
python      the same as `shuffled`, in a Python program that gets torch tensors from iter_torch_batches()
tokens      windows of 1,025 tokens of a flat file, shuffled; peer: NumPy's memmap
sequential  the first file, in order; limit: pread of each batch
cold        not in the page cache: the windows of `tokens` in 2 GB by direct reads, compared with NumPy's memmap; and the first file, in
            order, compared with direct reads of 1 MiB
small       one epoch over 47 MB of NPY by trainrt.data in a Python process, with its start and end; peer: Ray Data ($TRAINRT_PYTHON, if it
            has ray)
csv         a table of 20 columns of numbers of 6 digits, in order; peer: pandas.read_csv ($TRAINRT_PYTHON, or Debian's python3-pandas if
            installed)
csv_exact   the same with 17 digits, as NumPy writes doubles
waiting     share of the time of steps for which the train function fashion_mnist waits for data: 2 ranks, one epoch
"""
import json
import mmap
import os
import re
import subprocess
import sys
import time

import h5py
import numpy

from bench import BUILD, MPIEXEC, TRAINRT, SOURCE, Bench, median, need, ratio, repetitions_or, with_file
from fashion_data import FASHION_MNIST, data_sections, need_fashion_mnist

LIBRARY = BUILD / "bench/data_loop.so"
SAMPLES, BYTES, CHUNK = 200_000, 784, 1024
TOKENS, WINDOW = 60_000_000, 1024
COLD_TOKENS, COLD_BATCHES = 1_000_000_000, 300
MIB = 1 << 20


def asks_for(*rows):
    """Returns whether the command line names one of these rows, or no row."""
    return not sys.argv[2:] or set(rows) & set(sys.argv[2:])


def write_files(folder):
    """Writes the files of the chosen rows. Returns the position of the images in plain.h5, in bytes."""
    images = numpy.random.default_rng(1).integers(0, 256, (SAMPLES, BYTES), "u1")
    labels = numpy.arange(SAMPLES, dtype="u1")
    with h5py.File(folder / "plain.h5", "w") as file:
        file["images"], file["labels"] = images, labels
    with h5py.File(folder / "gzip.h5", "w") as file:
        file.create_dataset("images", data=images[:50_000] & 15, chunks=(CHUNK, BYTES), compression="gzip", compression_opts=4)
    tokens = numpy.random.default_rng(2).integers(0, 50_000, TOKENS, "u2")
    tokens.tofile(folder / "train.bin")
    if asks_for("cold"):
        with open(folder / "cold.bin", "wb") as file:
            for begin in range(0, COLD_TOKENS, TOKENS):
                file.write(tokens[:COLD_TOKENS - begin].tobytes())
    numpy.save(folder / "small.npy", images[:60_000])
    if asks_for("csv", "csv_exact"):
        write_tables(folder)
    with h5py.File(folder / "plain.h5", "r") as file:
        return file["images"].id.get_offset()


def write_tables(folder):
    numbers = numpy.random.default_rng(4).normal(size=(100_000, 20))
    header = ",".join(f"c{column}" for column in range(20))
    for name, form in (("table.csv", "%.6g"), ("exact.csv", "%.17g")):
        numpy.savetxt(folder / name, numbers, form, ",", header=header, comments="")
        head, rows = (folder / name).read_bytes().split(b"\n", 1)
        (folder / name).write_bytes(head + b"\n" + rows * 5)


def walked(bench, label, data, loop=""):
    """Runs data_loop; returns its measurements as {name: number per second}."""
    keys = "".join(f"{key} = {value}\n" for key, value in data.items())
    config = with_file(bench.work / "data.ini", f"[run]\nname = {label}\nstorage_path = {bench.fresh('runs')}\n[train]\nlibrary = {LIBRARY}\n"
                       f"[loop]\nbatch_size = 64\n{loop}\n[checkpoint]\nevery = off\n[data.train]\n{keys}")
    output = bench.run(label, [TRAINRT, "--config", config])[1]
    return {name: float(value) for name, value in re.findall(r"(\w+)_per_s=([0-9]+)", output)}


def of_program(bench, data):
    keys = "".join(f"{key} = {value}\n" for key, value in data.items())
    config = with_file(bench.work / "program.ini", f"[run]\nname = python\nstorage_path = {bench.fresh('runs')}\n[train]\nprogram = /usr/bin/python3 "
                       f"{SOURCE}/tests/bench/programs/program_batches.py\n[data.train]\n{keys}")
    return float(re.search(r"samples_per_s=([0-9]+)", bench.run("python", [TRAINRT, "--config", config])[1])[1])


PYTHON = os.environ.get("TRAINRT_PYTHON", "/usr/bin/python3")


def has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode == 0


def pandas_rows(bench, file):
    return float(re.search(r"rows_per_s=([0-9]+)", bench.run("pandas", [PYTHON, SOURCE / "tests/bench/peers/peer_csv.py", file])[1])[1])


def small_epoch(bench, library, file):
    """Returns epochs per second of small_epoch.py, run by `library` ("trainrt" or "ray")."""
    python = PYTHON if library == "ray" else "/usr/bin/python3"
    return 1 / bench.run(f"small {library}", [python, SOURCE / "tests/bench/programs/small_epoch.py", library, file], PYTHONPATH=str(BUILD / "python"),
                         RAY_DATA_DISABLE_PROGRESS_BARS="1")[0]


def share_of_waiting(bench):
    config = with_file(bench.work / "fashion.ini", f"[run]\nname = waiting\nstorage_path = {bench.fresh('runs')}\n[train]\nfunction = fashion_mnist\n"
                       f"[loop]\nbatch_size = 32\nlr = 0.001\nepochs = 2\n[checkpoint]\nevery = off\n[metrics]\ndetailed = true\n"
                       f"{data_sections(FASHION_MNIST, shuffle=True)}")
    bench.run("waiting", [MPIEXEC, "-n", "2", TRAINRT, "--config", config], OMP_NUM_THREADS="1")
    first, second = (json.loads(line) for line in (bench.work / "runs/waiting/result.json").read_text().splitlines())
    return (second["_time_data_s"] - first["_time_data_s"]) / second["_time_this_iter_s"]


def loader(bench, file):
    output = bench.run("DataLoader", ["/usr/bin/python3", SOURCE / "tests/bench/peers/peer_loader.py", file, "20000"])[1]
    return float(re.search(r"loader_per_s=([0-9]+)", output)[1])


def h5py_slices(file):
    with h5py.File(file, "r") as opened:
        images = opened["images"]
        begin = time.monotonic()
        for first in range(0, len(images), CHUNK):
            images[first:first + CHUNK].sum()
        return len(images) / (time.monotonic() - begin)


def memmap_windows(file, windows=None):
    tokens = numpy.memmap(file, "u2", "r")
    starts = numpy.random.default_rng(3).permutation((len(tokens) - 1) // WINDOW)[:windows] * WINDOW
    begin = time.monotonic()
    for at in range(0, len(starts), 64):
        numpy.stack([tokens[start:start + WINDOW + 1].astype("i4") for start in starts[at:at + 64]]).sum()
    return len(starts) / (time.monotonic() - begin)


def forget(file):
    """Drops a file from the page cache."""
    with open(file, "rb") as opened:
        os.fdatasync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def cold_memmap(file):
    forget(file)
    return memmap_windows(file, 64 * COLD_BATCHES)


def direct(file):
    """Returns samples per second of direct reads (O_DIRECT) of 1 MiB."""
    forget(file)
    descriptor, piece, at = os.open(file, os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, MIB), 0
    begin = time.monotonic()
    while (count := os.preadv(descriptor, [piece], at)) > 0:
        at += count
        if count < MIB:
            break
    os.close(descriptor)
    return at / BYTES / (time.monotonic() - begin)


def main():
    need(TRAINRT, "trainrt")
    need(LIBRARY, "data_loop.so")
    bench = Bench("data", __doc__.strip())
    offset = write_files(bench.work)
    plain, gzip, train, cold = (bench.work / name for name in ("plain.h5", "gzip.h5", "train.bin", "cold.bin"))
    small, table, exact = (bench.work / name for name in ("small.npy", "table.csv", "exact.csv"))
    limits = f"file = {plain}\noffset = {offset}\nrow_bytes = {BYTES}"
    shuffled = {"source": plain, "fields": "images", "shuffle": "true"}
    figures = {}

    def part(label, data, loop=""):
        for name, value in walked(bench, label, data, loop).items():
            figures.setdefault(f"{label}_{name}", []).append(value)

    def of_peer(name, measure):
        figures.setdefault(name, []).append(measure())

    rows = {
        "shuffled": lambda: part("shuffled", {**shuffled, "memory": "8 MB"}, limits),
        "blocks": lambda: part("blocks", {**shuffled, "memory": "8 MB", "block": 1024, "window": 64}, limits),
        "memory": lambda: part("memory", {**shuffled, "memory": "1 GB"}, limits),
        "gzip": lambda: (part("gzip", {"source": gzip, "memory": "8 MB", "chunk_cache": "8 MB"}), of_peer("h5py_gzip", lambda: h5py_slices(gzip))),
        "python": lambda: of_peer("python", lambda: of_program(bench, {**shuffled, "fields": "images, labels", "memory": "8 MB"})),
        "tokens": lambda: (part("tokens", {"source": train, "length": WINDOW, "shuffle": "true", "memory": "8 MB"}),
                           of_peer("memmap_tokens", lambda: memmap_windows(train))),
        "sequential": lambda: part("sequential", {"source": plain, "fields": "images", "memory": "8 MB"}, limits),
        "cold": lambda: (part("cold_tokens", {"source": cold, "length": WINDOW, "shuffle": "true", "memory": "8 MB", "read_method": "direct"},
                              f"file = {cold}\ncold = true\nbatches = {COLD_BATCHES}"), of_peer("cold_memmap", lambda: cold_memmap(cold)),
                         part("cold_sequential", {"source": plain, "fields": "images", "memory": "8 MB"}, f"file = {plain}\ncold = true"),
                         of_peer("direct", lambda: direct(plain))),
        "small": lambda: (of_peer("small", lambda: small_epoch(bench, "trainrt", small)), of_peer("small_ray", lambda: small_epoch(bench, "ray", small))),
        "csv": lambda: (part("csv", {"source": table, "vector": "x", "memory": "8 MB"}), of_peer("csv_pandas", lambda: pandas_rows(bench, table))),
        "csv_exact": lambda: (part("csv_exact", {"source": exact, "vector": "x:f64", "memory": "8 MB"}),
                              of_peer("csv_exact_pandas", lambda: pandas_rows(bench, exact))),
        "waiting": lambda: of_peer("waiting", lambda: share_of_waiting(bench))}
    claims = (("shuffled", "vs_loader", "shuffled_samples", "loader", 20), ("shuffled", "vs_pread", "shuffled_samples", "shuffled_pread", 0.85),
              ("blocks", "vs_loader", "blocks_samples", "loader", 50), ("blocks", "vs_memory", "blocks_samples", "blocks_memory", 0.65),
              ("memory", "vs_loader", "memory_samples", "loader", 50), ("memory", "vs_memory", "memory_samples", "memory_memory", 0.65),
              ("python", "vs_loader", "python", "loader", 8), ("gzip", "vs_h5py", "gzip_samples", "h5py_gzip", 2),
              ("tokens", "vs_memmap", "tokens_samples", "memmap_tokens", 1.8),
              ("sequential", "vs_pread", "sequential_samples", "sequential_pread", 0.95),
              ("cold", "tokens_vs_memmap", "cold_tokens_samples", "cold_memmap", 6),
              ("cold", "sequential_vs_direct", "cold_sequential_samples", "direct", 0.9), ("small", "vs_ray_data", "small", "small_ray", 50),
              ("csv", "vs_pandas", "csv_samples", "csv_pandas", 5), ("csv_exact", "vs_pandas", "csv_exact_samples", "csv_exact_pandas", 5))
    asked = sys.argv[2:] or list(rows)
    if set(asked) - set(rows):
        sys.exit(f"no such row: {', '.join(sorted(set(asked) - set(rows)))}; valid rows: {', '.join(rows)}")
    for row, module in (("small", "ray.data"), ("csv", "pandas"), ("csv_exact", "pandas")):
        if row in asked and not has(module):
            print(f"skipped: {row}: {PYTHON} has no {module}; set TRAINRT_PYTHON to a Python that has it (make test-frameworks installs one)", flush=True)
            asked.remove(row)
    if "waiting" in asked:
        need_fashion_mnist()
    claims = [claim for claim in claims if claim[0] in asked]
    for _ in range(repetitions_or(5)):
        for row in asked:
            rows[row]()
        if any(peer == "loader" for *_, peer, _ in claims):
            of_peer("loader", lambda: loader(bench, plain))
    bench.note(figures)
    for row, name, ours, peer, target in claims:
        bench.claim(f"{row}_{name}", ratio(figures[ours], figures[peer]), ">=", target)
    if "waiting" in asked:
        bench.claim("waiting_of_steps", median(figures["waiting"]), "<=", 0.01)
    bench.finish()


main()
