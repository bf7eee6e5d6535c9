#!/usr/bin/python3
"""Compares `trainrt data convert` with pandas.read_csv and h5py's create_dataset: a table of 800,000 rows and 20 columns of numbers of 6 digits,
from CSV to HDF5. trainrt's time is that of the complete command, with its start and its fsync. The peer's time is that of the two calls and
an fsync, in a process that has already imported both packages. Each repetition removes the previous files first.
"""
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench import BUILD, TRAINRT, Bench, need, ratio  # noqa: E402

ROWS, COLUMNS, REPEATED = 100_000, 20, 8
PEER = """
import os, sys, time
import h5py, pandas
begin = time.perf_counter()
table = pandas.read_csv(sys.argv[1])
with h5py.File(sys.argv[2], "w") as file:
    for column in table:
        file.create_dataset(column, data=table[column].to_numpy())
with open(sys.argv[2], "rb+") as file:
    os.fsync(file)
print(time.perf_counter() - begin)
"""


def write_table(path):
    import numpy
    numbers = numpy.random.default_rng(4).normal(size=(ROWS, COLUMNS))
    numpy.savetxt(path, numbers, "%.6g", ",", header=",".join(f"c{i}" for i in range(COLUMNS)), comments="")
    head, rows = path.read_bytes().split(b"\n", 1)
    with open(path, "wb") as file:
        file.write(head + b"\n")
        for _ in range(REPEATED):
            file.write(rows)
    return path


def main():
    need(TRAINRT, "trainrt")
    if subprocess.run([sys.executable, "-c", "import pandas, h5py"], capture_output=True).returncode != 0:
        print("skipped: pandas or h5py not found (packages python3-pandas, python3-h5py)")
        return
    bench = Bench("formats_convert", "a table from CSV to HDF5, compared with pandas and h5py")
    source = write_table(bench.work / "table.csv")

    def ours():
        (bench.work / "ours.h5").unlink(missing_ok=True)
        begin = time.perf_counter()
        subprocess.run([TRAINRT, "data", "convert", source, "-o", bench.work / "ours.h5", "--force", "--quiet"], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin

    def theirs():
        (bench.work / "theirs.h5").unlink(missing_ok=True)
        return float(subprocess.run([sys.executable, "-c", PEER, source, bench.work / "theirs.h5"], check=True, capture_output=True, text=True).stdout)

    figures = bench.interleaved(5, {"trainrt": ours, "pandas": theirs})
    import h5py
    with h5py.File(bench.work / "ours.h5") as found, h5py.File(bench.work / "theirs.h5") as expected:
        assert all((found[name][()] == expected[name][()]).all() for name in expected) and len(found) == COLUMNS
    bench.claim("convert_csv_to_h5_vs_pandas", ratio(figures["pandas"], figures["trainrt"]), ">=", 5.0)
    bench.finish()


main()
