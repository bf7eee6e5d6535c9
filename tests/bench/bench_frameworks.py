#!/usr/bin/python3
"""Other frameworks' own loops under trainrt, beside their own launchers; 2 ranks, one thread each, ratios within each repetition.

    make bench-frameworks ONLY='jax group'     without ONLY all parts

lightning, accelerate, transformers, deepspeed
             an epoch of each as a script that knows no trainrt, beside torchrun; over gloo both
horovod      an epoch of Horovod, beside horovodrun
jax          an epoch of JAX, beside two processes with a coordinator's address by hand
tensorflow   an epoch of Keras' fit() under MultiWorkerMirroredStrategy (Ray Train's TensorFlow benchmark), beside two processes with a TF_CONFIG by hand
group        an epoch of Lightning and Accelerate over trainrt's process group, beside gloo
callbacks    microseconds of a call of a report callback without a checkpoint, of Keras and of XGBoost

The environments are those of `make test-frameworks` ($TRAINRT_FRAMEWORKS, else trainrt-frameworks of the user's cache folder): run that first.
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
        skip(f"there is no environment {environment} in {ROOT}: make test-frameworks makes it")
    return python


def epoch_s(printed):
    """The median of the epochs but the first."""
    return median([float(text) for text in re.findall(r"epoch_s=([0-9.]+)", printed)][1:])


def under_trainrt(bench, environment, *words):
    python = python_of(environment)
    command = [TRAINRT, "-n", 2, f"--run.storage_path={bench.fresh('_'.join(words))}", "--", python, SCRIPT, *words]
    return epoch_s(bench.run("_".join(words), command, **ONE_THREAD)[1])


def under_torchrun(bench, *words):
    command = [python_of("torch"), "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", SCRIPT, *words]
    return epoch_s(bench.run("torchrun_" + "_".join(words), command, **ONE_THREAD)[1])


def free_places(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    places = [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]
    for each in sockets:
        each.close()
    return places


def by_hand(environment, name, variables):
    """Two processes, each with variables(its number)."""
    processes = [subprocess.Popen([python_of(environment), SCRIPT, name], env={**os.environ, **ONE_THREAD, **variables(number)}, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for number in range(2)]
    return epoch_s([process.communicate(timeout=600)[0] for process in processes][0])


def under_tf_config():
    """TensorFlow has no launcher: the variable by hand, as its guide says."""
    cluster = {"worker": free_places(2)}
    return by_hand("tensorflow", "tensorflow", lambda number: {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": "worker", "index": number}})})


def under_coordinator():
    [place] = free_places(1)
    return by_hand("torch", "jax", lambda number: {"COORDINATOR": place, "RANK": str(number), "WORLD_SIZE": "2"})


def under_horovodrun(bench):
    python = python_of("horovod")
    return epoch_s(bench.run("horovodrun", [python, "-m", "horovod.runner.launch", "-np", 2, "--gloo", python, SCRIPT, "horovod"], **ONE_THREAD)[1])


# ---- the parts ---------------------------------------------------------------------------------------------------------------------


def beside_torchrun(bench, name):
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
    parts = {**{name: partial(beside_torchrun, name=name) for name in ("lightning", "accelerate", "transformers", "deepspeed")},
             "horovod": horovod, "jax": jax, "tensorflow": tensorflow, "group": group, "callbacks": callbacks}
    arguments = argparse.ArgumentParser(prog="bench_frameworks.py BUILD")
    arguments.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    options = arguments.parse_args([word for word in sys.argv[1:] if Path(word).resolve() != BUILD])
    if unknown := set(options.parts) - set(parts):
        arguments.error(f"there is no part {', '.join(sorted(unknown))}; there are: {', '.join(parts)}")
    need(TRAINRT, "trainrt")
    bench = Bench("frameworks", __doc__.strip())
    for name, measure in parts.items():
        if name in options.parts or not options.parts:
            measure(bench)
    bench.finish()


main()
