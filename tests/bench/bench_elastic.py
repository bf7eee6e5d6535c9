#!/usr/bin/python3
"""Cost of running more workers than cores (scaling.on_resize = same_bits): an epoch of V workers on C cores, compared with an epoch of C
ranks that have the same global batch, by gradient accumulation. Both sides are trainrt, with one thread per rank, on all cores, and with
loop.share_weights = true.

The time of an epoch is (time of a run of 3 epochs - time of a run of 1 epoch) / 2. Both sides run in turn, and a ratio is taken within each
repetition. The runs evaluate after every epoch; checkpoints are off.

mlp      the MLP of bench_train.py, batch 32 per worker, with 2 and 4 workers per core
resnet   ResNet-18, batch 32 per worker, with 2 and 4 workers per core
idle     CPU time of ranks that have waited in a collective for 20 s: in shared memory, over MPI, and a DDP script over gloo

    bench_elastic.py [BUILD] [--part mlp|resnet|idle] [--repetitions N] [--samples N]
"""
import argparse
import glob
import os
import signal
import subprocess
import time

from bench import BUILD, FASHION_MNIST, MPIEXEC, SOURCE, TRAINRT, Bench, median, need, ratio, with_file
from fashion_data import data_sections, first_samples, need_fashion_mnist

CORES = len(os.sched_getaffinity(0))
FEW, MANY = 1, 3
PARTS = ("mlp", "resnet", "idle")
RESNET_STEPS, BATCH = 6, 32
GOALS = {"mlp": {2: 1.3, 4: 1.5}, "resnet": {2: 1.05, 4: 1.10}}
LOOPS = {"mlp": ("fashion_mnist", "lr = 0.001\nrelu_logits = true\n"), "resnet": ("resnet18", "lr = 0.01\nmomentum = 0.9\n")}
SETTLE_S, IDLE_S, IDLE_RANKS = 20, 15, 4
GLOO_GOAL = 0.005  # larger than zero, because a thread of gloo wakes up 100 times per second

def epoch_seconds(bench, part, data, ranks, accumulate):
    """Runs `ranks` ranks for 1 and for 3 epochs; returns the seconds of an epoch."""
    function, loop = LOOPS[part]
    config = with_file(bench.work / f"{part}.ini", f"[run]\nname = {part}\nstorage_path = {bench.fresh('runs')}\nseed = 0\n[train]\nfunction = {function}\n"
                       f"[loop]\nbatch_size = {BATCH}\neval_batch_size = 64\naccumulate = {accumulate}\nshare_weights = true\n{loop}[checkpoint]\nevery = off\n{data_sections(data)}")
    seconds = [bench.run(f"{part} {ranks} ranks", [TRAINRT, "-n", ranks, "--config", config, f"--loop.epochs={epochs}", f"--run.name={part}{epochs}"],
                         OMP_NUM_THREADS="1")[0] for epochs in (FEW, MANY)]
    return (seconds[1] - seconds[0]) / (MANY - FEW)


