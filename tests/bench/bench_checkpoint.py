#!/usr/bin/python3
"""Compares checkpoints with the raw rate of the disk and with torch.save: a state of 1 and 4 GiB in 32 tensors on 1 and 2 ranks.

Each repetition measures the following, in a rotating order: raw O_DIRECT writes of the same bytes by the same number of processes
and threads, with an fsync; a durable save, from Saver.start() to its commit; torch.save and fsync in one process per rank; one
memcpy of the tensors into touched memory; the same while threads write as many bytes by O_DIRECT, because the disk then reads
the same memory, as in a save; raw O_DIRECT reads; a load with an empty page cache. A ratio is taken within each
repetition, where both sides have about the same load by other programs, and the median of the ratios is claimed. The first save
of a run is not counted, because it allocates the staging memory. The cost of checksums is the time of all threads in digests
during a load, divided by the time of all threads in the rest of the load: digest_s / (threads * load_s - digest_s).

    bench_checkpoint.py [BUILD]

TRAINRT_BENCH_SIZES: sizes in GiB (default: "1,4"). TRAINRT_BENCH_REPETITIONS: default 5. TRAINRT_BENCH_CASES: the cases to measure
("1gib_1rank,4gib_1rank"); an unknown name is an error that lists the valid names.
"""
import os
import shutil
import signal
import subprocess
import sys

from bench import BUILD, MPIEXEC, SOURCE, Bench, median, need, ratio, repetitions_or, skip

PYTHON = "/usr/bin/python3"
PROBE = BUILD / "bench/checkpoint_probe"
PEER = SOURCE / "tests/bench/peers/peer_torch_save.py"
GIB, MIB = 1 << 30, 1 << 20
SIZES = [float(word) for word in os.environ.get("TRAINRT_BENCH_SIZES", "1,4").split(",")]
REPETITIONS = repetitions_or(5)
CASES = [word for word in os.environ.get("TRAINRT_BENCH_CASES", "").split(",") if word]  # all if empty
THREADS = 4  # threads per rank in saves of checkpoint_probe; bench_large() assumes the same number in loads


class Case:
    """Size of a state and its number of ranks and tensors."""

    def __init__(self, name, size, ranks, tensors=32, placement="sharded"):
        self.name, self.size, self.ranks, self.tensors, self.placement = name, int(size), ranks, tensors, placement
        self.share = self.size // ranks if placement == "sharded" else self.size  # bytes per rank


class Probe:
    """The ranks of checkpoint_probe. Each gets its commands through a pipe; rank 0 prints the answer."""

    def __init__(self, bench, case, staging=None):
        self.bench, self.folder, self.index = bench, bench.fresh("probe"), 0
        self.pipes = []
        for rank in range(case.ranks):
            os.mkfifo(self.folder / f"commands.{rank}")
            self.pipes.append(os.open(self.folder / f"commands.{rank}", os.O_RDWR))  # O_RDWR opens without waiting for a reader
        command = [MPIEXEC, "-n", case.ranks, PROBE, self.folder, case.size, case.tensors, case.placement,
                   staging or case.share + 64 * MIB]
        command = [str(word) for word in command]
        bench.note_command(case.name, command)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def ask(self, command):
        for pipe in self.pipes:
            os.write(pipe, f"{command}\n".encode())
        output = []
        for line in self.process.stdout:
            if line.startswith("= "):
                return [float(word) for word in line.split()[1:]]
            output.append(line)
        sys.exit(f"checkpoint: the probe ended at '{command}':\n{''.join(output)[-3000:]}")

    def save(self, command="save"):
        """Saves a checkpoint. Removes the previous one first, which is not timed, but keeps the directory of the attempt."""
        (self.folder / "run").mkdir(exist_ok=True)
        for checkpoint in (self.folder / "run").glob("checkpoint_*"):
            shutil.rmtree(checkpoint)
        self.index += 1
        return self.ask(f"{command} {self.index}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pipe in self.pipes:
            os.write(pipe, b"end\n")
        try:
            self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
        for pipe in self.pipes:
            os.close(pipe)
        shutil.rmtree(self.folder, ignore_errors=True)


class Peer:
    """Processes that save the share of each rank by torch.save, one process per rank."""

    def __init__(self, bench, case):
        self.folder = bench.fresh("peer")
        tensors, share = case.tensors, case.size // case.ranks
        commands = [[PYTHON, str(PEER), str(self.folder / f"{rank}.pt"), str(share), str(tensors)]
                    for rank in range(case.ranks)]
        bench.note_command(f"{case.name}_peer", commands[0])
        self.ranks = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                      for command in commands]

    def lines(self):
        lines = [rank.stdout.readline() for rank in self.ranks]
        if not all(lines):
            sys.exit("checkpoint: the peer ended early")
        return lines

    def save(self):
        for rank in self.ranks:
            rank.stdin.write("save\n")
            rank.stdin.flush()
        times = [[float(word) for word in line.split()] for line in self.lines()]
        return max(end for _, end in times) - min(begin for begin, _ in times)

    def __enter__(self):
        self.lines()  # waits until the tensors are created
        return self

    def __exit__(self, *_):
        for rank in self.ranks:
            rank.kill()
            rank.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)


