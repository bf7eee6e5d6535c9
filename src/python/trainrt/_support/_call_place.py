"""Finds the line of the user's code that calls this package, for messages about ranks that do not make the same calls."""

from __future__ import annotations

import functools
import os
import sys
import threading
from types import FrameType, TracebackType

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_OWN, _LIBRARY, _USER = range(3)
_stage: str | None = None


@functools.lru_cache(maxsize=4096)
def _kind(file: str) -> int:
    if file.startswith(_PACKAGE):
        return _OWN
    inner = file.startswith((_STANDARD_LIBRARY, "<frozen ")) or "/site-packages/" in file or "/dist-packages/" in file
    return _LIBRARY if inner else _USER


def call_place(op: str) -> dict[str, str]:
    """Returns {'place': text} with the call in the user's code that leads here, such as 'report() at train.py:12'. For a call from a thread of a
    library, the text names the line at which the main thread calls the library. Returns {"stage": text} for a call that this package makes outside of
    the user's code. `op` is the name of the call if no function of the package has a public name."""
    place = _place(sys._getframe(1), op)
    if place is None and threading.current_thread() is not threading.main_thread():
        place = _place(sys._current_frames().get(threading.main_thread().ident or 0), op)
    if place is None and _stage:
        return {"stage": _stage}
    return {"place": place or f"{op}()"}


def name_stage(text: str) -> None:
    """Sets the text that call_place() returns while no code of the user runs, for example 'the start of the train function'."""
    global _stage
    _stage = text


def place_of_raise(trace: TracebackType | None) -> str:
    """Returns the innermost line of the user's code in the traceback of an exception, such as 'train.py:8'. Returns '' if the traceback has no user
    code."""
    place = ""
    while trace is not None:
        if _kind(trace.tb_frame.f_code.co_filename) == _USER:
            place = _line(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return place


def _place(frame: FrameType | None, name: str) -> str | None:
    """Returns call and line of the innermost frame of the user's code; without such a frame, of a library; otherwise `None`."""
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


def _line(file: str, number: int) -> str:
    return f"{os.path.basename(file)}:{number}"
