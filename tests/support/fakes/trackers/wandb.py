"""Fake of wandb: its runs record the calls of a script."""
import os
from types import SimpleNamespace

from calls import add

errors = SimpleNamespace(UsageError=type("UsageError", (Exception,), {}))


class Artifact:
    def __init__(self, name, type, metadata=None):
        self.name, self.metadata = name, metadata

    def add_dir(self, folder):
        add("wandb", "artifact", self.name, sorted(os.listdir(folder)), self.metadata)


class Run:
    step, resumed = 0, False

    def __init__(self, is_silent):
        self.call = (lambda *given, **options: None) if is_silent else add
        self.config = SimpleNamespace(update=lambda values, allow_val_change: self.call("wandb", "config", values))

    def log(self, metrics, step=None):
        self.call("wandb", "log", metrics, step)

    def log_artifact(self, artifact):
        pass

    def finish(self, exit_code=0):
        self.call("wandb", "finish", exit_code)


def init(**options):
    options["key"] = os.environ.get("WANDB_API_KEY")
    add("wandb", "init", **options)
    return Run(options.get("mode") == "disabled")
