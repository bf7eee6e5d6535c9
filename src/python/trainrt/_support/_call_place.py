"""Where the user's code makes a call of this package: for messages about ranks that do not make the same calls."""

import functools
import os
import sys
import threading

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_OWN, _LIBRARY, _USER = range(3)
_stage = None


@functools.lru_cache(maxsize=4096)
def _kind(file):
    if file.startswith(_PACKAGE):
        return _OWN
    inner = file.startswith((_STANDARD_LIBRARY, "<frozen ")) or "/site-packages/" in file or "/dist-packages/" in file
    return _LIBRARY if inner else _USER


def call_place(op):
    """{"place": the user's own call that leads here, "report() at train.py:12"}. Called by a library, whose thread may have no frame of the
    user's: the line at which the main thread is in it. {"stage": text} of a call that this package makes by itself around the user's code.
    `op` names a call that nothing else names."""
    place = _place(sys._getframe(1), op)
    if place is None and threading.current_thread() is not threading.main_thread():
        place = _place(sys._current_frames().get(threading.main_thread().ident), op)
    if place is None and _stage:
        return {"stage": _stage}
    return {"place": place or f"{op}()"}


def name_stage(text):
    """What this process is at while no frame of the user's is there, for one that fit() or a Tuner has started."""
    global _stage
    _stage = text


def place_of_raise(trace):
    """The user's line that raised an exception, "train.py:8"; "" if none is in its traceback."""
    place = ""
    while trace is not None:
        if _kind(trace.tb_frame.f_code.co_filename) == _USER:
            place = _line(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return place


def _place(frame, name):
    """By the innermost frame of the user's; else by the innermost of a library; None if there is neither."""
    in_library = None
    while frame is not None:
        code = frame.f_code
        kind = _kind(code.co_filename)
        if kind == _USER:
            return f"{name}() at {_line(code.co_filename, frame.f_lineno)}"
        if kind == _LIBRARY and in_library is None and not code.co_filename.startswith("<frozen "):
            in_library = f"{name}() at {_line(code.co_filename, frame.f_lineno)}"
        if code.co_name[0] not in "_<":
            name = code.co_name
        frame = frame.f_back
    return in_library


def _line(file, number):
    return f"{os.path.basename(file)}:{number}"
