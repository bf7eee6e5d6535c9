"""The saved state of a searcher that contains another one: a JSON file with its own state, and with the file of the inner searcher."""

from __future__ import annotations

import base64
import json
import os
from typing import Any

from ..._support._value_json import NotRecordable, decoded, encoded
from ._base import Searcher

_FORMAT = "trainrt searcher 1"


def write(path: str, own: dict[str, Any], inner: Searcher) -> None:
    """Writes the state. `own`: values that encoded() accepts. The state of `inner` is left out if it does not define save()."""
    aside = f"{path}-inner"
    text = None
    try:
        inner.save(aside)
        if os.path.exists(aside):
            with open(aside, "rb") as file:
                text = base64.b64encode(file.read()).decode()
    except NotImplementedError:
        pass
    finally:
        if os.path.exists(aside):
            os.remove(aside)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"format": _FORMAT, "own": encoded(own), "inner": text}, file)


def read(path: str, inner: Searcher) -> dict[str, Any]:
    """Restores `inner`, and returns the own state of write(); {} for a file that only has the inner state, as older versions wrote it."""
    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
    except ValueError:
        record = None
    if not isinstance(record, dict) or record.get("format") != _FORMAT:
        inner.restore(path)
        return {}
    if record["inner"] is not None:
        aside = f"{path}-inner"
        try:
            with open(aside, "wb") as file:
                file.write(base64.b64decode(record["inner"]))
            inner.restore(aside)
        finally:
            os.remove(aside)
    return {**decoded(record["own"]), "has_inner": record["inner"] is not None}


def recordable(result: dict[str, Any] | None) -> dict[str, Any] | None:
    """Returns the metrics of a result that a state can hold."""
    return None if result is None else {name: value for name, value in result.items() if _is_recordable(value)}


def _is_recordable(value: Any) -> bool:
    try:
        encoded(value)
    except NotRecordable:
        return False
    return True
