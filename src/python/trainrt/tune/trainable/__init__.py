"""Trainable classes, and functions with parameters and resources."""

from ..._ray_names import names_of
from .._class_trainable import Trainable
from .._trainable import with_parameters, with_resources
from ._function import FunctionTrainable, wrap_function

__getattr__ = names_of(__name__)
__all__ = ["FunctionTrainable", "Trainable", "with_parameters", "with_resources", "wrap_function"]
