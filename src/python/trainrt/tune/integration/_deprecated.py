"""Names that Ray Tune has removed: an object of these classes cannot be made."""

from typing import Any


def removed(name: str, instead: str) -> type:
    """Returns a class `name` whose call raises DeprecationWarning, which names the class to use instead."""
    def refuse(cls: type, *_arguments: Any, **_options: Any) -> Any:
        raise DeprecationWarning(f"`{name}` is deprecated. Use `{instead}` instead.")

    return type(name, (), {"__new__": refuse, "__doc__": f"Not supported: use {instead}."})
