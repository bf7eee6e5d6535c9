"""sweep.json: the config that a sweep was started with, as strings of keys, which `trainrt tune` writes.

The file may name programs, and has a code that only processes of its user can make (_support/_user_key). restore() starts programs from it
only if the code is valid.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys

from .._support import _user_key

DECIDED_IN_SCRIPT = "loop.param_space._decided_in_script"  # src/tune/record/sweep_record.hpp has the same name
_NAME, _CODE, _ALGORITHM = "sweep.json", "_code", "hmac_sha256"
_SEARCHER, _WORKERS = "tune.searcher_program", "tune.space.scaling.num_workers"
_SEARCHERS = re.compile(r"trainrt\.tune\.search\.(optuna|bayesopt)")
_PLAIN_SECTIONS = ("run", "scaling", "checkpoint", "metrics", "failure", "loop", "stop", "data", "tune")  # their keys name no code
_PLAIN_KEY = re.compile(r"[\w./-]+")
_DESTINATIONS = ("checkpoint.mirror",)  # models are copied there


def is_sweep(path: str) -> bool:
    """Returns whether `path` is the directory of a sweep."""
    return os.path.isfile(os.path.join(path, _NAME))


def read_sweep(path: str) -> tuple[dict[str, str], str | None]:
    """Returns ({key: text}, reason). `reason` is `None`, or states why another user may have written the file. Raises ValueError for a damaged file."""
    where = os.path.join(path, _NAME)
    try:
        with open(where, encoding="utf-8") as file:
            record = json.load(file)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} is damaged: {error}") from None
    if not isinstance(record, dict):
        raise ValueError(f"{where} is damaged: it is not a JSON object. Restore the file from a backup, or start a new sweep with another name")
    texts = {key: text for key, text in record.items() if isinstance(text, str)}
    code = record.get(_CODE)
    return texts, _user_key.reason_against(code.get(_ALGORITHM) if isinstance(code, dict) else code, _signed(texts))


def _signed(texts: dict[str, str]) -> bytes:
    """Returns the bytes from which the authentication code is computed; src/tune/record/sweep_record.cpp computes the same bytes."""
    strings = [b"trainrt sweep 1", *(each for key, text in sorted((_bytes(key), _bytes(text)) for key, text in texts.items())
                                     for each in (key, text))]
    return b"".join(b"%d:%s" % (len(each), each) for each in strings)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def programs_in(texts: dict[str, str]) -> list[str]:
    """Returns the keys that name code or destinations of models, except the program of the trials."""
    return sorted(key for key, text in texts.items() if key != "train.program" and _names_code(key, text))


def _names_code(key: str, text: str) -> bool:
    return not _is_plain(key) or not text.isprintable() or key in _DESTINATIONS or (key == _SEARCHER and not _is_own(text))


def _is_plain(key: str) -> bool:
    """Returns whether the key certainly names no code. A key such as tune.space.KEY may set any KEY of the trials. If KEY has a dot, it may name code."""
    if not _PLAIN_KEY.fullmatch(key):
        return False
    for space in ("tune.space.", "tune.mutations."):
        if key.startswith(space):
            return "." not in key[len(space):] or key == _WORKERS
    return key.split(".", 1)[0] in _PLAIN_SECTIONS


def _is_own(command: str) -> bool:
    """Returns whether the command runs a searcher of this package with this Python, and contains nothing that a shell would interpret."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    has_module = words[:2] == [sys.executable, "-m"] and len(words) > 2 and _SEARCHERS.fullmatch(words[2])
    return bool(has_module) and shlex.join(words) == command  # further words are arguments, which the searchers only parse
