#!/usr/bin/python3
"""Measures how the collective operations of a run grow with the number of ranks, and the cost of the stop vote in a short step.

scale_probe runs 64, 256 and 1,024 ranks as threads of one process, on "nodes" of 8 ranks. At each number of ranks, it counts the
collectives of rank 0 in a start, a restore, two steps, a report and a commit (of replicated tensors, four sharded tensors and four
tensors per rank). "Rounds" is the number of successive waits: a collective counts as the depth of the tree over all ranks plus two,
a gather as three. It may grow by a few rounds per doubling of the ranks. "Bytes" is the amount of data that gathers and broadcasts
store on rank 0: in a commit some bytes per rank for any number of tensors; in a restore the index of each rank's part, which is
processed in rounds of at most 64 MiB. Seconds are also printed but have little meaning, because a thousand threads share a few
cores. The memory of the process is that of all ranks: stacks, communication buffers and the data of each rank. 1,024 ranks take
about 2.5 GB and a minute on 2 cores. The restore takes most of the time, because each rank holds a replicated tensor and so opens
every file.

vote_loop runs on 2 ranks of this machine: steps of one millisecond of arithmetic and a small all-reduce, in alternating blocks with
and without step().

A model for 10,000 ranks, not measured: n nodes, p ranks, L = ceil(log2 p) = 14, 2 us per MPI message.
  start     PMIx: one fence without data (a tree of slurmstepds of depth log_width(n): 2 at TreeWidth 50); MPI_Init, and connections
            at their first use. Then the collectives below: 30 to 40 with L messages each, about 1 ms.
  vote      MPI_Iallreduce of 48 bytes by recursive doubling: L rounds, 28 us, which overlap with the step.
  report    four reductions of L rounds: about 0.1 ms. No gather, unless the keys differ between ranks.
  commit    one reduction, then one gather of 120 bytes per rank: 1.2 MB on every rank. The backend mpi posts it as p messages per
            rank in one round, so the cost is linear in messages, not in rounds: 10,000 x 1 us = 10 ms per checkpoint.
  manifest  one line per rank and one per file: rank 0 writes 2 MB.
  restore   each index is read by one rank and sent to all in rounds of at most 64 MiB.

    bench_scale.py [BUILD] [--ranks 64,256,1024] [--tensors 1000]
"""
import argparse
import math
import re
import sys

from bench import BUILD, MPIEXEC, TRAINRT, Bench, median, need, with_file

PROBE = BUILD / "bench/scale_probe"
LIBRARY = BUILD / "bench/vote_loop.so"
BYTES_A_RANK = 200  # at a commit
VOTE_PERCENT = 1
MEGABYTES_A_RANK = 4  # stacks, buffers and a share of the memory of the process


def read_options():
    options = argparse.ArgumentParser()
    options.add_argument("build", nargs="?", help="build directory, read in bench.py")
    options.add_argument("--ranks", default="64,256,1024")
    options.add_argument("--tensors", type=int, default=1000)
    return options.parse_args()


def probe(bench, ranks, tensors):
    """Runs scale_probe; returns the counts by operation and name, and the peak memory of the process in MB."""
    command = [PROBE, ranks, tensors, bench.fresh("runs")]
    _, output = bench.run(f"{ranks} ranks, {tensors} tensors", command, timeout_s=1800)
    peak = re.search(r"^peak_megabytes (\d+)$", output, re.MULTILINE)
    found = {}
    for line in output.splitlines():
        words = line.split()
        if words[:1] == ["="]:
            found[words[1]] = {name: float(value) for name, value in zip(words[2::2], words[3::2])}
    if not found or not peak:
        sys.exit(f"scale: no figures in the output:\n{output[-2000:]}")
    return found, int(peak.group(1))


def claim_rounds(bench, series):
    """Compares the rounds per doubling between the smallest and the largest number of ranks with those of the first doublings."""
    least, most = min(series), max(series)
    doublings = math.log2(most / least)
    for operation, counts in series[least].items():
        grown = (series[most][operation]["rounds"] - counts["rounds"]) / doublings
        # The target is the average number of rounds per doubling up to the smallest number of ranks: only logarithmic growth stays below it.
        bench.claim(f"scale_{operation}_rounds_a_doubling", grown, "<=", counts["rounds"] / math.log2(least))


def claim_bytes(bench, series, few):
    for ranks, operations in series.items():
        bench.claim(f"scale_commit_bytes_a_rank_{ranks}", operations["commit"]["bytes"] / ranks, "<=", BYTES_A_RANK)
    least = min(series)
    bench.claim(f"scale_commit_bytes_{least}_many_vs_few_tensors", series[least]["commit"]["bytes"] / few["commit"]["bytes"],
                "<=", 1.05)


def vote_percent(bench):
    path = with_file(bench.work / "vote.ini", f"[run]\nname = vote\nstorage_path = {bench.fresh('votes')}\n"
                     f"[train]\nlibrary = {LIBRARY}\n[checkpoint]\nevery = off\n[scaling]\nbackend = node\n")
    _, output = bench.run("vote", [MPIEXEC, "-n", 2, TRAINRT, "--config", path])
    found = re.search(r"step_ms=([0-9.]+) vote_percent=([-0-9.]+)", output)
    if not found:
        sys.exit(f"scale: no figure of the vote in the output:\n{output[-2000:]}")
    print(f"# the vote adds {found.group(2)} % to a step of {found.group(1)} ms", flush=True)
    return float(found.group(2))


def main():
    options = read_options()
    for path, what in ((PROBE, "scale_probe"), (LIBRARY, "vote_loop.so"), (TRAINRT, "trainrt"), (MPIEXEC, "mpiexec")):
        need(path, what)
    bench = Bench("scale", __doc__.strip())
    figures = bench.interleaved(3, {"vote_percent": lambda: vote_percent(bench)})
    bench.claim("vote_percent_of_a_1_ms_step", median(figures["vote_percent"]), "<=", VOTE_PERCENT)
    numbers = sorted(int(word) for word in options.ranks.split(","))
    few, _ = probe(bench, numbers[0], 10)
    series, peaks = {}, {}
    for ranks in numbers:
        series[ranks], peaks[ranks] = probe(bench, ranks, options.tensors)
    for ranks, operations in series.items():
        for operation, counts in operations.items():
            print(f"# {ranks} ranks, {options.tensors} tensors, {operation}: "
                  + ", ".join(f"{name} {value:g}" for name, value in counts.items()), flush=True)
        print(f"# {ranks} ranks: {peaks[ranks]} MB in one process", flush=True)
    bench.record["figures"]["counts"] = {str(ranks): operations for ranks, operations in series.items()}
    bench.record["figures"]["peak_megabytes"] = {str(ranks): peak for ranks, peak in peaks.items()}
    claim_rounds(bench, series)
    claim_bytes(bench, series, few)
    bench.claim(f"scale_megabytes_a_rank_{numbers[-1]}", peaks[numbers[-1]] / numbers[-1], "<=", MEGABYTES_A_RANK)
    bench.finish()


main()
