#!/usr/bin/python3
"""Compares boosted trees as train functions with the Python APIs of the libraries, with the same rows, parameters and threads. A ratio is
taken within each repetition.

    make bench-trees ONLY='train memory'     default: all parts

train     reading a synthetic table like HIGGS (1,000,000 x 28) from HDF5, and 50 rounds, on 1 rank with 2 threads and on 2 ranks with 1 thread each
memory    peak resident memory of one rank in the same training
scaling   2 ranks with 1 thread each, compared with 1 rank with 2 threads
read      rows per second from HDF5, CSV and Parquet into the matrix of the library; peer: pandas with DMatrix or Dataset (read_csv, read_parquet,
          and for HDF5 a DataFrame of the array that h5py reads). Creating the matrix from rows in memory takes most of the time for HDF5, and no
          reader can avoid it. The rate for HDF5 is therefore also compared with this limit, and with that of the array without pandas

XGBoost is Debian's (python3-xgboost). LightGBM is in $TRAINRT_LIGHTGBM, a folder of Python packages, else in an environment of
`make test-frameworks`. Parquet needs pyarrow for Debian's NumPy in $TRAINRT_PYARROW, a folder that
`pip install --no-deps --target FOLDER pyarrow==18.1.0` creates. The start of Python and the import of packages are not timed.
"""
import itertools
import os
import re
import resource
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy
from bench import BUILD, TRAINRT, Bench, median, ratio, with_file

FOLDER = Path(__file__).resolve().parent
ROWS, FEATURES, ROUNDS, REPETITIONS = 1_000_000, 28, 50, 5
CSV_ROWS = 300_000
PARTS = ("train", "memory", "scaling", "read")
PARAMETERS = {"xgboost": "objective = binary:logistic\neval_metric = logloss\nmax_depth = 6\neta = 0.1\ntree_method = hist\nnthread = {threads}",
              "lightgbm": "objective = binary\nmetric = binary_logloss\nnum_leaves = 63\nlearning_rate = 0.1\nverbosity = -1\nnum_threads = {threads}"}


