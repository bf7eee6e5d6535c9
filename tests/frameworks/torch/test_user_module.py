#!/usr/bin/python3
"""A user's own module with a libtorch model (tests/support/programs/user_model.cpp), built against an installed trainrt: it trains on 2 ranks,
as a C++ module and as TorchScript, and the bits do not depend on bucket sizes."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.training import *  # noqa: E402,F403

MODULE = None


def must(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **options)
    check(done.returncode == 0, f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def setup():
    global MODULE
    if not (BUILD / "modules/torch.so").exists():
        skip("the torch module is not built (package libtorch-dev)")
    if shutil.which("pkg-config") is None:
        skip("pkg-config is not installed")
    prefix = scratch("prefix")
    for component in ("library", "torch"):
        must(["cmake", "--install", BUILD, "--prefix", prefix, "--component", component])
    flags = must(["pkg-config", "--cflags", "--libs", "trainrt-torch"], env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")})
    MODULE = prefix / "libmine.so"
    must(["g++", "-shared", "-fPIC", "-Wall", "-Werror", SOURCE / "tests/support/programs/user_model.cpp", *flags.split(), "-o", MODULE])


def config_of(name, script, bucket_size):
    folder = scratch()
    return write_config(folder / f"{name}.ini", {
        "run": {"name": name, "storage_path": folder / "runs", "seed": 7}, "train": {"library": MODULE}, "loop": {"epochs": 4, "script": script},
        "data.train": {"format": "synthetic", "samples": 640}, "scaling": {"bucket_size": bucket_size}})


def trains(script):
    one, many = (config_of(name, script, size) for name, size in (("one", "4 MiB"), ("many", "16")))
    for config in (one, many):
        finish(2, config)
    rows = [reports(run_dir_of(config)) for config in (one, many)]
    check(rows[0][-1]["loss"] < 0.5 * rows[0][0]["loss"], f"the loss stays high: {rows[0]}")
    equal([row[-1]["buckets"] for row in rows], [1, 2 if script else 6], "buckets")
    check(all(row["least_weights"] == row["most_weights"] for row in rows[0]), f"the weights of the ranks differ: {rows[0]}")
    states = [state_of(run_dir_of(config)) for config in (one, many)]
    check(any(name.startswith("model/") for name in states[0]), f"no model in {sorted(states[0])}")
    different = [name for name in states[0] if states[0][name] != states[1][name]]
    check(not different, f"different bits with another bucket size: {different}")


add_test("a_module_in_cpp_trains_on_2_ranks_with_the_same_bits_in_buckets_of_any_size", trains, False)
add_test("torchscript_trains_on_2_ranks_with_the_same_bits_in_buckets_of_any_size", trains, True)

main(setup)
