#!/usr/bin/env python3
"""Runs the parts that need a GPU, one after the other, and writes the tables after each part.

    run_parts.py [--time SECONDS] [--only NAME,...] [--out FOLDER] [--slower N]

A part is a list of scripts that run at the same time, with a common time limit. Rows that a part printed before the limit are kept.
TRAINRT_PARTS_ON_CPU tries the parts without a GPU: scripts run one after the other, and test_gpu uses a fake GPU."""
import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import machine
import results

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]  # the unpacked folder
BUILD = ROOT / "build"
# name: (limit in seconds, scripts of this folder with the words that select their tests)
PARTS = {
    "correct": (100, ("cases", "programs", "restarts two_runs fashion_mnist gpt", "restarts resnet18_with two_ranks dies continues", "frameworks")),
    "train": (130, ("train",)),
    "checkpoint": (80, ("checkpoint",)),
    "reduce": (10, ("reduce",)),
    "ddp": (60, ("ddp",)),
    "data": (100, ("data",)),
}
MIN_SECONDS = 5    # a part does not start with less time left
AFTER_LIMIT_S = 5  # seconds between SIGTERM and SIGKILL for a script that has reached its limit
ON_CPU = "TRAINRT_PARTS_ON_CPU" in os.environ


def known_parts():
    """Returns {name: (limit in seconds, scripts)} for the names that --only accepts: all parts, and the scripts of parts with several scripts."""
    several = [(limit, scripts) for limit, scripts in PARTS.values() if len(scripts) > 1]
    names = {script.split()[0]: limit for limit, scripts in several for script in scripts}
    return {**PARTS, **{name: (limit, tuple(script for _, scripts in several for script in scripts if script.split()[0] == name))
                        for name, limit in names.items()}}


KNOWN = known_parts()


class Script:
    def __init__(self, name, folder, environment):
        self.name, self.log = name, folder / f"{name.replace(' ', '-')}.log"
        file, *words = name.split()
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([sys.executable, "-u", HERE / f"{file}.py", BUILD, *words], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True)

    def stop(self, signal_number):
        try:
            os.killpg(self.process.pid, signal_number)
        except ProcessLookupError:
            pass

    def text(self):
        return self.log.read_text(errors="replace")


def run_part(scripts, limit_s, folder, environment):
    """Returns (description of the end, {script: output})."""
    end = time.monotonic() + limit_s
    together = [scripts[i:i + 1] for i in range(len(scripts))] if ON_CPU else [scripts]
    ends, texts = [], {}
    for names in together:
        problems, printed = run_together(names, end, limit_s, folder, environment)
        ends += problems
        texts.update(printed)
    return "; ".join(ends) or "done", texts


def run_together(names, end, limit_s, folder, environment):
    """Runs scripts at the same time, at most until `end`. Returns ([description of each script that did not succeed], {script: output})."""
    running = [Script(name, folder, environment) for name in names]
    late = []
    for script in running:
        try:
            script.process.wait(max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            late.append(script.name)
            script.stop(signal.SIGTERM)
            try:
                script.process.wait(AFTER_LIMIT_S)
            except subprocess.TimeoutExpired:
                pass
        script.stop(signal.SIGKILL)
        script.process.wait()
    failed = [f"{script.name} exited with {script.process.returncode}" for script in running if script.process.returncode != 0 and script.name not in late]
    stopped = [f"stopped after {limit_s:.0f} s: {', '.join(late)}"] if late else []
    return stopped + failed, {script.name: script.text() for script in running}


def environment_of_parts():
    folders = [str(folder) for folder in machine.library_folders()]
    before = os.environ.get("LD_LIBRARY_PATH")
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(folders + ([before] if before else [])), "TRAINRT_BUILD": str(BUILD),
            "TRAINRT_FASHION_MNIST": str(ROOT / "data"), "PYTHONUNBUFFERED": "1", **({"TRAINRT_TEST_FAKE_GPUS": "1"} if ON_CPU else {})}


def read_options():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--time", type=float, default=480, help="seconds for all parts together (default: 480)")
    options.add_argument("--only", default=",".join(PARTS), help="names of parts, separated by commas (default: all)")
    options.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "gpu-results")), help="folder for the tables (default: $OUT, or gpu-results)")
    options.add_argument("--slower", type=float, default=1, help="factor of the limits of parts (default: 1)")
    options = options.parse_args()
    options.only = options.only.split(",")
    if unknown := [name for name in options.only if name not in KNOWN]:
        sys.exit(f"unknown part '{unknown[0]}'; valid parts: {', '.join(KNOWN)}")
    return options


def main():
    options = read_options()
    end = time.monotonic() + options.time
    options.out.mkdir(parents=True, exist_ok=True)
    found = machine.describe()
    if ON_CPU:  # tests that need a GPU are skipped
        found["why_no_gpu"] = ""
    for name, value in found.items():
        print(f"{name}: {value}", flush=True)
    environment, parts, logs = environment_of_parts(), {}, {}
    results.write(options.out, found, parts, logs)
    work = ROOT / "logs"
    work.mkdir(exist_ok=True)
    for name in options.only:
        limit, scripts = KNOWN[name]
        left = end - time.monotonic()
        limit = min(limit * options.slower, left)
        if found["why_no_gpu"] or left < MIN_SECONDS:
            parts[name] = {"end": f"skipped: {found['why_no_gpu'] or 'no time is left'}", "seconds": 0, "rows": []}
        else:
            start = time.monotonic()
            outcome, texts = run_part(scripts, limit, work, {**environment, "TRAINRT_PART_SECONDS": f"{limit:.0f}"})
            logs.update(texts)
            parts[name] = {"end": outcome, "seconds": time.monotonic() - start, "rows": [row for text in texts.values() for row in results.rows_of(text)]}
        print(f"{name}: {parts[name]['end']}", flush=True)
        results.write(options.out, found, parts, logs)
    print((options.out / "results.md").read_text())


main()
