#!/usr/bin/python3
"""From the start of the process to the first line of the train function, 2 local ranks: without and with the torch module.

The program says it itself with TRAINRT_TIMING=1 (`timing: train_function_started_s=0.123`, measured from process start).
"""
import re
import sys

from bench import BUILD, MPIEXEC, TRAINRT, Bench, median, need, with_file
from fashion_data import data_sections, first_samples, need_fashion_mnist


def start_seconds(bench, name, config):
    path = with_file(bench.work / f"{name}.ini", config + f"[run]\nname = {name}\nstorage_path = {bench.fresh('runs')}\n"
                     "[checkpoint]\nevery = off\n")
    _, output = bench.run(name, [MPIEXEC, "-n", 2, TRAINRT, "--config", path], OMP_NUM_THREADS="1", TRAINRT_TIMING="1")
    found = re.search(r"timing: train_function_started_s=([0-9.e+-]+)", output)
    if not found:
        sys.exit(f"start: no timing line in the output of {name}:\n{output[-2000:]}")
    return float(found.group(1))


def main():
    need(TRAINRT, "trainrt")
    need(MPIEXEC, "mpiexec")
    bench = Bench("start", __doc__.strip())
    linear = "[train]\nfunction = linear\n[loop]\nepochs = 1\n[data.train]\nformat = synthetic\nsamples = 64\n"
    work = {"start_linear_s": lambda: start_seconds(bench, "linear", linear)}
    with_torch = (BUILD / "modules/torch.so").exists()
    if with_torch:
        need_fashion_mnist()
        data = bench.fresh("data")
        first_samples(data, {"train": 64, "test": 64})
        torch = f"[train]\nfunction = fashion_mnist\n[loop]\nepochs = 1\nhidden = 8\n{data_sections(data)}"
        work["start_torch_s"] = lambda: start_seconds(bench, "torch", torch)
    figures = bench.interleaved(7, work)
    bench.claim("start_without_module_s", median(figures["start_linear_s"]), "<=", 0.3)
    if with_torch:
        bench.claim("start_with_torch_s", median(figures["start_torch_s"]), "<=", 0.8)
    else:
        print("skipped: start_with_torch_s: the torch module is not built", flush=True)
    bench.finish()


main()
