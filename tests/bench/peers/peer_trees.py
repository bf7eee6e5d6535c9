"""Trains with XGBoost or LightGBM through its Python API, as the peer of bench_trees.py.

    peer_trees.py [--pandas] LIBRARY FILE ROUNDS THREADS [RANK SIZE PORT]     prints read_s=, matrix_s=, train_s=, peak_mib=, loss=

Reads FILE into the matrix of the library and trains ROUNDS rounds with THREADS threads. .csv and .parquet files are read by pandas, .h5
by h5py, with --pandas into a DataFrame. read_s includes matrix_s, in which the library creates its matrix. Each of SIZE workers takes its
share of the rows; they connect through a tracker at PORT (XGBoost) or on ports from PORT on (LightGBM).
"""
import contextlib
import resource
import sys
import time

import numpy

PANDAS = "--pandas" in sys.argv
XGBOOST = {"objective": "binary:logistic", "eval_metric": ["logloss"], "max_depth": 6, "eta": 0.1, "tree_method": "hist"}
LIGHTGBM = {"objective": "binary", "metric": ["binary_logloss"], "num_leaves": 63, "learning_rate": 0.1, "deterministic": True,
            "force_row_wise": True, "verbosity": -1}


def read(path, rank, size):
    """Returns features and labels of the rows of this worker."""
    if path.endswith(".h5"):
        import h5py

        with h5py.File(path) as file:
            rows = file["x"].shape[0]
            part = slice(rank * rows // size, (rank + 1) * rows // size)
            features, label = file["x"][part], file["label"][part]
        if not PANDAS:
            return features, label
        import pandas

        return pandas.DataFrame(features, columns=[f"x{i}" for i in range(features.shape[1])]), label
    import pandas

    frame = pandas.read_csv(path) if path.endswith(".csv") else pandas.read_parquet(path)
    frame = frame.iloc[rank * len(frame) // size:(rank + 1) * len(frame) // size]
    return frame.drop(columns="label"), frame["label"]


class Watch:
    """Measures the seconds of successive laps."""

    def __init__(self):
        self.laps, self.last = [], time.monotonic()

    def lap(self):
        now = time.monotonic()
        self.laps.append(now - self.last)
        self.last = now


def xgboost_workers(size, port, rank):
    import xgboost

    if size == 1:
        return contextlib.nullcontext()
    return xgboost.collective.CommunicatorContext(DMLC_TRACKER_URI="127.0.0.1", DMLC_TRACKER_PORT=port, DMLC_TASK_ID=str(rank), DMLC_NUM_WORKER=size,
                                                  xgboost_communicator="rabit")


def train_xgboost(path, rounds, threads, rank, size, port):
    import xgboost

    with xgboost_workers(size, port, rank):
        watch = Watch()
        features, label = read(path, rank, size)
        watch.lap()
        matrix = xgboost.DMatrix(features, label, nthread=threads)
        watch.lap()
        result = {}
        if rounds > 0:
            xgboost.train({**XGBOOST, "nthread": threads}, matrix, rounds, evals=[(matrix, "train")], evals_result=result, verbose_eval=False)
        watch.lap()
        return watch.laps, result["train"]["logloss"][-1] if rounds > 0 else 0


def train_lightgbm(path, rounds, threads, rank, size, port):
    import lightgbm

    watch = Watch()
    features, label = read(path, rank, size)
    watch.lap()
    params = {**LIGHTGBM, "num_threads": threads}
    if size > 1:
        machines = ",".join(f"127.0.0.1:{port + number}" for number in range(size))
        params.update(num_machines=size, machines=machines, local_listen_port=port + rank, tree_learner="data", pre_partition=True)
    data = lightgbm.Dataset(features, label, params=params).construct()
    watch.lap()
    result = {}
    if rounds > 0:
        lightgbm.train(params, data, rounds, valid_sets=[data], valid_names=["train"], callbacks=[lightgbm.record_evaluation(result)])
    watch.lap()
    return watch.laps, result["train"]["binary_logloss"][-1] if rounds > 0 else 0


def main():
    words = [word for word in sys.argv[1:] if word != "--pandas"]
    library, path, rounds, threads = words[0], words[1], int(words[2]), int(words[3])
    rank, size, port = (int(word) for word in words[4:7]) if len(words) > 4 else (0, 1, 0)
    work = {"xgboost": train_xgboost, "lightgbm": train_lightgbm}[library]
    __import__(library)  # imports are not timed
    if PANDAS or not path.endswith(".h5"):
        __import__("pandas")
    (file_s, matrix_s, train_s), loss = work(path, rounds, threads, rank, size, port)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert numpy.isfinite(loss)
    print(f"read_s={file_s + matrix_s:.4f} matrix_s={matrix_s:.4f} train_s={train_s:.4f} peak_mib={peak:.1f} loss={loss:.6f}", flush=True)


if __name__ == "__main__":
    main()
