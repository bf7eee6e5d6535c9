"""Shared parts of all benchmarks: paths, timed commands, medians, claims, and a JSON file with the raw figures.

    bench = Bench("train", "description of the comparison")
    figures = bench.interleaved(3, {"trainrt": run_ours, "peer": run_peer})      # each returns a number
    bench.claim("ours_vs_peer", median(figures["peer"]) / median(figures["trainrt"]), ">=", 1.0)
    bench.finish()

claim() prints `ratio NAME VALUE >= TARGET ok`, or `short` instead of `ok`; skip(reason) prints `skipped: reason` and exits with 0.
The build directory is the first argument, else $TRAINRT_BUILD, else `build` in this checkout. Uses only the standard library.
"""
import json
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
GIVEN = [word for word in sys.argv[1:2] if not word.startswith("-")] + [os.environ.get("TRAINRT_BUILD", SOURCE / "build")]
BUILD = Path(GIVEN[0]).resolve()
TRAINRT = BUILD / "trainrt"
FASHION_MNIST = Path(os.environ.get("TRAINRT_FASHION_MNIST", "/usr/share/datasets/fashion-mnist"))
MPIEXEC = shutil.which("mpiexec.mpich") or shutil.which("mpiexec")
median = statistics.median


def repetitions_or(default):
    """Returns $TRAINRT_BENCH_REPETITIONS, or `default` if it is not set."""
    return int(os.environ.get("TRAINRT_BENCH_REPETITIONS", default))


def ratio(over, under):
    """Returns the median of the ratios of the repetitions. Both values of a repetition were measured under about the same load."""
    return median(a / b for a, b in zip(over, under))


def skip(reason):
    print(f"skipped: {reason}", flush=True)
    sys.exit(0)


def need(path, what):
    """Ends the benchmark as skipped if a file does not exist."""
    if path is None or not Path(path).exists():
        skip(f"{what} does not exist ({path})")


def blas_file():
    """Returns the path of the BLAS library that Debian's libtorch and NumPy load, which determines the time of a training step."""
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if folder and (Path(folder) / "libblas.so.3").exists():
            return os.path.realpath(Path(folder) / "libblas.so.3")
    paths = [line.split("=> ")[1] for line in listing.splitlines() if "libblas.so.3 " in line and "=> " in line]
    return os.path.realpath(paths[0]) if paths else "none"


def hardware():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return {"host": platform.node(), "cpu": model, "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "load_average": os.getloadavg()[0], "blas": blas_file()}


def with_file(path, text):
    """Writes a file (a config) and returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


class Bench:
    def __init__(self, name, about):
        self.name = name
        self.folder = BUILD / "bench"
        self.work = self.folder / f"{name}.work"  # run directories and configs; emptied at the start
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.record = {"bench": name, "about": about, "hardware": hardware(), "commands": {}, "figures": {}, "claims": []}
        if self.record["hardware"]["load_average"] > self.record["hardware"]["cores"] / 2:
            print(f"# load average {os.getloadavg()[0]:.1f} on {self.record['hardware']['cores']} cores: other programs are "
                  "running and may disturb the measurement", flush=True)

    def fresh(self, name):
        """Returns an empty folder of this benchmark."""
        path = self.work / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def run(self, label, command, timeout_s=900, **environment):
        """Runs a command to its end; returns (seconds, stdout and stderr). A failed command ends the benchmark."""
        command = [str(word) for word in command]
        self.note_command(label, command, environment)
        start = time.monotonic()
        done = subprocess.run(command, env={**os.environ, **environment}, timeout=timeout_s, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        seconds = time.monotonic() - start
        if done.returncode != 0:
            sys.exit(f"{self.name}: {shlex.join(command)} exited with {done.returncode}:\n{done.stdout[-3000:]}")
        return seconds, done.stdout

    def run_together(self, label, commands, timeout_s=1800, **environment):
        """Starts all commands, given as (command, environment), at once; returns the seconds until all have ended. A failed command
        ends the benchmark."""
        commands = [([str(word) for word in command], {**environment, **own}) for command, own in commands]
        self.note_command(label, *commands[0])
        start = time.monotonic()
        ranks = [subprocess.Popen(command, env={**os.environ, **own}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                 for command, own in commands]
        try:
            outputs = [rank.communicate(timeout=timeout_s)[0] for rank in ranks]
        finally:
            for rank in ranks:
                rank.kill()
        seconds = time.monotonic() - start
        for rank, output in zip(ranks, outputs):
            if rank.returncode != 0:
                sys.exit(f"{self.name}: {shlex.join(rank.args)} exited with {rank.returncode}:\n{output[-3000:]}")
        return seconds

    def note_command(self, label, command, environment=None):
        words = [f"{key}={value}" for key, value in (environment or {}).items()]
        self.record["commands"].setdefault(label, " ".join(words + [shlex.join(command)]))

    def interleaved(self, repetitions, work):
        """Calls all functions of `work` in turn, `repetitions` times; returns the numbers of each by name. The order gives all
        functions about the same load by other programs on the machine."""
        figures = {name: [] for name in work}
        for _ in range(repetitions_or(repetitions)):
            for name, measure in work.items():
                figures[name].append(measure())
        return self.note(figures)

    def note(self, figures):
        """Records, prints and returns the numbers of each repetition by name."""
        self.record["figures"].update(figures)
        for name, values in figures.items():
            print(f"# {name}: median {median(values):.4g} of {', '.join(f'{v:.4g}' for v in values)}", flush=True)
        return figures

    def claim(self, name, value, relation, target):
        met = value >= target if relation == ">=" else value <= target
        print(f"ratio {name} {value:.4g} {relation} {target:g} {'ok' if met else 'short'}", flush=True)
        self.record["claims"].append({"name": name, "value": value, "relation": relation, "target": target, "ok": met})

    def finish(self):
        (self.folder / f"{self.name}.json").write_text(json.dumps(self.record, indent=2) + "\n")
        shutil.rmtree(self.work, ignore_errors=True)
