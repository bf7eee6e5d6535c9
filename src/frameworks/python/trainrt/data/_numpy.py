"""NumPy, which this package alone needs."""

try:
    import numpy
except ImportError as error:
    raise ImportError("trainrt.data gives batches as NumPy arrays, and NumPy is not installed here: pip install numpy") from error

__all__ = ["numpy"]
