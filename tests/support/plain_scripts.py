"""Scripts that know no trainrt, as train.program, and the proof that their ranks trained together."""
import json
import subprocess

from harness import *  # noqa: F403

PYTHON = "/usr/bin/python3"
DDP = SOURCE / "tests/support/plain_ddp.py"


def require_torch():
    if subprocess.run([PYTHON, "-c", "import torch.distributed"], capture_output=True).returncode != 0:
        skip("torch is not there (package python3-torch)")


def plain_config(command, name="run", **sections):
    """A config for it, and a folder for what it leaves, whose name stands in the command as {out}."""
    folder = scratch()
    out = folder / "out"
    out.mkdir()
    config = write_config(folder / f"{name}.ini", {"run": {"name": name, "storage_path": folder / "runs"},
                                                   "train": {"program": command.format(out=out)}, **sections})
    return config, out


def ddp_config(**sections):
    return plain_config(f"{PYTHON} {DDP} {{out}}", **sections)


def found_by(out, ranks, job):
    """What each rank has left."""
    equal(sorted(path.name for path in out.iterdir()), sorted(f"{rank}.json" for rank in range(ranks)), "files of the ranks", job)
    return [json.loads((out / f"{rank}.json").read_text()) for rank in range(ranks)]


def check_trained_together(out, ranks, job):
    """The same weights on all ranks, whose data was not the same."""
    found = found_by(out, ranks, job)
    for each in found:
        equal(each["size"], ranks, "ranks that torch sees", job)
        equal(each["weights"], found[0]["weights"], "weights", job)
    equal(len({each["seen"] for each in found}), ranks, "ranks with data of their own", job)
    return found
