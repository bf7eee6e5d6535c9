"""Recognizes values that a Tuner chooses for each trial (search domains), for modules that must not import trainrt.tune."""

from __future__ import annotations

from typing import Any


def is_domain(value: Any) -> bool:
    """Returns whether the value is a domain of trainrt.tune, or a grid: {"grid_search": [...]}."""
    return getattr(type(value), "is_search_domain", False) or (isinstance(value, dict) and set(value) == {"grid_search"})


def has_domain(value: Any) -> bool:
    """Returns whether the value is a domain, or a dict that contains one."""
    return is_domain(value) or (isinstance(value, dict) and any(map(has_domain, value.values())))
