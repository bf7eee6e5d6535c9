"""The config of a sweep as sections of keys, and as the text of an INI file."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from .. import _cluster
from ..train._config import _paths
from ..train._fit import _allocation
from ._param_space import ParamSpace

Sections = dict[str, dict[str, str]]


def sections_of(texts: dict[str, str]) -> Sections:
    """Converts {'section.key': text} to {section: {key: text}}. Keys of [tune.space] and [tune.mutations] may contain dots."""
    sections: Sections = {}
    for key, text in texts.items():
        space = next((name for name in ("tune.space", "tune.mutations") if key.startswith(name + ".")), None)
        section, name = (space, key[len(space) + 1:]) if space else key.rsplit(".", 1)
        sections.setdefault(section, {})[name] = text
    return sections


def texts_of(sections: Sections) -> dict[str, str]:
    """Converts {section: {key: text}} to {'section.key': text}: the reverse of sections_of()."""
    return {f"{section}.{key}": text for section, keys in sections.items() for key, text in keys.items()}


def as_ini(sections: Sections) -> str:
    """Returns the text of the config file. Raises ValueError for a value with a line break, since the next line would be another key."""
    broken = [key for key, text in texts_of(sections).items() if len(f"{key}={text}".splitlines()) > 1]
    if broken:
        raise ValueError(f"the value of {', '.join(broken)} has a line break, which a config cannot contain; remove the line break")
    lines: list[str] = []
    for section, keys in sections.items():
        if keys:
            lines += [f"[{section}]", *(f"{key} = {_paths.escaped(f'{section}.{key}', text)}" for key, text in keys.items()), ""]
    return "\n".join(lines)


def program_of(space: ParamSpace) -> str:
    """Returns the command of a rank of a trial."""
    return " ".join([shlex.quote(sys.executable), "-m", "trainrt.tune._worker", *(f"{name}={{{name}}}" for name in space.section())])


def max_concurrent_trials(scaling: Any) -> int:
    """Returns 0 in a job, where the number of tasks is the limit; otherwise the number of trials that this machine has CPUs and GPUs for."""
    if _allocation.can_launch(1):
        return 0
    there = _cluster.cluster_resources()
    fits = there.get("CPU", 1) // (scaling.max_workers * (scaling.requested_cpus or 1))
    if scaling.num_gpus_per_worker:
        fits = min(fits, there.get("GPU", 0) // (scaling.max_workers * scaling.num_gpus_per_worker))
    return max(1, int(fits))
