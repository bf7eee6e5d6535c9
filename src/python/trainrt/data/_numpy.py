"""Imports NumPy, which only this part of the package needs."""

try:
    import numpy
except ImportError as error:
    raise ImportError("trainrt.data needs NumPy: pip install numpy") from error

__all__ = ["numpy"]
