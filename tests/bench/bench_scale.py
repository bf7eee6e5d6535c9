#!/usr/bin/python3
"""How the parts of a run that all ranks take part in grow with the ranks, and what the stop vote costs a short step.

scale_probe runs 64, 256 and 1,024 ranks as threads of one process, on "nodes" of 8, and counts what rank 0 takes part in
for a start, a restore, two steps, a report and a commit (of replicated tensors, four sharded and four of each rank), all
of them at each number of ranks. Rounds are waits that follow each other: a collective counts as the depth of the one tree
over rank numbers and two, a gather as three. They may grow by some rounds for each doubling of the ranks. Bytes are what
gathers and broadcasts put into rank 0's memory: at a commit some for each rank, whatever the number of tensors; at a
restore the index of each rank's part, which is taken in and let go in rounds of at most 64 MiB. Seconds are printed beside
them and mean little: a thousand threads share a few cores. The memory of the process is that of all ranks: stacks, what
they meet in, and what each holds for itself. 1,024 ranks take about 2.5 GB and a minute on 2 cores, most of it the restore:
every rank opens every file, as each holds a replicated tensor.

vote_loop runs on 2 ranks of this machine: steps of a millisecond of arithmetic and a small all-reduce, with step() and without,
block by block.

The model for 10,000 ranks, on paper. n nodes, p ranks; L = ceil(log2 p) = 14; a message of MPI takes 2 us.
  start     PMIx: one fence without data (a tree of slurmstepds, depth log_width(n): 2 at TreeWidth 50); MPI_Init and
            connections as they are used. Then the rounds below: 30 to 40 collectives of L messages, about 1 ms.
  vote      MPI_Iallreduce of 48 bytes: recursive doubling, L rounds, 28 us, which overlap with the step.
  report    four reductions of L rounds: about 0.1 ms. No gather, unless the keys differ.
  commit    one reduction, then one gather of 120 bytes a rank: 1.2 MB on every rank. Backend mpi posts it as p messages a
            rank in one round: that is linear in messages, not in rounds: 10,000 x 1 us = 10 ms, once a checkpoint.
  manifest  a line a rank and one a file: 2 MB that rank 0 writes.
  restore   indices are read by their homes and told to all in rounds of at most 64 MiB.

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
MEGABYTES_A_RANK = 4  # its stacks and buffers, and its share of the one process


def read_options():
    options = argparse.ArgumentParser()
    options.add_argument("build", nargs="?", help="build directory, read in bench.py")
    options.add_argument("--ranks", default="64,256,1024")
    options.add_argument("--tensors", type=int, default=1000)
    return options.parse_args()


def probe(bench, ranks, tensors):
    """Counts by operation and name, and the process's peak memory in MB."""
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
    """Between the least and the most ranks: rounds for each doubling, against those that the first doublings took."""
    least, most = min(series), max(series)
    doublings = math.log2(most / least)
    for operation, counts in series[least].items():
        grown = (series[most][operation]["rounds"] - counts["rounds"]) / doublings
        # a + b log2(ranks) with b of the least number of ranks: what grows faster than the logarithm exceeds it
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
    print(f"# a step of {found.group(1)} ms: the vote adds {found.group(2)} %", flush=True)
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
        print(f"# {ranks} ranks: {peaks[ranks]} MB in the one process", flush=True)
    bench.record["figures"]["counts"] = {str(ranks): operations for ranks, operations in series.items()}
    bench.record["figures"]["peak_megabytes"] = {str(ranks): peak for ranks, peak in peaks.items()}
    claim_rounds(bench, series)
    claim_bytes(bench, series, few)
    bench.claim(f"scale_megabytes_a_rank_{numbers[-1]}", peaks[numbers[-1]] / numbers[-1], "<=", MEGABYTES_A_RANK)
    bench.finish()


main()
