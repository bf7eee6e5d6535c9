#!/usr/bin/python3
"""Collectives on 2 ranks of one machine: the default backend of a run, MPI, and two plain threads.

comm_probe times all three methods in one run: each round times a block of calls of each method. An all-reduce is a sum of f32 in
place. The methods are: the backend on memory from Communicator::allocate(); MPI_Allreduce on memory from malloc(), in place and
out of place, where the faster one counts at each size; and two threads of one process, as a limit of the hardware. Each thread
adds one half of both buffers and writes the sum to both, between two barriers, while the other rank sleeps. A ratio is taken
within each round, and the median of the ratios is claimed.

Claims use hot memory for all methods: calls on the same buffers without a pause, so that buffers that fit into the caches stay
there. The figures "written" are only printed: each rank writes its buffer before each call, like a backward pass, and the write is
not timed.

    bench_comm.py [BUILD] [--backend NAME] [--rounds N] [--sizes NAMES]
"""
import argparse
import subprocess
import sys

from bench import BUILD, MPIEXEC, Bench, median, need, ratio

PROBE = BUILD / "bench/comm_probe"
KIB, MIB = 1 << 10, 1 << 20
MLP = 669706 * 4  # the gradients of the FashionMNIST MLP
SMALL = (8, 64, KIB, 8 * KIB, 64 * KIB)
VS_MPI = {MLP: 4, 128 * MIB: 5}
# 25 MiB do not fit into the caches of a core and nearly fill a shared cache. Memory then limits all methods, so this size is compared
# with the threads only.
VS_THREADS = {MLP: 0.60, 25 * MIB: 0.90, 128 * MIB: 0.60}


def read_options():
    options = argparse.ArgumentParser()
    options.add_argument("build", nargs="?", help="build directory, read in bench.py")
    options.add_argument("--backend", default="", help="backend to measure; default: that of a run")
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--sizes", default="", help="measure only all-reduces of these sizes, for example 64KiB,128MiB")
    return options.parse_args()


def name_of(size):
    if size == MLP:
        return "2.68MB"
    return f"{size // MIB}MiB" if size >= MIB else f"{size // KIB}KiB" if size >= KIB else f"{size}B"


def bytes_of(name):
    """Returns the size in bytes that `name` stands for in claims."""
    sizes = {name_of(size): size for size in (*SMALL, MLP, 25 * MIB, 128 * MIB)}
    if name not in sizes:
        sys.exit(f"comm: no size {name!r}; valid sizes: {', '.join(sizes)}")
    return sizes[name]


def caches():
    """Returns the name and size of each data cache, as lscpu lists them."""
    listing = subprocess.run(["lscpu", "--caches=NAME,ONE-SIZE,TYPE"], capture_output=True, text=True).stdout
    return ", ".join(f"{words[0]} {words[1]}" for words in map(str.split, listing.splitlines()[1:])
                     if len(words) == 3 and words[2] != "Instruction")


def measure(bench, options):
    """Runs comm_probe; returns {(kind, treatment, size): {method: seconds per call of each round}}."""
    command = [MPIEXEC, "-n", 2, PROBE, "--rounds", options.rounds]
    if options.backend:
        command += ["--backend", options.backend]
    if options.sizes:
        command += ["--sizes", ",".join(str(bytes_of(name)) for name in options.sizes.split(","))]
    series = {}
    for line in bench.run("comm_probe", command)[1].splitlines():
        words = line.split()
        if words[:1] == ["backend"]:
            bench.record["backend"] = words[1]
        elif words[:1] == ["="]:
            kind, treatment, method, size = words[1:5]
            series.setdefault((kind, treatment, int(size)), {})[method] = [float(word) for word in words[5:]]
    return series


def describe(case, methods):
    kind, treatment, size = case
    for method, values in methods.items():
        rate = f", {size / median(values) / 1e9:.3g} GB/s" if size >= 64 * KIB else ""
        print(f"# {kind} {name_of(size)} {treatment} {method}: median {median(values) * 1e6:.4g} us{rate} "
              f"of {', '.join(f'{v * 1e6:.4g}' for v in values)}", flush=True)


def faster_mpi(methods):
    return min((methods["mpi_in_place"], methods["mpi_out_of_place"]), key=median)


def claim_all_reduce(bench, series):
    hot = {size: methods for (kind, treatment, size), methods in series.items() if (kind, treatment) == ("all_reduce", "hot")}
    for size, target in [*((size, 1) for size in SMALL), *VS_MPI.items()]:
        if size in hot:
            bench.claim(f"all_reduce_{name_of(size)}_vs_mpi", ratio(faster_mpi(hot[size]), hot[size]["allocated"]), ">=", target)
    for size, target in VS_THREADS.items():
        if size in hot:
            bench.claim(f"all_reduce_{name_of(size)}_vs_two_threads", ratio(hot[size]["two_threads"], hot[size]["allocated"]), ">=", target)


def print_the_rest(series):
    """Prints figures without a claim."""
    for (kind, treatment, size), methods in series.items():
        ours, name = methods["allocated"], f"{kind} {name_of(size)} {treatment}"
        if kind != "all_reduce":
            print(f"# {name}: {ratio(methods['mpi'], ours):.3g} times MPI", flush=True)
            continue
        if treatment == "written" or size not in (*SMALL, *VS_MPI):
            print(f"# {name}: {ratio(faster_mpi(methods), ours):.3g} times MPI, "
                  f"{ratio(methods['two_threads'], ours):.2g} of two threads", flush=True)
        print(f"# {name}, memory not from allocate(): {ratio(faster_mpi(methods), methods['ordinary']):.3g} times MPI",
              flush=True)


def main():
    options = read_options()
    need(PROBE, "comm_probe")
    need(MPIEXEC, "mpiexec")
    bench = Bench("comm", __doc__.strip())
    bench.record["caches"] = caches()
    if bench.record["hardware"]["cores"] < 2:
        print("# 2 ranks share 1 core, so the figures have little meaning", flush=True)
    series = measure(bench, options)
    if "backend" not in bench.record:
        sys.exit("comm: the probe did not print its backend")
    print(f"# backend {bench.record['backend']}; caches {bench.record['caches']}; hot: all calls use the same memory; "
          "written: each rank writes its buffer before each call", flush=True)
    for case, methods in series.items():
        describe(case, methods)
        bench.record["figures"][" ".join(map(str, case))] = methods
    print_the_rest(series)
    claim_all_reduce(bench, series)
    bench.finish()


main()
