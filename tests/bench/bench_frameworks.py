#!/usr/bin/python3
"""Compares other frameworks under trainrt with the same scripts under their own launchers: 2 ranks, one thread each. A ratio is taken
within each repetition.

    make bench-frameworks ONLY='jax group'     default: all parts

lightning, accelerate, transformers, deepspeed
             an epoch of an unchanged script of each framework over gloo; peer: torchrun
horovod      an epoch of Horovod; peer: horovodrun
jax          an epoch of JAX; peer: two processes that get the address of a coordinator
tensorflow   an epoch of Keras' fit() with MultiWorkerMirroredStrategy (Ray Train's TensorFlow benchmark); peer: two processes that get a TF_CONFIG
group        an epoch of Lightning and Accelerate with trainrt's process group; peer: gloo
callbacks    microseconds per call of a report callback without a checkpoint, for Keras and XGBoost

Run `make test-frameworks` first, which creates the Python environments (in $TRAINRT_FRAMEWORKS, else in ~/.cache/trainrt-frameworks).
"""
import argparse
import json
import os
import re
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

from bench import BUILD, TRAINRT, Bench, median, need, ratio, skip

FOLDER = Path(__file__).resolve().parent
ROOT = Path(os.environ.get("TRAINRT_FRAMEWORKS") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trainrt-frameworks")
SCRIPT = FOLDER / "programs/frameworks_epochs.py"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(BUILD / "python"), "HF_HUB_OFFLINE": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
REPETITIONS = 5


def python_of(environment):
    python = ROOT / environment / "bin/python3"
    if not python.exists():
        skip(f"{ROOT} has no environment {environment}; make test-frameworks creates it")
    return python


def epoch_s(printed):
    """Returns the median seconds of all epochs except the first."""
    return median([float(text) for text in re.findall(r"epoch_s=([0-9.]+)", printed)][1:])


def under_trainrt(bench, environment, *words):
    python = python_of(environment)
    command = [TRAINRT, "-n", 2, f"--run.storage_path={bench.fresh('_'.join(words))}", "--", python, SCRIPT, *words]
    return epoch_s(bench.run("_".join(words), command, **ONE_THREAD)[1])


def under_torchrun(bench, *words):
    command = [python_of("torch"), "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", SCRIPT, *words]
    return epoch_s(bench.run("torchrun_" + "_".join(words), command, **ONE_THREAD)[1])


def free_addresses(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    addresses = [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]
    for each in sockets:
        each.close()
    return addresses


def by_hand(environment, name, variables):
    """Starts two processes with the environment variables(number) each; returns the seconds of an epoch of the first."""
    processes = [subprocess.Popen([python_of(environment), SCRIPT, name], env={**os.environ, **ONE_THREAD, **variables(number)}, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for number in range(2)]
    return epoch_s([process.communicate(timeout=600)[0] for process in processes][0])


def under_tf_config():
    """Runs TensorFlow with TF_CONFIG set as in its guide, because it has no launcher."""
    cluster = {"worker": free_addresses(2)}
    return by_hand("tensorflow", "tensorflow", lambda number: {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": "worker", "index": number}})})


def under_coordinator():
    [address] = free_addresses(1)
    return by_hand("torch", "jax", lambda number: {"COORDINATOR": address, "RANK": str(number), "WORLD_SIZE": "2"})


def under_horovodrun(bench):
    python = python_of("horovod")
    return epoch_s(bench.run("horovodrun", [python, "-m", "horovod.runner.launch", "-np", 2, "--gloo", python, SCRIPT, "horovod"], **ONE_THREAD)[1])


# ---- the parts ---------------------------------------------------------------------------------------------------------------------


def compared_with_torchrun(bench, name):
    figures = bench.interleaved(REPETITIONS, {f"{name}_trainrt_epoch_s": lambda: under_trainrt(bench, "torch", name),
                                              f"{name}_torchrun_epoch_s": lambda: under_torchrun(bench, name)})
    bench.claim(f"{name}_epoch_vs_torchrun", ratio(*figures.values()), "<=", 1.02)


def tensorflow(bench):
    figures = bench.interleaved(REPETITIONS, {"tensorflow_trainrt_epoch_s": lambda: under_trainrt(bench, "tensorflow", "tensorflow"),
                                              "tensorflow_alone_epoch_s": under_tf_config})
    bench.claim("tensorflow_epoch_vs_tf_config_by_hand", ratio(*figures.values()), "<=", 1.01)


def jax(bench):
    figures = bench.interleaved(REPETITIONS, {"jax_trainrt_epoch_s": lambda: under_trainrt(bench, "torch", "jax"), "jax_alone_epoch_s": under_coordinator})
    bench.claim("jax_epoch_vs_coordinator_by_hand", ratio(*figures.values()), "<=", 1.02)


def horovod(bench):
    figures = bench.interleaved(REPETITIONS, {"horovod_trainrt_epoch_s": lambda: under_trainrt(bench, "horovod", "horovod"),
                                              "horovod_horovodrun_epoch_s": lambda: under_horovodrun(bench)})
    bench.claim("horovod_epoch_vs_horovodrun", ratio(*figures.values()), "<=", 1.02)


def group(bench):
    for name in ("lightning", "accelerate"):
        figures = bench.interleaved(REPETITIONS, {f"{name}_over_{backend}_epoch_s": lambda backend=backend: under_trainrt(bench, "torch", name, backend)
                                                  for backend in ("trainrt", "gloo")})
        bench.claim(f"{name}_epoch_over_our_group_vs_gloo", ratio(*figures.values()), "<=", 0.9)


def callbacks(bench):
    def printed_by_a_run():
        command = [TRAINRT, "-n", 2, f"--run.storage_path={bench.fresh('callbacks')}", "--", python_of("torch"), SCRIPT, "callbacks"]
        return bench.run("callbacks", command, **ONE_THREAD, KERAS_BACKEND="torch")[1]

    printed = [printed_by_a_run() for _ in range(3)]
    for name in ("keras", "xgboost"):
        figures = bench.note({f"{name}_callback_us": [float(re.search(rf"{name}_us=([0-9.]+)", text)[1]) for text in printed]})
        bench.claim(f"{name}_report_callback_median_us", median(*figures.values()), "<=", 1000)


def main():
    parts = {**{name: partial(compared_with_torchrun, name=name) for name in ("lightning", "accelerate", "transformers", "deepspeed")},
             "horovod": horovod, "jax": jax, "tensorflow": tensorflow, "group": group, "callbacks": callbacks}
    arguments = argparse.ArgumentParser(prog="bench_frameworks.py BUILD")
    arguments.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    options = arguments.parse_args([word for word in sys.argv[1:] if Path(word).resolve() != BUILD])
    if unknown := set(options.parts) - set(parts):
        arguments.error(f"unknown part {', '.join(sorted(unknown))}; valid parts: {', '.join(parts)}")
    need(TRAINRT, "trainrt")
    bench = Bench("frameworks", __doc__.strip())
    for name, measure in parts.items():
        if name in options.parts or not options.parts:
            measure(bench)
    bench.finish()


main()
