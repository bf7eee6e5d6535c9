#!/usr/bin/python3
"""Compares the time of StandardScaler.fit() over a CSV file, including reading, with pandas.read_csv() and scikit-learn's StandardScaler.fit():
20 columns of numbers of 6 digits, in the page cache. The import of packages is not timed; each repetition opens the file again. Needs
Debian's python3-sklearn and python3-pandas, or a $TRAINRT_PYTHON that has them."""
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench import BUILD, SOURCE, TRAINRT, Bench, median, need, ratio, skip  # noqa: E402

PYTHON = os.environ.get("TRAINRT_PYTHON", "/usr/bin/python3")
ROWS, COLUMNS = 1_000_000, 20
REPETITIONS = 5

PEER = """
import sys, time, json
import pandas
from sklearn.preprocessing import StandardScaler
pandas.read_csv(sys.argv[1], nrows=1000)
begin = time.monotonic()
scaler = StandardScaler().fit(pandas.read_csv(sys.argv[1]))
print(json.dumps({"s": time.monotonic() - begin, "mean": scaler.mean_.tolist(), "std": scaler.scale_.tolist()}))
"""
OURS = """
import sys, time, json
from trainrt import data
from trainrt.data.preprocessors import StandardScaler
data.range(2).take_all()  # starts the process that reads data
names = [f"c{column}" for column in range(int(sys.argv[2]))]
begin = time.monotonic()
stats = StandardScaler(columns=names).fit(data.read_csv(sys.argv[1])).stats_
print(json.dumps({"s": time.monotonic() - begin, "mean": [stats[f"mean({name})"] for name in names], "std": [stats[f"std({name})"] for name in names]}))
"""


def write_table(path):
    """Writes a table that repeats the same 100,000 rows ten times."""
    header = ",".join(f"c{column}" for column in range(COLUMNS))
    numpy.savetxt(path, numpy.random.default_rng(4).normal(size=(ROWS // 10, COLUMNS)), "%.6g", ",", header=header, comments="")
    head, rows = path.read_bytes().split(b"\n", 1)
    path.write_bytes(head + b"\n" + rows * 10)


def main():
    need(TRAINRT, "trainrt")
    if subprocess.run([PYTHON, "-c", "import sklearn, pandas"], capture_output=True).returncode != 0:
        skip(f"{PYTHON} has no scikit-learn or pandas (packages python3-sklearn and python3-pandas)")
    bench = Bench("formats_fit", f"StandardScaler.fit() over a CSV file of {ROWS} rows of {COLUMNS} numbers, compared with pandas and scikit-learn")
    table = bench.work / "table.csv"
    write_table(table)
    env = {**os.environ, "PYTHONPATH": str(BUILD / "python"), "TRAINRT_EXECUTABLE": str(TRAINRT)}
    results = {}

    def fit(name, program, *words):
        def timed():
            done = subprocess.run([PYTHON, "-c", program, str(table), *words], env=env, capture_output=True, text=True, check=True, cwd=SOURCE)
            results[name] = json.loads(done.stdout)
            return results[name]["s"]
        return timed

    figures = bench.interleaved(REPETITIONS, {"trainrt": fit("trainrt", OURS, str(COLUMNS)), "scikit-learn": fit("scikit-learn", PEER)})
    for key in ("mean", "std"):
        if not numpy.allclose(results["trainrt"][key], results["scikit-learn"][key], rtol=1e-9, atol=1e-9):
            raise SystemExit(f"the values of {key} differ: {results['trainrt'][key]} and {results['scikit-learn'][key]}")
    print(f"# trainrt {median(figures['trainrt']):.2f} s, pandas and scikit-learn {median(figures['scikit-learn']):.2f} s, "
          f"{table.stat().st_size / 1e6:.0f} MB", flush=True)
    bench.claim("fit_vs_scikit_learn", ratio(figures["scikit-learn"], figures["trainrt"]), ">=", 5.0)
    bench.finish()


main()
