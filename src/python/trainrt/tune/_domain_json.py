"""Reads domains from their JSON form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._support._value_json import decoded
from ._samples import Sample
from ._spaces import Categorical, Domain, lograndint, loguniform, quniform, randint, uniform


def from_json(made: dict[str, Any]) -> Domain:
    """Returns the domain from a result of json(), of this or an earlier version."""
    if "texts" in made:
        return Categorical(decoded(made["values"]), made["tune"], made["texts"])
    if made["tune"] in ("choice", "grid"):
        return Categorical(made["args"][0], made["tune"])
    if made["tune"] == "sample":
        return Sample(made["args"])
    known: dict[str, Callable[..., Domain]] = {"uniform": uniform, "quniform": quniform, "loguniform": loguniform, "randint": randint,
                                               "lograndint": lograndint}
    return known[made["tune"]](*made["args"])
