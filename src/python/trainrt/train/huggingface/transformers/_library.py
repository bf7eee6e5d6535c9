"""Imports Transformers, or raises ImportError with the command that installs it."""

try:
    import transformers
    from transformers.trainer_utils import get_last_checkpoint
except ImportError as error:
    raise ImportError(f"trainrt.train.huggingface.transformers needs Transformers and Accelerate (pip install transformers accelerate): "
                      f"{error}") from None

__all__ = ["get_last_checkpoint", "transformers"]
