"""Domains of values, and the samplers that draw from them, by the names of ray.tune.search.sample."""

from ._base import Domain, plain_number
from ._numbers import Float, Integer
from ._samplers import BaseSampler, Grid, LogUniform, Normal, Quantized, Sampler, Uniform
from ._values import Categorical, Function

__all__ = ["BaseSampler", "Categorical", "Domain", "Float", "Function", "Grid", "Integer", "LogUniform", "Normal", "Quantized", "Sampler", "Uniform",
           "plain_number"]
