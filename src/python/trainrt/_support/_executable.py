"""Finds the program `trainrt`."""

import os
import shutil
import sysconfig
from collections.abc import Iterator


def trainrt() -> str:
    """Returns the path of the program. The order of the search is: TRAINRT_EXECUTABLE, the program that was built or installed with this package,
    PATH. Raises FileNotFoundError if it is not found."""
    named = os.environ.get("TRAINRT_EXECUTABLE")
    if named:
        if not _is_program(named):
            raise FileNotFoundError(f"TRAINRT_EXECUTABLE is {named}, which is not an executable file; set it to the path of the program trainrt, or unset it")
        return os.path.abspath(named)
    for path in (*_of_same_build(), shutil.which("trainrt")):
        if path and _is_program(path):
            return path
    raise FileNotFoundError("the program trainrt, which starts the ranks of fit(), is not in PATH: load its module, add it to PATH, or set "
                            "TRAINRT_EXECUTABLE to its path")


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _of_same_build() -> Iterator[str]:
    """Yields build/trainrt for the package build/python/trainrt, PREFIX/bin/trainrt for PREFIX/lib/trainrt/python/trainrt, and the program that pip
    installed with this package, which is not in PATH if the virtual environment is not activated."""
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    yield os.path.join(os.path.dirname(folder), "trainrt")
    yield os.path.normpath(os.path.join(folder, "../../../bin/trainrt"))
    if os.path.basename(folder) in ("site-packages", "dist-packages"):
        yield os.path.join(sysconfig.get_path("scripts"), "trainrt")
