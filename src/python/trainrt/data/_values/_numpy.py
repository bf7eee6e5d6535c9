"""Imports NumPy. Raises an ImportError with an instruction if NumPy is not installed."""

try:
    import numpy
except ImportError as error:
    raise ImportError("trainrt.data needs NumPy: pip install numpy") from error

__all__ = ["numpy"]
