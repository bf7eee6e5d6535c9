"""The library, or an error that says what is missing."""

try:
    import transformers
    from transformers.trainer_utils import get_last_checkpoint
except ImportError as error:
    raise ImportError(f"trainrt.train.huggingface.transformers needs Transformers and Accelerate (pip install transformers accelerate): "
                      f"{error}") from None

__all__ = ["get_last_checkpoint", "transformers"]
