#!/usr/bin/python3
"""Compares twelve ratios with the recorded ones, to show whether a change made the product slower.

    make bench-guard                    compare with tests/bench/guard.json; exit code 1 if a ratio got worse
    make bench-guard RECORD=FILE        measure three times and write FILE, to compare with on this machine: BASE=FILE

A ratio compares trainrt with a peer or a hardware limit in the same run, so that most noise of a shared machine cancels. Each ratio may be
15 % worse than the worst recorded value. A ratio that is worse than that is measured twice more, and the median of the three counts.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent
TOLERANCE = 0.15


class Part(NamedTuple):
    """A short part of a benchmark. `claims` holds the names of the ratios to compare, and whether a larger ratio is better."""

    bench: str
    arguments: list
    claims: dict
    environment: dict = {}


PARTS = [
    Part("train", ["--part", "fashion", "--part", "cost", "--samples", "6400", "--model", "fashion_mnist", "--pairs", "5"],
         {"fashion_mnist_vs_ddp_gloo_batches_in_memory": True, "fashion_mnist_step_vs_no_communication": False}),
    Part("comm", ["--rounds", "11", "--sizes", "2.68MB,25MiB,128MiB"],
         {"all_reduce_2.68MB_vs_mpi": True, "all_reduce_25MiB_vs_two_threads": True, "all_reduce_128MiB_vs_two_threads": True}),
    Part("checkpoint", [], {"durable_save_vs_torch_save_0.25gib_1rank": True, "load_vs_raw_read_0.25gib_1rank": True},
         {"TRAINRT_BENCH_SIZES": "0.25", "TRAINRT_BENCH_CASES": "0.25gib_1rank"}),
    Part("data", ["shuffled", "gzip"], {"shuffled_vs_pread": True, "gzip_vs_h5py": True}, {"TRAINRT_BENCH_REPETITIONS": "3"}),
    Part("api", ["ddp"], {"ddp_step_vs_gloo": False}, {"TRAINRT_BENCH_REPETITIONS": "5"}),
    Part("program", ["python"], {"start_2_ranks_vs_bare_python": False}),
    Part("start", ["linear"], {"start_without_module_vs_mpiexec": False}),
]


def measured(build, part):
    """Runs a part; returns the ratios of its claims by name. A claim that the benchmark skipped is left out."""
    command = [sys.executable, str(FOLDER / f"bench_{part.bench}.py"), str(build), *part.arguments]
    done = subprocess.run(command, env={**os.environ, **part.environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"bench-guard: {' '.join(command)} exited with {done.returncode}:\n{done.stdout[-3000:]}")
    found = {claim["name"]: claim["value"] for claim in json.loads((build / f"bench/{part.bench}.json").read_text())["claims"]}
    return {name: found[name] for name in part.claims if name in found}


def limit_of(recorded, larger_is_better):
    """Returns the worst ratio that passes."""
    return min(recorded) * (1 - TOLERANCE) if larger_is_better else max(recorded) * (1 + TOLERANCE)


def passes(value, limit, larger_is_better):
    return value >= limit if larger_is_better else value <= limit


def compare(build, base):
    """Measures all parts; returns the names of the ratios that got worse, and of those that could not be measured."""
    worse, skipped = [], []
    for part in PARTS:
        values = [measured(build, part)]
        limits = {name: limit_of(base[name], larger) for name, larger in part.claims.items()}
        if any(not passes(value, limits[name], part.claims[name]) for name, value in values[0].items()):
            values += [measured(build, part), measured(build, part)]
        for name, larger in part.claims.items():
            found = [each[name] for each in values if name in each]
            if not found:
                print(f"skipped: {name}: the benchmark did not measure it", flush=True)
                skipped.append(name)
                continue
            value = statistics.median(found)
            ok = passes(value, limits[name], larger)
            print(f"{'ok   ' if ok else 'WORSE'} {name} {value:.3g}, recorded {statistics.median(base[name]):.3g}, "
                  f"limit {'>=' if larger else '<='} {limits[name]:.3g}{'' if len(values) == 1 else ' (median of 3)'}", flush=True)
            if not ok:
                worse.append(name)
    return worse, skipped


def record(build, path, runs):
    """Measures all parts several times, and writes the ratios of each run by name."""
    values = {}
    for _ in range(runs):
        for part in PARTS:
            for name, value in measured(build, part).items():
                values.setdefault(name, []).append(round(value, 4))
                print(f"{name} {value:.3g}", flush=True)
    path.write_text(json.dumps(values, indent=1) + "\n")


def main():
    options = argparse.ArgumentParser(prog="bench-guard", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build", type=Path, help="build directory")
    options.add_argument("--base", type=Path, default=FOLDER / "guard.json", help="recorded ratios (default: tests/bench/guard.json)")
    options.add_argument("--record", type=Path, help="write the ratios there instead of comparing")
    options.add_argument("--runs", type=int, default=3, help="number of measurements to record (default: 3)")
    options = options.parse_args()
    build = options.build.resolve()
    began = time.monotonic()
    if options.record:
        record(build, options.record, options.runs)
        return
    worse, skipped = compare(build, json.loads(options.base.read_text()))
    print(f"{sum(len(part.claims) for part in PARTS) - len(worse) - len(skipped)} passed, {len(worse)} failed, {len(skipped)} skipped "
          f"in {time.monotonic() - began:.0f} s", flush=True)
    sys.exit(1 if worse else 0)


main()
