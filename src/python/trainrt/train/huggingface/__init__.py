"""Ray Train's names for Hugging Face's libraries. Accelerate needs no such name: call Accelerator() in the train function of a TorchTrainer."""

import importlib


def __getattr__(name):
    if name == "transformers":
        return importlib.import_module(f"{__name__}.transformers")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
