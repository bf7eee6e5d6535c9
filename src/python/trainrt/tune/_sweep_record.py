"""sweep.json: the config that a sweep was begun with, as texts of keys, which `trainrt tune` writes.

It may name programs, and carries a code that only its user's processes can make (train/_user_key). restore() takes programs from it only
with a valid code.
"""

import json
import os
import re
import shlex
import sys

from .._support import _user_key

_NAME, _CODE, _ALGORITHM = "sweep.json", "_code", "hmac_sha256"
_SEARCHER = "tune.searcher_program"
_PLAIN_SECTIONS = ("run", "scaling", "checkpoint", "metrics", "failure", "loop", "stop", "data", "tune")  # they name no code
_PLAIN_KEY = re.compile(r"[\w./-]+")
_PLACES = ("checkpoint.mirror",)  # models are copied to it


def is_sweep(path):
    return os.path.isfile(os.path.join(path, _NAME))


def read_sweep(path):
    """({key: text}, why it is not certain that this user's processes wrote it, or None if it is)."""
    where = os.path.join(path, _NAME)
    try:
        with open(where, encoding="utf-8") as file:
            record = json.load(file)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} is damaged: {error}") from None
    if not isinstance(record, dict):
        raise ValueError(f"{where} is damaged: it holds no JSON object")
    texts = {key: text for key, text in record.items() if isinstance(text, str)}
    code = record.get(_CODE)
    return texts, _user_key.reason_against(code.get(_ALGORITHM) if isinstance(code, dict) else code, _signed(texts))


def _signed(texts):
    """The bytes that the code is of; src/tune/record/sweep_record.cpp makes the same."""
    strings = [b"trainrt sweep 1", *(each for key, text in sorted((_bytes(key), _bytes(text)) for key, text in texts.items()) for each in (key, text))]
    return b"".join(b"%d:%s" % (len(each), each) for each in strings)


def _bytes(text):
    return text.encode("utf-8", "surrogatepass")


def programs_in(texts):
    """The keys that name what is loaded or started, or where models are copied to, but for the program of the trials."""
    return sorted(key for key, text in texts.items() if key != "train.program" and _names_code(key, text))


def _names_code(key, text):
    return not _is_plain(key) or not text.isprintable() or key in _PLACES or (key == _SEARCHER and not _is_own(text))


def _is_plain(key):
    """Whether it is a key of a section without code. A space may set any key of the trials; one that a Tuner makes sets plain names."""
    if not _PLAIN_KEY.fullmatch(key):
        return False
    for space in ("tune.space.", "tune.mutations."):
        if key.startswith(space):
            return "." not in key[len(space):]
    return key.split(".", 1)[0] in _PLAIN_SECTIONS


def _is_own(command):
    """Whether the command is a searcher of this package, in this Python, without anything for a shell."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return shlex.join(words) == command and words[:2] == [sys.executable, "-m"] and words[2:] == ["trainrt.tune.search.optuna"]
