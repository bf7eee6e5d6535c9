"""Readers of examples in guides: keys that a config lacks, names that a program does not define, and the commands of a block."""
import ast
import builtins
import re
import subprocess

from harness import check

LIBRARIES = ("torch", "xgboost", "lightgbm", "jax", "tensorflow", "safetensors")  # which trainrt.train.NAME imports, too
NAMES = {  # code for names that Python blocks of the guides use but do not define
    "os": "import os",
    "jax": "import jax",
    "xgb": "import xgboost as xgb",
    "torch": "import torch",
    "Net": "import torch\nclass Net(torch.nn.Sequential):\n    def __init__(self):\n        super().__init__(torch.nn.Linear(8, 1))",
    "data": "import torch, torch.utils.data\ndata = torch.utils.data.TensorDataset(torch.ones(64, 8), torch.ones(64, 1))",
    "DataLoader": "from torch.utils.data import DataLoader",
    "loss": "import torch\nloss = torch.ones(())",
    "model": "import torch\nmodel = torch.nn.LazyLinear(1)\nmodel(torch.ones(1, 13))",
    "module": "import torch\nmodule = torch.nn.Module()\nmodule.load_state_dict = lambda state: None",
    "state_dict": "import torch\nif not torch.distributed.is_initialized():\n    torch.distributed.init_process_group('gloo')\nstate_dict = {'x': torch.ones(4)}",
    "params": "params = {'w': __import__('numpy').zeros(3)}",
    "trained": "def trained(params, epoch):\n    return params, 0.5",
    "trainrt": "import trainrt, trainrt.data",
    "h5py": "import h5py",
    "images": "import numpy\nimages = numpy.ones((4, 8))",
    "labels": "labels = numpy.ones(4)",
    "tune": "from trainrt import tune",
    "ScalingConfig": "from trainrt.train import ScalingConfig",
    "XGBoostTrainer": "from trainrt.train.xgboost import XGBoostTrainer",
    "small": "import trainrt.data\nsmall = trainrt.data.from_items([{'x': 1.0, 'target': 0}])",
    "large": "large = trainrt.data.from_items([{'x': 1.0, 'target': 0}, {'x': 2.0, 'target': 1}])"}

# values for the placeholders in examples
PLACEHOLDERS = {"RUN_DIR": "runs/first", "STORAGE_PATH": "runs", "CHECKPOINT": "runs/first", "PATH": "runs/first", "SOURCE": "train.npz", "FOLDER": "runs",
                "DIR": "runs/SWEEP", "N": "2", "FIELD": "labels", "NAME": "train", "FILE": "out", "COMMAND": "check"}


def missing_keys(text):
    """Returns the keys that a config needs to be complete, as words of a command."""
    def lacks(section, key):
        part = re.search(rf"^\[{re.escape(section)}\]\n((?:[^\[].*\n|\n)*)", text, re.M)
        return not part or not re.search(rf"^{key} *= *[^\s#]", part[1], re.M)

    words = [f"--{section}.{key}={value}" for section, key, value in (("run", "name", "guide"), ("run", "storage_path", "runs")) if lacks(section, key)]
    is_part_of_sweep = re.search(r"^\[tune\]", text, re.M) and "[tune.space]" not in text
    if is_part_of_sweep:
        words.append("--tune.space.lr=loguniform(1e-4, 1e-1)")
    if is_part_of_sweep or re.search(r"^\[tune\.space\].*\n\w", text, re.M):
        words += [f"--tune.{key}={value}" for key, value in (("metric", "loss"), ("mode", "min"), ("num_samples", "4")) if lacks("tune", key)]
    has_data = re.search(r"^\[data\.[^]]+\].*\n(?:[^[\n].*\n|\n)*?(?:source|format) *=", text, re.M)
    if all(lacks("train", key) for key in ("function", "library", "program")):
        words += ["--train.program=true"] if has_data and "synthetic" not in text else ["--train.function=linear"]
    if not has_data and re.search(r"^function *= *fashion_mnist", text, re.M):
        words += [f"--data.{part}.{key}" for part in ("train", "test") for key in ("source=images.npz", "fields=images, labels")]
    elif not has_data:
        words += ["--data.train.format=synthetic"]
    return words


def undefined_names(text):
    """Returns the names that a program uses and neither defines nor imports. A name that is not in NAMES is a failure."""
    tree = ast.parse(text)
    defined = set(dir(builtins)) | {"__name__"}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, ast.alias):
            defined.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)} - defined
    check(used <= NAMES.keys(), f"the block uses {sorted(used - NAMES.keys())}, which it does not define: add it to NAMES")
    return used


def modules_of(text):
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.split(".")[0])
            found |= {word for word in node.module.split(".") if word in LIBRARIES}
    return sorted(found)


def shortened(text):
    """Returns a program with fewer rounds, trials and workers."""
    for name, maximum in (("num_boost_round", 20), ("num_samples", 4), ("num_workers", 2)):
        text = re.sub(rf"\b{name}=(\d+)", lambda match: f"{match[0].split('=')[0]}={min(int(match[1]), maximum)}", text)
    return text


def commands_of(text):
    """Returns the commands of a block of a shell: lines, or several lines of one construct."""
    found, lines = [], []
    for line in text.splitlines():
        if not lines and (not line.strip() or line.lstrip().startswith("#")):
            continue
        lines.append(line)
        if subprocess.run(["bash", "-n"], input="\n".join(lines), capture_output=True, text=True).returncode == 0 and not line.endswith("\\"):
            found.append("\n".join(lines))
            lines = []
    return found + (["\n".join(lines)] if lines else [])


def concrete_command(line):
    """Returns a command with values for placeholders, the first of alternatives (A|B), and without optional parts ([--json])."""
    text = re.sub(r"(?m)(?:^|\s+)#.*$", "", line)
    if not re.search(r"^for |\$\(", text):
        text = re.sub(r"\s\[[^\]]*\]", "", re.sub(r"^\[[^\]]*\] ", "", text))
        text = re.sub(r"(?<=\w)\|[\w.|]+", "", re.sub(r" \| --.*", "", text))
        text = re.sub(r"(?<=\w)\.\.\.(?=\s|$)", "", re.sub(r"\s\.\.\.(?=\s|$)", " --config train.ini", text))
        text = re.sub(r"\b[A-Z][A-Z_]*\b(?!=)", lambda match: PLACEHOLDERS.get(match[0], match[0]), text)
    text = re.sub(r"\btrainrt supervise\b", "trainrt check", text)  # it needs a Slurm job; tests/slurm/test_supervise.py
    text = re.sub(r"(trainrt tune --config \S+)", r"\1 --tune.num_samples=2", text)  # a sample of long sweeps
    text = re.sub(r"(trainrt data bench \S+)", r"\1 --seconds 0.2", re.sub(r" --seconds \d+", "", text))
    return text.strip()
