"""Checks whether Tuner.restore() may continue a sweep."""

from __future__ import annotations

import os
from collections.abc import Mapping

from .._support import _notes
from ._param_space import ParamSpace
from ._sections import Sections, texts_of
from ._sweep_record import is_sweep, programs_in, read_sweep


def directory_of(path: str | os.PathLike[str]) -> str:
    """Returns the absolute path of a directory, which may be given with file:// or ~."""
    text = os.fspath(path)
    return os.path.abspath(os.path.expanduser(text[len("file://"):] if text.startswith("file://") else text))


def require_same(path: str, texts: Mapping[str, str], sections: Sections, has_space: bool) -> None:
    """Raises ValueError if the trainable or the param_space in `sections` differs from that of the sweep, {key: text}: its trials could not be
    compared. `has_space` is whether restore() was given a param_space."""
    if not any(key.startswith("loop.train_loop_per_worker") for key in texts):
        return  # started by a version that recorded neither
    compared = ("loop.train_loop_", *(("loop.param_space.", "tune.space.", "tune.mutations.") if has_space else ()))
    before = {key: text for key, text in texts.items() if key.startswith(compared)}
    now = {key: text for key, text in texts_of(sections).items() if key.startswith(compared)}
    changed = [f"{key} was {before.get(key, 'not set')}, is {now.get(key, 'not set')}" for key in sorted({*before, *now})
               if before.get(key) != now.get(key)]
    if changed:
        raise ValueError(f"Tuner.restore({path!r}): the sweep was started with other values: {'; '.join(changed)}. Use the same trainable and "
                         f"param_space; Tuner(..., run_config=RunConfig(name=...)) with another name starts a new sweep")


def with_earlier_synch(path: str, sections: Sections) -> Sections:
    """Returns the sections without `synch=True` of population based training if the sweep in the directory `path` was started without it: earlier
    versions ignored this argument and did not record it."""
    scheduler = sections.get("tune.pbt", {})
    try:
        before = read_sweep(path)[0] if "synch" in scheduler and is_sweep(path) else {}
    except (OSError, ValueError):
        return sections  # `trainrt tune` reports the error
    if before.get("tune.scheduler") != "pbt" or "tune.pbt.synch" in before:
        return sections
    _notes.say(f"the sweep in {path} was started without synch=True, and continues without it. A new sweep uses it: RunConfig(name=...)")
    return {**sections, "tune.pbt": {key: text for key, text in scheduler.items() if key != "synch"}}


def require_own_programs(path: str, texts: Mapping[str, str], reason: str | None, program: str | None = None) -> None:
    """Raises ValueError if sweep.json names code or destinations of models that this call does not name, and another user may have written it.

    `reason` explains why another user may have written it; with `None`, nothing is checked. `program` is the command of a trial of this call; with `None`, the
    command in sweep.json is not checked."""
    if reason is None:
        return
    named = {key: texts[key] for key in programs_in(dict(texts))}
    if program is not None and texts.get("train.program") != program:
        named["train.program"] = texts.get("train.program", "")
    if named:
        lines = "".join(f"\n{key} = {text}" for key, text in named.items())
        call = f"This call would start {program}, and sweep.json" if program is not None else "It"
        raise ValueError(f"Tuner.restore({path!r}): {path}/sweep.json names code that the trials would start or load, or where they would write, and "
                         f"is not trusted: {reason}. Tuner(trainable, ...).fit() with the arguments of the first start continues the sweep. "
                         f"{call} has:{lines}")


def require_space(path: str, space: ParamSpace | None) -> ParamSpace:
    """Returns `space`, the param_space that the sweep has recorded. Raises ValueError if `space` is `None`, because it could not be recorded."""
    if space is None:
        raise ValueError(f"Tuner.restore({path!r}): give param_space= again: it has values that JSON cannot hold, or no trial has stored it")
    return space
