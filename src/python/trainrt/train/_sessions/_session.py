"""The session of this process: what report(), get_checkpoint(), get_context() and the collectives go through."""

from contextlib import contextmanager

from ... import _client
from ._local_session import LocalSession
from ._runtime_session import RuntimeSession

_session = None
_running = 0  # train functions


def is_running():
    """Whether a train function of a Trainer runs in this process."""
    return _running > 0


def is_program_of_a_rank():
    """Whether trainrt started this process."""
    return _client.is_connected()


def current():
    """A RuntimeSession in a program that trainrt started, else a LocalSession; the same at each call."""
    global _session
    if _session is None:
        _session = RuntimeSession(_client.context()) if is_program_of_a_rank() else LocalSession()
    return _session


@contextmanager
def use(session):
    """Makes it the current one, for as long as a train function runs."""
    global _session, _running
    before, _session = _session, session
    _running += 1
    try:
        yield session
    finally:
        _session = before
        _running -= 1