def measure(bench, case):
    """Measures a case; returns {name: seconds of each repetition}."""
    figures = {}

    def note(names, values):
        for name, value in zip(names, values):
            figures.setdefault(name, []).append(value)

    with Probe(bench, case) as probe, Peer(bench, case) as peer:
        writes = [lambda: note(["raw_write"], probe.ask("raw_write")),
                  lambda: note(["durable", "stall"], probe.save()),
                  lambda: note(["torch"], [peer.save()])]
        reads = [lambda: note(["raw_read"], probe.ask("raw_read")), lambda: note(["load", "digest"], probe.ask("load"))]
        probe.save()  # the first save allocates the staging memory
        probe.ask("copy")
        for turn in range(REPETITIONS):
            note(["copy"], probe.ask("copy"))
            note(["copy_while_writing"], probe.ask("copy_while_writing"))
            for step in range(len(writes)):
                writes[(turn + step) % len(writes)]()
            for step in range(len(reads)):
                reads[(turn + step) % len(reads)]()
    for name, values in figures.items():
        print(f"# {case.name} {name}_s: median {median(values):.4g} of {', '.join(f'{v:.4g}' for v in values)}", flush=True)
    bench.record["figures"][case.name] = figures
    return figures


def has_room(bench, case):
    """Returns whether memory suffices for the state, its staging copy, the tensors of the peer and its file in the page cache, and the
    disk for the files."""
    free = next(int(line.split()[1]) * 1024 for line in open("/proc/meminfo") if line.startswith("MemAvailable"))
    held = case.share * case.ranks
    disk = shutil.disk_usage(bench.work).free
    if free > 2 * held + 2 * case.size + GIB and disk > 5 * case.size:
        return True
    print(f"skipped: {case.name}: {free / GIB:.1f} GiB of memory and {disk / GIB:.1f} GiB of disk are free", flush=True)
    return False


def bench_large(bench, case):
    seconds = measure(bench, case)
    bench.claim(f"durable_save_vs_raw_write_{case.name}", ratio(seconds["raw_write"], seconds["durable"]), ">=", 0.85)
    bench.claim(f"durable_save_vs_torch_save_{case.name}", ratio(seconds["torch"], seconds["durable"]), ">=", 2)
    bench.claim(f"stall_vs_memcpy_{case.name}", ratio(seconds["stall"], seconds["copy"]), "<=", 1.5)
    bench.claim(f"stall_vs_memcpy_during_writes_{case.name}", ratio(seconds["stall"], seconds["copy_while_writing"]), "<=", 1.1)
    bench.claim(f"load_vs_raw_read_{case.name}", ratio(seconds["raw_read"], seconds["load"]), ">=", 0.85)
    costs = [digest / (THREADS * load - digest) for digest, load in zip(seconds["digest"], seconds["load"])]
    bench.claim(f"load_checksums_cost_{case.name}", median(costs), "<=", 0.1)


