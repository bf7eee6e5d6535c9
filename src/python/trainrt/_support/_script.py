"""Finds the module name and the path of the script that this process runs."""

from __future__ import annotations

import multiprocessing
import os
import sys


def of_this_process() -> dict[str, str | None]:
    """Returns {'module': name, 'path': file} of the script. The name is `None` unless the script was started by `python3 -m`. Both are `None` in a
    notebook, in an interpreter and for `python3 -c`."""
    main = sys.modules["__main__"]
    name = getattr(getattr(main, "__spec__", None), "name", None)
    path = getattr(main, "__file__", None)
    if path is None or not os.path.isfile(path):
        return {"module": None, "path": None}
    return {"module": name, "path": os.path.abspath(path)}


def require_own_start(call: str) -> None:
    """Raises RuntimeError if a child process of multiprocessing (start method spawn or forkserver) imports the script now. `call` is the call that
    the script must not make then."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        script = os.path.basename(of_this_process()["path"] or "train.py")
        raise RuntimeError(f"{call} was called while a child process of multiprocessing imports the script, which the start methods spawn and forkserver "
                           f"do. In {script}, move the call under\n    if __name__ == \"__main__\":")
