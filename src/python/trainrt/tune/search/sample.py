"""Module of Ray Tune that scripts import domains and samplers from."""

from .._domains import BaseSampler, Categorical, Domain, Float, Function, Grid, Integer, LogUniform, Normal, Quantized, Sampler, Uniform
from .._spaces import choice, lograndint, loguniform, qlograndint, qloguniform, qrandint, qrandn, quniform, randint, randn, sample_from, uniform

__all__ = ["BaseSampler", "Categorical", "Domain", "Float", "Function", "Grid", "Integer", "LogUniform", "Normal", "Quantized", "Sampler", "Uniform",
           "choice", "lograndint", "loguniform", "qlograndint", "qloguniform", "qrandint", "qrandn", "quniform", "randint", "randn", "sample_from",
           "uniform"]
