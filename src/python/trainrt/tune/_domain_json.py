"""Reads domains from their JSON form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._support._value_json import decoded
from . import _spaces
from ._domains import Categorical, Domain, Float, Quantized, Uniform
from ._samples import Sample

_MADE = ("uniform", "loguniform", "qloguniform", "randint", "qrandint", "lograndint", "qlograndint", "randn", "qrandn")


def from_json(made: dict[str, Any]) -> Domain:
    """Returns the domain from a result of json(), of this or an earlier version."""
    if "texts" in made:
        return Categorical(decoded(made["values"]), made["tune"], made["texts"])
    if made["tune"] in ("choice", "grid"):
        return Categorical(made["args"][0], made["tune"])
    if made["tune"] == "sample":
        return Sample(made["args"])
    if made["tune"] == "quniform":  # in older versions the bounds did not have to be multiples
        lower, upper, q = made["args"]
        return Float(lower, upper).with_sampler(Quantized(Uniform(), q))
    if made["tune"] not in _MADE:
        raise ValueError(f"unknown domain '{made['tune']}'; known are {', '.join(_MADE)}")
    make: Callable[..., Domain] = getattr(_spaces, made["tune"])
    return make(*made["args"])
