"""The script of this process, and how a worker imports it: under another name than __main__, as multiprocessing's spawn does."""

from __future__ import annotations

import os
import runpy
import sys
import types
from typing import Any

importing: str | None = None  # name of the script that import_as_main() is importing, else `None`


def of_this_process() -> dict[str, str | None]:
    """Returns {"module": name, "path": file} of the script: the name if it was started by `python3 -m`. Both are `None` in a notebook, an
    interpreter and `python3 -c`."""
    main = sys.modules["__main__"]
    name = getattr(getattr(main, "__spec__", None), "name", None)
    path = getattr(main, "__file__", None)
    if path is None or not os.path.isfile(path):
        return {"module": None, "path": None}
    return {"module": name, "path": os.path.abspath(path)}


def import_as_main(script: dict[str, Any]) -> None:
    """Runs the script of of_this_process() under the name __mp_main__, and lets pickles find it as __main__."""
    global importing
    importing = os.path.basename(script["path"])
    try:
        module = types.ModuleType("__mp_main__")
        if script["module"]:
            content = runpy.run_module(script["module"], run_name="__mp_main__", alter_sys=True)
        else:
            content = runpy.run_path(script["path"], run_name="__mp_main__")
        module.__dict__.update(content)
        sys.modules["__main__"] = sys.modules["__mp_main__"] = module
    finally:
        importing = None
