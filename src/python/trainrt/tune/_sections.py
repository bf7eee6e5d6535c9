"""The config of a sweep as sections of keys, and as the text of an INI file."""

from __future__ import annotations

from ..train._config import _paths

Sections = dict[str, dict[str, str]]


def sections_of(texts: dict[str, str]) -> Sections:
    """Returns {section: {key: text}} for {'section.key': text}. Keys of [tune.space] and [tune.mutations] may contain dots."""
    sections: Sections = {}
    for key, text in texts.items():
        space = next((name for name in ("tune.space", "tune.mutations") if key.startswith(name + ".")), None)
        section, name = (space, key[len(space) + 1:]) if space else key.rsplit(".", 1)
        sections.setdefault(section, {})[name] = text
    return sections


def texts_of(sections: Sections) -> dict[str, str]:
    """Returns {'section.key': text}, the reverse of sections_of()."""
    return {f"{section}.{key}": text for section, keys in sections.items() for key, text in keys.items()}


def as_ini(sections: Sections) -> str:
    """Returns the text of the config file. Raises ValueError for a value with a line break, since the next line would be another key."""
    broken = [key for key, text in texts_of(sections).items() if len(f"{key}={text}".splitlines()) > 1]
    if broken:
        raise ValueError(f"the value of {', '.join(broken)} has a line break, which a config cannot contain")
    lines: list[str] = []
    for section, keys in sections.items():
        if keys:
            lines += [f"[{section}]", *(f"{key} = {_paths.escaped(f'{section}.{key}', text)}" for key, text in keys.items()), ""]
    return "\n".join(lines)
