"""What every bench shares: where things lie, timed commands, medians, claims, and the JSON with the raw figures.

    bench = Bench("train", "what is compared")
    figures = bench.interleaved(3, {"trainrt": run_ours, "peer": run_peer})      # each returns a number
    bench.claim("ours_vs_peer", median(figures["peer"]) / median(figures["trainrt"]), ">=", 1.0)
    bench.finish()

A claim prints `ratio NAME VALUE >= TARGET ok` (or `short`); `skip(reason)` prints `skipped: reason` and ends with 0.
The build directory is the first argument, else $TRAINRT_BUILD, else `build` in this checkout. Standard library only.
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
    """$TRAINRT_BENCH_REPETITIONS, or `default` if it is not set."""
    return int(os.environ.get("TRAINRT_BENCH_REPETITIONS", default))


def ratio(over, under):
    """Median of the ratios of each repetition, in which both met the same neighbours."""
    return median(a / b for a, b in zip(over, under))


def skip(reason):
    print(f"skipped: {reason}", flush=True)
    sys.exit(0)


def need(path, what):
    """Ends as skipped if a file is not there."""
    if path is None or not Path(path).exists():
        skip(f"{what} is not there ({path})")


def blas_file():
    """The BLAS that Debian's libtorch and numpy load: it decides what a training step costs."""
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
        self.work = self.folder / f"{name}.work"  # run directories, configs; made anew
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.record = {"bench": name, "about": about, "hardware": hardware(), "commands": {}, "figures": {}, "claims": []}
        if self.record["hardware"]["load_average"] > self.record["hardware"]["cores"] / 2:
            print(f"# load average {os.getloadavg()[0]:.1f} on {self.record['hardware']['cores']} cores: other work was "
                  "running, and may disturb what is measured", flush=True)

    def fresh(self, name):
        """A folder of this bench that is empty."""
        path = self.work / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def run(self, label, command, timeout_s=900, **environment):
        """Runs a command to its end; returns (seconds, stdout and stderr). A command that fails ends the bench."""
        command = [str(word) for word in command]
        self.note_command(label, command, environment)
        start = time.monotonic()
        done = subprocess.run(command, env={**os.environ, **environment}, timeout=timeout_s, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        seconds = time.monotonic() - start
        if done.returncode != 0:
            sys.exit(f"{self.name}: {shlex.join(command)} ended with {done.returncode}:\n{done.stdout[-3000:]}")
        return seconds, done.stdout

    def run_together(self, label, commands, timeout_s=1800, **environment):
        """Starts (command, environment of its own) at once; returns the seconds until all have ended. One that fails ends the
        bench."""
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
                sys.exit(f"{self.name}: {shlex.join(rank.args)} ended with {rank.returncode}:\n{output[-3000:]}")
        return seconds

    def note_command(self, label, command, environment=None):
        words = [f"{key}={value}" for key, value in (environment or {}).items()]
        self.record["commands"].setdefault(label, " ".join(words + [shlex.join(command)]))

    def interleaved(self, repetitions, work):
        """Calls each entry of `work` in turn, `repetitions` times; returns the numbers of each by name. Machines are shared:
        what runs in turn meets the same neighbours."""
        figures = {name: [] for name in work}
        for _ in range(repetitions_or(repetitions)):
            for name, measure in work.items():
                figures[name].append(measure())
        return self.note(figures)

    def note(self, figures):
        """Keeps and prints the numbers of each repetition, by name; returns them."""
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
