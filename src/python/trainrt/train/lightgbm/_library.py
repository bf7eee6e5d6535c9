"""The library, or an error that says what is missing."""

try:
    import lightgbm
except ImportError as error:
    raise ImportError(f"trainrt.train.lightgbm needs LightGBM (pip install lightgbm): {error}") from None

__all__ = ["lightgbm"]
