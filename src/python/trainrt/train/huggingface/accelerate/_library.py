"""Imports Accelerate, or raises ImportError with the command that installs it."""

try:
    import accelerate
except ImportError as error:
    raise ImportError(f"trainrt.train.huggingface.AccelerateTrainer needs Accelerate (pip install accelerate): {error}") from None

__all__ = ["accelerate"]
