#!/usr/bin/python3
"""Measures sweeps of `trainrt tune`.

    make bench-tune ONLY='groups journal'     default: all parts

groups     24 trials of about 4 s on 2 groups, as processes and as slices of one step: share of the time in training, and seconds between
           two trials (the end of one, the decision, the start of the next)
journal    10,000 finished trials of 32 groups: the time of a decision, including its write to disk, and of the first read of the journal
asha       24 configs on FashionMNIST, one rank, with ASHA and without a scheduler: best accuracy and time of ASHA relative to running all
ray        the same sweep with Ray Tune and with trainrt's API of the same names, from the start of the script to its end (PyPI's ray,
           installed into $TRAINRT_FRAMEWORKS by make test-frameworks ONLY=Ray_Tune)
"""
import argparse
import json
import os
import re
import sys
from pathlib import Path

from bench import BUILD, MPIEXEC, TRAINRT, Bench, median, need, ratio, with_file
from fashion_data import FASHION_MNIST, data_sections, need_fashion_mnist

PROBE = BUILD / "bench/tune_probe"
GROUPS, TRIALS, EPOCHS = 2, 24, 9


def sweep(bench, name, text, label, launcher=()):
    folder = bench.fresh(name)
    config = with_file(bench.work / f"{name}.ini", f"[run]\nname = sweep\nstorage_path = {folder}\n[checkpoint]\nnum_to_keep = 1\n{text}")
    seconds, _ = bench.run(label, [*launcher, TRAINRT, "tune", "--config", config], timeout_s=3600)
    _, shown = bench.run(f"{label} status", [TRAINRT, "tune", "status", folder / "sweep", "--json"])
    return seconds, json.loads(shown)


def groups(bench):
    need(MPIEXEC, "mpiexec")
    for place, launcher in (("processes", ()), ("slices", (MPIEXEC, "-n", GROUPS))):
        trial_after_trial(bench, place, launcher)


def trial_after_trial(bench, place, launcher):
    text = (f"[train]\nfunction = linear\n[loop]\nepochs = 4\nbatch_size = 32\nstep_pause = 0.02\n[data.train]\nformat = synthetic\nsamples = 1600\n"
            f"[tune]\nmetric = loss\nmode = min\nnum_samples = {TRIALS}\nmax_concurrent_trials = {GROUPS}\n[tune.space]\nlr = loguniform(1e-4, 0.3)\n")
    seconds, trials = sweep(bench, place, text, place, launcher)
    training = 0.0
    for trial in trials:
        rows = [json.loads(line) for line in (Path(trial["path"]) / "result.json").read_text().splitlines()]
        training += sum(row["_time_this_iter_s"] for row in rows)
    besides = (seconds * GROUPS - training) / TRIALS
    bench.note({f"tune_{place}_busy": [training / (seconds * GROUPS)], f"tune_{place}_seconds_a_trial": [training / TRIALS]})
    bench.claim(f"tune_{place}_seconds_between_trials", besides, "<=", 0.3)
    bench.claim(f"tune_{place}_busy_with_trials_of_20_s", 20 / (20 + besides), ">=", 0.95)


def journal(bench):
    need(PROBE, "tune_probe")
    found = {"decision_ms": [], "first_read_ms": [], "journal_bytes": []}
    for _ in range(5):
        _, output = bench.run("journal", [PROBE, bench.fresh("journal"), 10_000, 32])
        for name in found:
            found[name].append(float(re.search(rf"{name}=([0-9.]+)", output)[1]))
    bench.note(found)
    bench.claim("tune_decision_ms_of_10000_trials", median(found["decision_ms"]), "<=", 10)


def asha(bench):
    need_fashion_mnist()
    common = (f"[train]\nfunction = fashion_mnist\n[loop]\nepochs = {EPOCHS}\n{data_sections(FASHION_MNIST, shuffle=True)}"
              f"[tune]\nmetric = test_accuracy\nnum_samples = {TRIALS}\nmax_concurrent_trials = {GROUPS}\n"
              "[tune.space]\nlr = loguniform(1e-4, 1)\nbatch_size = choice(32, 64, 128, 256)\nmomentum = uniform(0, 0.95)\n")
    seconds, all_of = sweep(bench, "all", common, "all")
    asha_seconds, some = sweep(bench, "asha", common.replace("[tune.space]", f"scheduler = asha\n[tune.asha]\nmax_t = {EPOCHS}\nreduction_factor = 3\n[tune.space]"), "asha")
    best = max(trial["best"] for trial in all_of)
    found = max(trial["best"] for trial in some)
    bench.note({"all_s": [seconds], "asha_s": [asha_seconds], "all_best": [best], "asha_best": [found]})
    bench.claim("tune_asha_accuracy_of_the_best", found / best, ">=", 0.99)
    bench.claim("tune_asha_time_of_all", asha_seconds / seconds, "<=", 0.4)


def ray(bench):
    root = Path(os.environ.get("TRAINRT_FRAMEWORKS") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trainrt-frameworks")
    python = root / "ray_tune/bin/python"
    need(python, "Ray Tune (make test-frameworks ONLY=Ray_Tune)")
    script = Path(__file__).resolve().parent / "peers/ray_tune_sweep.py"

    def seconds(name):
        return bench.run(name, [python, script, name, bench.fresh(name)], timeout_s=900, PYTHONPATH=str(BUILD / "python"), OMP_NUM_THREADS="1",
                         RAY_USAGE_STATS_ENABLED="0", RAY_AIR_NEW_OUTPUT="0")[0]

    figures = bench.interleaved(3, {"tune_trainrt_s": lambda: seconds("trainrt"), "tune_ray_s": lambda: seconds("ray")})
    bench.claim("tune_time_of_ray_tune", ratio(*figures.values()), "<=", 0.7)


def main():
    parts = {"groups": groups, "journal": journal, "asha": asha, "ray": ray}
    arguments = argparse.ArgumentParser(prog="bench_tune.py BUILD")
    arguments.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    options = arguments.parse_args([word for word in sys.argv[1:] if Path(word).resolve() != BUILD])
    if unknown := set(options.parts) - set(parts):
        arguments.error(f"unknown part {', '.join(sorted(unknown))}; valid parts: {', '.join(parts)}")
    need(TRAINRT, "trainrt")
    bench = Bench("tune", __doc__.strip())
    for name, measure in parts.items():
        if name in options.parts or not options.parts:
            measure(bench)
    bench.finish()


main()
