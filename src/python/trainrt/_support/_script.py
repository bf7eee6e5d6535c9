"""The script of this process, and how a worker imports it: as multiprocessing's spawn does, under another name than __main__."""

import os
import runpy
import sys
import types


def of_this_process():
    """{"module": of `python3 -m`, "path": of `python3 train.py`}; neither in a notebook, an interpreter and `python3 -c`."""
    main = sys.modules["__main__"]
    name = getattr(getattr(main, "__spec__", None), "name", None)
    path = getattr(main, "__file__", None)
    if path is None or not os.path.isfile(path):
        return {"module": None, "path": None}
    return {"module": name, "path": os.path.abspath(path)}


importing = None  # name of the script that import_as_main() is importing, else None


def import_as_main(script):
    """Runs the script under the name __mp_main__, and makes it what pickles mean by __main__."""
    global importing
    module = types.ModuleType("__mp_main__")
    importing = os.path.basename(script["path"])
    try:
        if script["module"]:
            content = runpy.run_module(script["module"], run_name="__mp_main__", alter_sys=True)
        else:
            content = runpy.run_path(script["path"], run_name="__mp_main__")
    finally:
        importing = None
    module.__dict__.update(content)
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module
