"""Module of Ray Tune that scripts import domains from."""

from .._spaces import (
    Categorical,
    Domain,
    Float,
    Function,
    Integer,
    choice,
    lograndint,
    loguniform,
    qlograndint,
    qloguniform,
    qrandint,
    qrandn,
    quniform,
    randint,
    randn,
    sample_from,
    uniform,
)

__all__ = ["Categorical", "Domain", "Float", "Function", "Integer", "choice", "lograndint", "loguniform", "qlograndint", "qloguniform", "qrandint", "qrandn",
           "quniform", "randint", "randn", "sample_from", "uniform"]
