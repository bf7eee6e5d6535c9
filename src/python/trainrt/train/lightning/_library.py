"""Imports Lightning under the name that the script uses, or raises ImportError with the command that installs it."""

import importlib
import sys

_NAMES = ("lightning.pytorch", "pytorch_lightning")


def _imported():
    for name in sorted(_NAMES, key=lambda name: name not in sys.modules):
        try:
            return importlib.import_module(name)
        except ImportError as error:
            reason = error
    raise ImportError(f"trainrt.train.lightning needs Lightning (pip install lightning): {reason}")


pl = _imported()
