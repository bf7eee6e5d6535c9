"""Where the program `trainrt` is."""

import os
import shutil


def trainrt():
    """Its path: what TRAINRT_EXECUTABLE names, else beside this package (a build folder, an installation), else of PATH."""
    named = os.environ.get("TRAINRT_EXECUTABLE")
    if named:
        if not _is_program(named):
            raise FileNotFoundError(f"TRAINRT_EXECUTABLE is {named}, and no program is there")
        return os.path.abspath(named)
    for path in (*_beside_the_package(), shutil.which("trainrt")):
        if path and _is_program(path):
            return path
    raise FileNotFoundError("fit() starts the ranks by the program trainrt, which is not in PATH: load its module, add it to PATH, or set "
                            "TRAINRT_EXECUTABLE to its path. RunConfig and function need nothing else")


def _is_program(path):
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _beside_the_package():
    """build/python/trainrt -> build/trainrt; PREFIX/lib/trainrt/python/trainrt -> PREFIX/bin/trainrt."""
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    yield os.path.join(os.path.dirname(folder), "trainrt")
    yield os.path.normpath(os.path.join(folder, "../../../bin/trainrt"))
