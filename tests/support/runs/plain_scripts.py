"""Scripts that do not use trainrt, run as train.program, and checks that their ranks trained together."""
import json
import shutil
import subprocess

from harness import *  # noqa: F403

PYTHON = "/usr/bin/python3"
DDP = SOURCE / "tests/support/programs/plain_ddp.py"
XGBOOST = SOURCE / "tests/support/programs/plain_xgboost.py"


def require_torch():
    if subprocess.run([PYTHON, "-c", "import torch.distributed"], capture_output=True).returncode != 0:
        skip("torch not found (package python3-torch)")


def build_plain_mpi():
    """Builds plain_mpi.c and returns the program."""
    compiler = shutil.which("mpicc.mpich") or shutil.which("mpicc")
    if compiler is None:
        skip("mpicc.mpich not found (package libmpich-dev)")
    program = scratch("mpi") / "plain_mpi"
    done = subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", str(SOURCE / "tests/support/programs/plain_mpi.c"), "-o", str(program)], capture_output=True, text=True)
    check(done.returncode == 0, done.stderr)
    return program


def check_one_world(out, ranks, node_sizes, job):
    """Checks the results of plain_mpi.c on each rank. `node_sizes`: number of ranks on the node of each rank."""
    for rank, each in enumerate(found_by(out, ranks, job)):
        equal(each, {"size": ranks, "sum": ranks * (ranks + 1) // 2, "ring": (rank - 1) % ranks, "node_size": node_sizes[rank]}, f"MPI results of rank {rank}", job)


def xgboost_config():
    if subprocess.run([PYTHON, "-c", "import xgboost"], capture_output=True).returncode != 0:
        skip("XGBoost not found (package python3-xgboost)")
    return plain_config(f"{PYTHON} {XGBOOST} {{out}}")


def check_same_trees(out, ranks, job):
    """Checks that all ranks, each with a part of the data, have the same model, and that their output came through the tracker."""
    found = found_by(out, ranks, job)
    for rank, each in enumerate(found):
        equal((each["rank"], each["size"], each["rows"]), (rank, ranks, len(range(rank, 600, ranks))), "XGBoost's ranks", job)
        equal(each["models"], found[0]["models"], "models", job)
        check(each["error"] < 0.4, f"the model of rank {rank} does not fit: {each['error']} of the variance is left", job)
        equal(job.out.count(f"rank {rank} has trained\n"), 2, "lines printed by the tracker", job)


def plain_config(command, name="run", folder=None, **sections):
    """Returns a config for the command and its output folder, which replaces {out} in the command."""
    folder = folder or scratch()
    out = folder / "out"
    out.mkdir()
    config = write_config(folder / f"{name}.ini", {"run": {"name": name, "storage_path": folder / "runs"},
                                                   "train": {"program": command.format(out=out)}, **sections})
    return config, out


def ddp_config(**sections):
    return plain_config(f"{PYTHON} {DDP} {{out}}", **sections)


def found_by(out, ranks, job):
    """Returns the results of each rank."""
    equal(sorted(path.name for path in out.iterdir()), sorted(f"{rank}.json" for rank in range(ranks)), "files of the ranks", job)
    return [json.loads((out / f"{rank}.json").read_text()) for rank in range(ranks)]


def check_trained_together(out, ranks, job):
    """Checks that all ranks have the same weights although their data differs."""
    found = found_by(out, ranks, job)
    for each in found:
        equal(each["size"], ranks, "number of ranks in torch", job)
        equal(each["weights"], found[0]["weights"], "weights", job)
    equal(len({each["seen"] for each in found}), ranks, "ranks with different data", job)
    return found