def bench_sharing(bench, options, part, samples):
    data = FASHION_MNIST if samples >= 60000 else bench.fresh(f"{part}_data")
    if samples < 60000:
        first_samples(data, {"train": samples, "test": max(64 * 4 * CORES, samples // 20)})
    for per_core, goal in GOALS[part].items():
        print(f"# {part}: {per_core * CORES} workers on {CORES} cores against {CORES} ranks with accumulate = {per_core}, {samples} samples; load average "
              f"{os.getloadavg()[0]:.1f}", flush=True)
        workers, ranks = f"{part}_{per_core}_per_core_epoch_s", f"{part}_accumulate_{per_core}_epoch_s"
        figures = bench.interleaved(options.repetitions, {workers: lambda: epoch_seconds(bench, part, data, per_core * CORES, 1),
                                                          ranks: lambda: epoch_seconds(bench, part, data, CORES, per_core)})
        if min(figures[workers] + figures[ranks]) <= 0:
            print(f"skipped: {part}, {per_core} per core: the machine is too busy to time an epoch", flush=True)
        else:
            bench.claim(f"{part}_{per_core}_workers_per_core_vs_accumulation", ratio(figures[workers], figures[ranks]), "<=", goal)


def cpu_seconds(pid):
    """Returns the CPU time of a process: the sum over its threads, in nanoseconds in the kernel's statistics."""
    return sum(int(open(path).read().split()[0]) for path in glob.glob(f"/proc/{pid}/task/*/schedstat")) / 1e9


def processes_of(word, variable):
    """Returns the pids of the processes with this word in their command lines, by their value of an environment variable."""
    pids = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{pid}/cmdline").read().split("\0")
            environment = open(f"/proc/{pid}/environ").read().split("\0")
        except OSError:
            continue
        number = next((each.split("=")[1] for each in environment if each.startswith(f"{variable}=")), None)
        if word in words and number is not None:
            pids[int(number)] = int(pid)
    return pids


def share_of_a_core(bench, backend, command, begun, processes):
    """Runs a job, stops its rank 0 once `begun()` is true, and returns the largest share of a core that one of the other `processes()` then uses."""
    command = list(map(str, command))
    bench.note_command(f"idle {backend}", command)
    job = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ranks = {}
    try:
        while job.poll() is None and not begun():
            time.sleep(0.1)
        ranks = processes()
        if len(ranks) != IDLE_RANKS:
            raise SystemExit(f"elastic: {backend}: {len(ranks)} ranks run")
        os.kill(ranks[0], signal.SIGSTOP)
        time.sleep(SETTLE_S)
        before, begin = {rank: cpu_seconds(pid) for rank, pid in ranks.items() if rank > 0}, time.monotonic()
        time.sleep(IDLE_S)
        return max(cpu_seconds(ranks[rank]) - seconds for rank, seconds in before.items()) / (time.monotonic() - begin)
    finally:
        for pid in ranks.values():
            os.kill(pid, signal.SIGKILL)
        job.kill()
        job.wait()


def share_of_backend(bench, backend):
    name, storage = f"idle-{backend}-{os.getpid()}", bench.fresh("idle")
    config = with_file(bench.work / "idle.ini", f"[run]\nstorage_path = {storage}\n[train]\nfunction = linear\n[loop]\nepochs = 1000000\n"
                       f"[data.train]\nformat = synthetic\nsamples = 65536\n[checkpoint]\nevery = off\n[scaling]\nbackend = {backend}\n")
    return share_of_a_core(bench, backend, [MPIEXEC, "-n", IDLE_RANKS, TRAINRT, "--config", config, f"--run.name={name}"],
                           lambda: list(storage.glob(f"{name}/result.json")), lambda: processes_of(f"--run.name={name}", "PMI_RANK"))


def share_of_gloo(bench):
    """Returns the share of a core that a rank of a DDP script over gloo uses while it waits. `trainrt -n` starts the script."""
    out = bench.fresh("idle_gloo")
    script = f"/usr/bin/python3 {SOURCE}/tests/support/programs/ddp_epochs.py {out} --epochs 1000000"
    config = with_file(bench.work / "idle_gloo.ini", f"[run]\nname = gloo\nstorage_path = {bench.fresh('idle')}\n[train]\nprogram = {script}\n")
    return share_of_a_core(bench, "gloo", [TRAINRT, "-n", IDLE_RANKS, "--config", config], (out / "epochs.jsonl").exists,
                           lambda: processes_of(str(out), "RANK"))


def bench_idle(bench, options):
    kinds = {f"idle_{backend}_core_share": lambda backend=backend: share_of_backend(bench, backend) for backend in ("node", "mpi")}
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True).returncode == 0:
        kinds["idle_gloo_core_share"] = lambda: share_of_gloo(bench)
    for name, shares in bench.interleaved(options.repetitions, kinds).items():
        bench.claim(name, median(shares), "<=", GLOO_GOAL if "gloo" in name else 0.001)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("build", nargs="?", help="build directory, read in bench.py")
    options.add_argument("--part", choices=PARTS, action="append", dest="parts")
    options.add_argument("--repetitions", type=int, default=3)
    options.add_argument("--samples", type=int, default=60000, help="number of samples of the MLP's training set")
    options = options.parse_args()
    need(TRAINRT, "trainrt")
    parts = options.parts or PARTS
    bench = Bench("elastic", __doc__.strip())
    if set(parts) != {"idle"}:
        need(BUILD / "modules/torch.so", "the torch module")
        need_fashion_mnist()
    if "mlp" in parts:
        bench_sharing(bench, options, "mlp", options.samples)
    if "resnet" in parts:
        bench_sharing(bench, options, "resnet", RESNET_STEPS * BATCH * 4 * CORES)
    if "idle" in parts:
        need(MPIEXEC, "mpiexec")
        bench_idle(bench, options)
    bench.finish()


main()