def bench_replicated(bench, case):
    """Prints figures without a claim: each rank holds all tensors, writes a part of them and reads all of them."""
    seconds = measure(bench, case)
    print(f"# {case.name}: save {ratio(seconds['raw_write'], seconds['durable']):.3g} of the raw rate, "
          f"stall {ratio(seconds['stall'], seconds['copy']) * case.ranks:.3g} memcpys of the bytes that the rank writes, "
          f"load {ratio(seconds['raw_read'], seconds['load']):.3g} of the raw rate of one copy", flush=True)


def bench_small(bench, case):
    seconds = measure(bench, case)
    bench.claim(f"durable_save_vs_torch_save_{case.name}", ratio(seconds["torch"], seconds["durable"]), ">=", 1)
    allowed = [3 * copy + 0.010 for copy in seconds["copy"]]
    bench.claim(f"stall_vs_3_memcpys_and_10_ms_{case.name}", ratio(seconds["stall"], allowed), "<=", 1)


def bench_memory(bench, case, staging=256 * MIB):
    """Compares the peak memory of a process, in addition to its state, with the documented limit."""
    with Probe(bench, case, staging) as probe:
        saved = probe.save("peak_save")[0]
    with Probe(bench, case, staging) as probe:
        probe.save()
        kept = probe.folder / "run"
        kept.rename(bench.work / "kept")
    with Probe(bench, case, staging) as probe:
        (bench.work / "kept").rename(probe.folder / "run")
        loaded = probe.ask("peak_load")[0]
    bench.record["figures"][f"memory_{case.name}"] = {"save_extra_bytes": saved, "load_extra_bytes": loaded}
    print(f"# {case.name}: in addition to the state {saved / MIB:.0f} MiB in a save with {staging // MIB} MiB of staging memory, "
          f"{loaded / MIB:.0f} MiB in a load", flush=True)
    bench.claim(f"save_peak_memory_{case.name}", (case.share + saved) / (case.share + staging + 64 * MIB), "<=", 1)
    bench.claim(f"load_peak_memory_{case.name}", (case.share + loaded) / (case.share + 64 * MIB), "<=", 1)


def work_by_name():
    """Returns all measurements in order, as {name: (function, case)}."""
    work = {"10000_tensors": (bench_small, Case("10000_tensors", 10000 * 4096, 1, tensors=10000))}
    for size in SIZES:
        for ranks in (1, 2):
            name = f"{size:g}gib_{ranks}rank{'s' * (ranks > 1)}"
            work[name] = (bench_large, Case(name, size * GIB, ranks))
    smallest = min(SIZES)
    name = f"{smallest:g}gib_2ranks_replicated"
    work[name] = (bench_replicated, Case(name, smallest * GIB, 2, placement="replicated"))
    for ranks in (1, 2):
        name = f"{smallest:g}gib_{ranks}rank{'s' * (ranks > 1)}"
        work[f"memory_{name}"] = (bench_memory, Case(name, smallest * GIB, ranks))
    return work


def chosen(work):
    unknown = [name for name in CASES if name not in work]
    if unknown:
        sys.exit(f"checkpoint: TRAINRT_BENCH_CASES: no case {unknown[0]!r}; valid cases: {', '.join(work)}")
    return {name: work[name] for name in CASES or work}


def main():
    work = chosen(work_by_name())
    need(PROBE, "checkpoint_probe")
    need(MPIEXEC, "mpiexec")
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode != 0:
        skip(f"{PYTHON} has no torch (package python3-torch)")
    bench = Bench("checkpoint", __doc__.strip())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("checkpoint: stopped"))  # so that the files are removed
    try:
        for measured, case in work.values():
            if measured is not bench_large or has_room(bench, case):
                measured(bench, case)
        bench.finish()
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)


main()
