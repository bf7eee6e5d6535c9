"""flat_config(), which makes a nested config flat."""

from __future__ import annotations

from typing import Any


def flat_config(config: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns {"model/width": 8} for {"model": {"width": 8}}. Empty dicts are values."""
    found = {}
    for name, value in config.items():
        found.update(flat_config(value, f"{prefix}{name}/") if isinstance(value, dict) and value else {f"{prefix}{name}": value})
    return found
