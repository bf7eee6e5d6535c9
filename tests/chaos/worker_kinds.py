"""The kinds of training that `make same-bits` runs on different numbers of CPUs and nodes, and the digests of their states."""
import hashlib
import json
import subprocess
from pathlib import Path

from harness import Skipped, checkpoints, read_checkpoint, report_count, reported_metrics, run_dir_of, skip
from runs.fashion import fashion_config, require_fashion
from runs.plain_scripts import plain_config, require_torch
from runs.program_runs import BY_EPOCHS, LINEAR, PYTHON, SOURCE, linear_config, program_config
from runs.xgboost_runs import XgboostRuns

SECTIONS = {"scaling": {"on_resize": "same_bits"}, "failure": {"max_failures": 20, "max_no_progress": 20}}
KEEP_ALL = {"every": "1 reports", "num_to_keep": 0}


def sha256(data):
    return hashlib.sha256(data).hexdigest()[:16]


def digest_of(checkpoint):
    """Returns the digest of all tensors, values and files of a checkpoint."""
    files = sorted(path for path in checkpoint.glob("files/**/*") if path.is_file())
    return sha256(repr([sorted(read_checkpoint(checkpoint).items()), [(str(path.relative_to(checkpoint)), path.read_bytes()) for path in files]]).encode())


class Kind:
    """A training that makes reports. `config(folder, name, epochs, pause)` writes its config. With the values `epochs` and `pause` (in
    seconds per step) of this object, a run takes some seconds."""

    def __init__(self, config, epochs, pause):
        self._config, self.epochs, self.pause = config, epochs, pause

    def config(self, folder, name, epochs=None):
        return self._config(folder, name, epochs or self.epochs, self.pause)

    def epochs_done(self, config):
        return report_count(run_dir_of(config))

    def digests(self, config):
        """Returns the digests of the checkpoints, by the numbers of reports and steps before them."""
        found = {}
        for directory in checkpoints(run_dir_of(config)):
            manifest = json.loads((directory / "manifest.json").read_text())
            found.setdefault((manifest["iteration"], manifest["step"]), set()).add(digest_of(directory))
        return found

    def results(self, config):
        return reported_metrics(run_dir_of(config))


class ScriptKind(Kind):
    """An unchanged script, which saves its own checkpoints and writes the digest of each epoch into out/epochs.jsonl."""

    def _rows(self, config):
        path = Path(config).parent / "out/epochs.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines(True) if line.endswith("\n")] if path.exists() else []

    def epochs_done(self, config):
        return len({row["epoch"] for row in self._rows(config)})

    def digests(self, config):
        found = {}
        for row in self._rows(config):
            found.setdefault(row["epoch"] + 1, set()).add(row["digest"][:16])
        return found

    def results(self, config):
        return sorted({(row["epoch"], row["loss"]) for row in self._rows(config)})


def _fashion(folder, name, epochs, _):
    return fashion_config(folder, name, {"epochs": epochs, "batch_size": 32, "share_weights": True}, images=4096, checkpoint=KEEP_ALL, data_folder=folder.parent, **SECTIONS)


def _numpy(folder, name, epochs, pause):
    return program_config(f"{PYTHON} {LINEAR}", name, {**BY_EPOCHS, "epochs": epochs, "step_pause": pause}, KEEP_ALL, folder=folder, **SECTIONS)


def _linear(folder, name, epochs, pause):
    loop = {"epochs": epochs, "dropout": 0.1, "optimizer": "adamw", "lr": 0.005, "step_pause": pause}
    return linear_config(folder, name, loop, {"samples": 512, "features": 200}, KEEP_ALL, **SECTIONS)


def _gpt(folder, name, epochs, pause):
    require_torch()
    return program_config(f"{PYTHON} {SOURCE / 'tests/support/programs/tiny_gpt.py'}", name, {"epochs": epochs, "step_pause": pause}, KEEP_ALL, folder=folder, **SECTIONS)


def _ddp(group):
    def config(folder, name, epochs, pause):
        require_torch()
        command = f"{PYTHON} {SOURCE / 'tests/support/programs/ddp_epochs.py'} {{out}} --group {group} --epochs {epochs} --pause {pause}"
        return plain_config(command, name, folder=folder, **SECTIONS)[0]
    return config


_xgboost_runs = []


def _xgboost(folder, name, epochs, _):
    if subprocess.run([PYTHON, "-c", "import xgboost"], capture_output=True).returncode != 0:
        skip("XGBoost not found (package python3-xgboost)")
    if not _xgboost_runs:
        _xgboost_runs.append(XgboostRuns())
    return _xgboost_runs[0].config(name, rounds=epochs, folder=folder, subsample=0.6, sections={"checkpoint": KEEP_ALL, **SECTIONS})


KINDS = {"fashion_mnist": Kind(_fashion, 8, 0), "numpy": Kind(_numpy, 10, 0.03), "ddp_gloo": ScriptKind(_ddp("gloo"), 8, 0.02),
         "ddp_trainrt": ScriptKind(_ddp("trainrt"), 8, 0.02), "linear": Kind(_linear, 12, 0.03), "gpt": Kind(_gpt, 6, 0.01),
         "xgboost": Kind(_xgboost, 20, 0)}


def can_run(kind, folder):
    """Returns "" or the reason why a kind cannot run on this machine."""
    try:
        require_fashion() if kind == "fashion_mnist" else KINDS[kind].config(folder, "probe")
    except Skipped as reason:
        return str(reason)
    return ""
