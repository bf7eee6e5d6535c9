"""Imports LightGBM, or raises ImportError with the command that installs it."""

try:
    import lightgbm
except ImportError as error:
    raise ImportError(f"trainrt.train.lightgbm needs LightGBM (pip install lightgbm): {error}") from None

__all__ = ["lightgbm"]