def lightgbm_packages():
    """Returns a folder of Python packages from which Debian's Python, with Debian's pandas, imports LightGBM, or None."""
    root = Path(os.environ.get("TRAINRT_FRAMEWORKS") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trainrt-frameworks")
    given = [os.environ["TRAINRT_LIGHTGBM"]] if "TRAINRT_LIGHTGBM" in os.environ else []
    for folder in [*given, *root.glob("torch/lib/python3*/site-packages")]:
        trial = subprocess.run(["/usr/bin/python3", "-c", "import lightgbm, pandas"], capture_output=True, env={**os.environ, "PYTHONPATH": str(folder)})
        if (Path(folder) / "lightgbm").is_dir() and trial.returncode == 0:
            return str(folder)
    return None


LIGHTGBM = lightgbm_packages()
PYARROW = [os.environ["TRAINRT_PYARROW"]] if "TRAINRT_PYARROW" in os.environ else []
FIRST_PORTS = itertools.count(13400 + os.getpid() % 500, 2)  # the ports of the previous training may still be in use


def table(rows):
    """Returns features and labels with signal in some columns, noise in others, and missing values, like HIGGS (Baldi, Sadowski, Whiteson, 2014)."""
    random = numpy.random.default_rng(7)
    x = random.standard_normal((rows, FEATURES), numpy.float32)
    score = x[:, 0] * x[:, 1] + numpy.sin(2 * x[:, 2]) + 0.5 * x[:, 3] * (x[:, 4] > 0) + 0.3 * x[:, 5] ** 2 - 0.3
    label = (score + 0.8 * random.standard_normal(rows) > 0).astype(numpy.float32)
    x[random.random((rows, FEATURES), numpy.float32) < 0.02] = numpy.nan
    return x, label


def write_tables(folder):
    """Writes the table in each format; returns the paths by suffix. Parquet is left out without pyarrow."""
    import h5py

    x, label = table(ROWS)
    paths = {suffix: str(folder / f"table.{suffix}") for suffix in ("h5", "csv")}
    with h5py.File(paths["h5"], "w") as file:
        file["x"], file["label"] = x, label
    header = ",".join([f"x{i}" for i in range(FEATURES)] + ["label"])
    with open(paths["csv"], "w") as file:
        file.write(header + "\n")
        for values, target in zip(x[:CSV_ROWS], label[:CSV_ROWS]):
            file.write(",".join("" if numpy.isnan(v) else f"{v:.6g}" for v in values) + f",{target:g}\n")
    try:
        sys.path += PYARROW
        import pyarrow
        import pyarrow.parquet

        columns = {f"x{i}": x[:, i] for i in range(FEATURES)}
        pyarrow.parquet.write_table(pyarrow.table({**columns, "label": label}), str(folder / "table.parquet"), row_group_size=100_000)
        paths["parquet"] = str(folder / "table.parquet")
    except ImportError:
        print("# Parquet is left out: set TRAINRT_PYARROW to a folder with pyarrow", flush=True)
    return paths


class Trees:
    """Trains with one library, by trainrt and by the Python API of the library."""

    def __init__(self, bench, library):
        self.bench, self.library = bench, library

    def environment(self, source):
        """Returns the environment of the peer. pyarrow is in the path only for Parquet: XGBoost imports it whenever it finds it,
        which would add to the measured memory."""
        packages = [*(PYARROW if source.endswith(".parquet") else []), *([LIGHTGBM] if self.library == "lightgbm" else [])]
        return {"OMP_NUM_THREADS": "2", "PYTHONPATH": ":".join([*packages, os.environ.get("PYTHONPATH", "")])}

    def config(self, source, rounds, threads):
        matrix = "matrix = plain\n" if self.library == "xgboost" and rounds == 0 else ""  # the library then makes a DMatrix, as the peer does
        library = f"[lightgbm]\nlibrary = {LIGHTGBM}\n" if self.library == "lightgbm" else ""
        return (f"[run]\nname = trees\nstorage_path = {self.bench.fresh('runs')}\n[train]\nfunction = {self.library}\n[loop]\nlabel = label\n"
                f"num_boost_round = {rounds}\n{matrix}{PARAMETERS[self.library].format(threads=threads)}\n"
                f"[data.train]\nsource = {source}\n[checkpoint]\nevery = off\n{library}")

    def ours(self, source, rounds, threads, ranks=1):
        """Runs trainrt; returns {read_s, train_s, peak_mib}, where the memory is that of the largest process."""
        path = with_file(self.bench.work / "trees.ini", self.config(source, rounds, threads))
        command = [str(TRAINRT), *(["-n", str(ranks)] if ranks > 1 else []), "--config", str(path)]
        self.bench.note_command(f"{self.library}_{ranks}_ranks", command)
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "OMP_NUM_THREADS": "2"})
        printed = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"trees: {' '.join(command)} exited with {child.returncode}:\n{printed[-3000:]}")
        return {"read_s": float(re.search(r"read in ([0-9.]+) s", printed)[1]),
                "train_s": float((re.search(r"rounds? in ([0-9.]+) s", printed) or [0, 0])[1]), "peak_mib": usage.ru_maxrss / 1024}

    def peer(self, source, rounds, threads, ranks=1, pandas=False):
        command = ["/usr/bin/python3", str(FOLDER / "peers/peer_trees.py"), *(["--pandas"] if pandas else []), self.library, source, str(rounds), str(threads)]
        if ranks == 1:
            return figures_in(self.bench.run(f"{self.library}_peer", command, **self.environment(source))[1])
        return self.peers(command, ranks, self.environment(source))

    def peers(self, command, ranks, environment):
        tracker, port = start_tracker(ranks) if self.library == "xgboost" else (None, next(FIRST_PORTS))
        workers = [subprocess.Popen([*command, str(rank), str(ranks), str(port)], stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
                   for rank in range(ranks)]
        figures = [figures_in(worker.communicate(timeout=900)[0]) for worker in workers]
        if tracker is not None:
            tracker.join()
        return {name: max(each[name] for each in figures) for name in figures[0]}

    # ---- the parts -------------------------------------------------------------------------------------------------------------

    def total(self, name, work):
        figures = work()
        return figures["read_s"] + figures["train_s"]

    def train(self, paths):
        for ranks, threads in ((1, 2), (2, 1)):
            name = f"{self.library}_{ranks}x{threads}"
            figures = self.bench.interleaved(REPETITIONS, {
                f"{name}_trainrt_s": lambda: self.total(name, lambda: self.ours(paths["h5"], ROUNDS, threads, ranks)),
                f"{name}_python_s": lambda: self.total(name, lambda: self.peer(paths["h5"], ROUNDS, threads, ranks))})
            self.bench.claim(f"{name}_time_vs_python", ratio(*figures.values()), "<=", 1.0)

    def memory(self, paths):
        figures = self.bench.interleaved(2, {f"{self.library}_trainrt_mib": lambda: self.ours(paths["h5"], 3, 2)["peak_mib"],
                                             f"{self.library}_python_mib": lambda: self.peer(paths["h5"], 3, 2)["peak_mib"]})
        self.bench.claim(f"{self.library}_memory_vs_python", ratio(*figures.values()), "<=", 0.8)

    def scaling(self, paths):
        figures = self.bench.interleaved(REPETITIONS, {
            f"{self.library}_2_ranks_s": lambda: self.total("", lambda: self.ours(paths["h5"], ROUNDS, 1, 2)),
            f"{self.library}_1_rank_s": lambda: self.total("", lambda: self.ours(paths["h5"], ROUNDS, 2, 1))})
        self.bench.claim(f"{self.library}_2_ranks_vs_1", ratio(*figures.values()), "<=", 1.1)

    def read(self, paths):
        for suffix, path in paths.items():
            rows, made = CSV_ROWS if suffix == "csv" else ROWS, []
            name = f"{self.library}_{suffix}"

            def by_pandas():
                figures = self.peer(path, 0, 2, pandas=True)
                made.append(figures["matrix_s"] / figures["read_s"])
                return rows / figures["read_s"]

            work = {f"{name}_trainrt_rows_s": lambda: rows / self.ours(path, 0, 2)["read_s"], f"{name}_pandas_rows_s": by_pandas}
            if suffix == "h5":
                work[f"{name}_h5py_array_rows_s"] = lambda: rows / self.peer(path, 0, 2)["read_s"]
            figures = list(self.bench.interleaved(REPETITIONS, work).values())
            self.bench.claim(f"{name}_rows_vs_pandas", ratio(figures[0], figures[1]), ">=", 1.0 if suffix == "h5" else 2.0)
            if suffix == "h5":
                limit = [rate / part for rate, part in zip(figures[1], made)]
                self.bench.claim(f"{name}_rows_vs_limit", ratio(figures[0], limit), ">=", 0.8)
                print(f"# {name}_rows_vs_h5py_array: {ratio(figures[0], figures[2]):.3g}")
            print(f"# {name}: creating the matrix takes {median(made):.0%} of the peer's time")


def figures_in(printed):
    return {name: float(value) for name, value in re.findall(r"(read_s|matrix_s|train_s|peak_mib)=([0-9.]+)", printed)}


def start_tracker(ranks):
    """Starts the tracker of XGBoost; returns it and its port."""
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(host_ip="127.0.0.1", n_workers=ranks)
    tracker.start(ranks)
    return tracker, tracker.port


def main():
    wanted = [word for word in sys.argv[1:] if word in PARTS] or PARTS
    bench = Bench("trees", "boosted trees as train functions, compared with the Python APIs of the libraries")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with ProcessPoolExecutor(1) as other:  # in another process, because child processes inherit the peak memory of this one
        paths = other.submit(write_tables, bench.fresh("tables")).result()
    libraries = ["xgboost"] + (["lightgbm"] if LIGHTGBM else [])
    if not LIGHTGBM:
        print("# LightGBM is left out: set TRAINRT_LIGHTGBM to a folder with LightGBM for Debian's NumPy and pandas")
    for library in libraries:
        trees = Trees(bench, library)
        for part in wanted:
            getattr(trees, part)(paths)
    bench.finish()


if __name__ == "__main__":
    assert BUILD.exists()
    main()
