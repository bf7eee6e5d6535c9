#!/usr/bin/python3
"""Samples per second that a train function gets from Parquet files on one core, warm page cache, in the order of the files, compared with
pyarrow. Arguments after the build directory select rows of this table.

parquet     10 of 20 columns of 2 million rows (snappy, row groups of 250,000); peer: pyarrow's scan of the same columns
vector      the same columns as one vector of f32; the same peer
"""
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench import BUILD, SOURCE, TRAINRT, Bench, median, ratio, skip, with_file  # noqa: E402

LIBRARY = BUILD / "bench/data_loop.so"
PYTHON = BUILD / "arrow-python/bin/python"
ROWS, COLUMNS, CHOSEN, BATCH = 2_000_000, 20, 10, 4096
MAKE_PARQUET = """
import sys, numpy, pyarrow as pa, pyarrow.parquet as pq
random = numpy.random.default_rng(1)
kinds = [lambda: random.normal(size={rows}), lambda: random.normal(size={rows}).astype("f4"), lambda: random.integers(0, 1000, {rows}),
         lambda: random.integers(0, 1 << 40, {rows})]
pq.write_table(pa.table({{f"c{{n}}": kinds[n % 4]() for n in range({columns})}}), sys.argv[1], row_group_size=250_000)
"""


def one_core():
    return ["taskset", "-c", str(sorted(os.sched_getaffinity(0))[-1])]


def walked(bench, label, data):
    """Returns samples per second of the second epoch."""
    keys = "".join(f"{key} = {value}\n" for key, value in data.items())
    config = with_file(bench.work / f"{label}.ini", f"[run]\nname = {label}\nstorage_path = {bench.fresh('runs')}\n[train]\nlibrary = {LIBRARY}\n"
                       f"[loop]\nbatch_size = {BATCH}\n[checkpoint]\nevery = off\n[data.train]\n{keys}")
    return float(re.search(r"samples_per_s=([0-9]+)", bench.run(label, [*one_core(), TRAINRT, "--config", config])[1])[1])


def of_peer(bench, label, *words):
    return float(re.search(r"rows_per_s=([0-9]+)", bench.run(label, [*one_core(), PYTHON, *words])[1])[1])


def parquet_file(bench):
    if not PYTHON.exists() or not (BUILD / "modules/arrow.so").exists():
        skip("pyarrow not found (tests/support/tools/install_arrow.sh BUILD), or trainrt was built without it")
    path = bench.folder / "table.parquet"
    if not path.exists():
        subprocess.run([PYTHON, "-c", MAKE_PARQUET.format(rows=ROWS, columns=COLUMNS), path], check=True)
    return path


def compared_with_pyarrow(bench, name, **keys):
    """Measures one row of the table. At most two row groups are kept between the epochs."""
    path = parquet_file(bench)
    columns = [f"c{n}" for n in range(CHOSEN)]
    figures = bench.interleaved(5, {
        "trainrt": lambda: walked(bench, name, {"source": path, "columns": ", ".join(columns), "memory": "0 B", "chunk_cache": "1 MiB", **keys}),
        "pyarrow": lambda: of_peer(bench, "pyarrow", SOURCE / "tests/bench/peers/peer_parquet.py", path, ",".join(columns), str(BATCH))})
    print(f"# {name}: {median(figures['trainrt']):,.0f} samples/s, pyarrow {median(figures['pyarrow']):,.0f} rows/s")
    bench.claim(f"{name}_vs_pyarrow", ratio(figures["trainrt"], figures["pyarrow"]), ">=", 0.9)


def parquet(bench):
    compared_with_pyarrow(bench, "parquet")


def vector(bench):
    compared_with_pyarrow(bench, "vector", vector="x")


PARTS = {"parquet": parquet, "vector": vector}


def main():
    bench = Bench("formats_parquet", "samples per second of Parquet files, compared with pyarrow, on one core")
    for name in sys.argv[2:] or PARTS:
        PARTS[name](bench)
    bench.finish()


main()
