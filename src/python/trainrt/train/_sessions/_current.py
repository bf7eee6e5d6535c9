"""The session of this process, used by `report()`, `get_checkpoint()`, `get_context()` and the collectives."""

from contextlib import contextmanager

from ... import _client
from ._local import LocalSession
from ._runtime import RuntimeSession

_session = None
_running = 0  # how many nested use() blocks this process is inside


def is_running():
    """Returns whether a train function of a Trainer runs in this process."""
    return _running > 0


def is_rank_program():
    """Returns whether trainrt started this process as the program of a rank."""
    return _client.is_connected()


def session():
    """Returns the session of this process: a RuntimeSession if trainrt started the process, else a LocalSession. Repeated calls return the
    same session."""
    global _session
    if _session is None:
        _session = RuntimeSession(_client.context()) if is_rank_program() else LocalSession()
    return _session


@contextmanager
def use(session):
    """Makes `session` the session of this process while a train function runs."""
    global _session, _running
    before, _session = _session, session
    _running += 1
    try:
        yield session
    finally:
        _session = before
        _running -= 1
