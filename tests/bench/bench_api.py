#!/usr/bin/python3
"""Compares Ray Train's API in trainrt with torch alone and with Ray Train; a ratio is taken within each repetition.

    make bench-api ONLY=ddp     default: all parts

ddp      a step of DistributedDataParallel by prepare_model(), where the runtime averages the gradients; peer: gloo; 2 ranks, one thread each
group    the same for a script that wraps its model in DDP with init_process_group("trainrt"); peer: gloo
state    save_state() of a module of 1 GiB (256 MiB if memory or disk are short), until training continues and until the data is durable; peers:
         torch.save with fsync, the raw disk, and on torch 2 async_save of torch.distributed.checkpoint
report   microseconds of train.report() with ten numbers on 2 ranks; also those of a barrier()
directory    a checkpoint of 1 GiB in 8 files by train.report() of one of 2 ranks; peer: cp -r and sync of the same files. The time of
             report() is compared with reading these files once from the page cache
ray      TorchTrainer.fit() in a plain script with FashionMNIST's MLP on 2 workers, from the start of the script to the first step, and the
         later epochs; peer: Ray Train. Requires a Python with ray

Python is $TRAINRT_PYTHON, else /usr/bin/python3, with torch.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bench import BUILD, TRAINRT, Bench, median, need, ratio, skip

FOLDER = Path(__file__).resolve().parent / "programs"
PYTHON = os.environ.get("TRAINRT_PYTHON", "/usr/bin/python3")
STEPS = 600
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode == 0


def need_torch():
    if not has("torch.distributed"):
        skip(f"{PYTHON} has no torch (package python3-torch)")


def program(bench, label, ranks, script, *words):
    """Runs a script on `ranks` ranks in a new run; returns its output."""
    storage = bench.fresh(label)
    command = [TRAINRT, "-n", ranks, f"--run.storage_path={storage}", "--failure.max_failures=0", "--", PYTHON, FOLDER / script, *words]
    return bench.run(label, command, **ONE_THREAD)[1]


# ---- the parts ---------------------------------------------------------------------------------------------------------------------


def ddp(bench):
    bench.claim("ddp_step_vs_gloo", step_vs_gloo(bench, "trainrt"), "<=", 0.75)


def group(bench):
    bench.claim("ddp_step_over_our_group_vs_gloo", step_vs_gloo(bench, "group"), "<=", 0.9)


def step_vs_gloo(bench, backend):
    need_torch()

    def step_ms(backend):
        return float(re.search(r"step_ms ([0-9.]+)", program(bench, f"ddp_{backend}", 2, "api_ddp.py", STEPS, backend))[1])

    figures = bench.interleaved(7, {f"{each}_step_ms": lambda each=each: step_ms(each) for each in (backend, "torch")})
    return ratio(figures[f"{backend}_step_ms"], figures["torch_step_ms"])


def state(bench):
    need_torch()
    memory = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    mib = 1024 if min(memory, shutil.disk_usage(bench.work).free) > 8 << 30 else 256
    print(f"# a module of {mib} MiB", flush=True)
    out = program(bench, "state", 1, "api_state.py", mib, 5)
    stall, durable, torch_save, disk, dcp_stall, dcp_durable = (list(map(float, re.findall(rf" {name}_ms ([0-9.]+)", out)))
                                                          for name in ("stall", "durable", "torch", "disk", "dcp_stall", "dcp_durable"))
    bench.record["figures"].update(state_mib=mib, state_stall_ms=stall, state_durable_ms=durable, state_torch_save_ms=torch_save, state_disk_ms=disk)
    print(f"# time of the raw disk / torch.save and fsync: {ratio(disk, torch_save):.2f}; time of save_state() / raw disk: {ratio(durable, disk):.2f}", flush=True)
    bench.claim("save_state_stall_vs_torch_save", ratio(stall, torch_save), "<=", 0.5)
    bench.claim("save_state_durable_vs_torch_save", ratio(durable, torch_save), "<=", 0.5)
    if not dcp_stall:
        return print(f"# async_save of torch.distributed.checkpoint is not measured: {PYTHON} has an older torch", flush=True)
    bench.record["figures"].update(state_dcp_stall_ms=dcp_stall, state_dcp_durable_ms=dcp_durable)
    bench.claim("save_state_stall_vs_dcp_async_save", ratio(stall, dcp_stall), "<=", 0.5)
    return bench.claim("save_state_durable_vs_dcp_async_save", ratio(durable, dcp_durable), "<=", 0.5)


def report(bench):
    found = [dict(re.findall(r"(report|barrier)_us ([0-9.]+)", program(bench, "report", 2, "api_report.py", 3000))) for _ in range(7)]
    figures = bench.note({f"{name}_us": [float(each[name]) for each in found] for name in ("report", "barrier")})
    bench.claim("report_median_us", median(figures["report_us"]), "<=", 100)


def directory(bench):
    printed = program(bench, "directory", 2, "api_directory.py", 1024, 7)
    names = ("memcpy", "read", "stall", "durable", "cp")
    figures = bench.note({f"directory_{name}_s": [float(text) for text in re.findall(rf"\b{name} ([0-9.]+)", printed)] for name in names})
    bench.claim("directory_durable_vs_cp_and_sync", ratio(figures["directory_durable_s"], figures["directory_cp_s"]), "<=", 1)
    bench.claim("directory_stall_vs_one_read", ratio(figures["directory_stall_s"], figures["directory_read_s"]), "<=", 1.5)


def ray(bench):
    if not has("ray.train"):
        print(f"skipped: {PYTHON} has no ray; set TRAINRT_PYTHON to a Python with ray (make test-frameworks installs one)", flush=True)
        return
    figures = bench.note(dict(zip(RAY_FIGURES, map(list, zip(*(compared_with_ray(bench) for _ in range(3)))))))
    for what, target in (("epoch", 0.8), ("first_step", 0.3)):
        bench.claim(f"fit_{what}_vs_ray_train", ratio(figures[f"trainrt_{what}_s"], figures[f"ray_{what}_s"]), "<=", target)


RAY_FIGURES = [f"{package}_{what}_s" for package in ("trainrt", "ray") for what in ("first_step", "epoch")]


def compared_with_ray(bench):
    """Runs both packages once; returns the seconds of RAY_FIGURES."""
    seconds = []
    for package in ("trainrt", "ray"):
        command = [PYTHON, FOLDER / "api_fashion.py", package, 3, bench.fresh(f"fashion_{package}"), time.time()]
        printed = bench.run(f"fashion_{package}", command, **ONE_THREAD, PYTHONPATH=str(BUILD / "python"))[1]
        first_step, epochs = (list(map(float, re.findall(rf"{what}_s=([0-9.]+)", printed))) for what in ("first_step", "epoch"))
        seconds += [first_step[0], median(epochs[1:])]
    return seconds


def main():
    parts = {"ddp": ddp, "group": group, "state": state, "report": report, "directory": directory, "ray": ray}
    arguments = argparse.ArgumentParser(prog="bench_api.py BUILD")
    arguments.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    options = arguments.parse_args([word for word in sys.argv[1:] if Path(word).resolve() != BUILD])
    if unknown := set(options.parts) - set(parts):
        arguments.error(f"unknown part {', '.join(sorted(unknown))}; valid parts: {', '.join(parts)}")
    need(TRAINRT, "trainrt")
    bench = Bench("api", __doc__.strip())
    for name, measure in parts.items():
        if name in options.parts or not options.parts:
            measure(bench)
    bench.finish()


main()
