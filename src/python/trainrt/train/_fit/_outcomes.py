"""Values and exceptions that ranks send back to the script through its Exchange."""

import pickle
import sys
import traceback

from ..._client.values import kind_of
from ..._support import _notes
from ..._support._exchange_client import ScriptUnreachable
from ..errors import RemoteError, RemoteTraceback

# ---- functions that a rank calls -------------------------------------------------------------------------------------------------------------


def send_returned(client, rank, value):
    """Sends the value that the train function returned. If it cannot be sent, prints a warning."""
    try:
        data = pickled(value)
    except Exception as error:  # an object's __reduce__ may raise any exception
        _notes.warn(f"Result.return_value is None: {kind_of(value)} of rank {rank} cannot be pickled: {error}. Return numbers, strings or arrays instead")
        return
    _send(client, _returned_name(rank), data)


def send_failure(client, rank, error, trace):
    """Sends the exception if it can be pickled, and its text and traceback in any case."""
    text = "".join(traceback.format_exception(type(error), error, trace)).strip()
    try:
        data = pickled(error)
    except Exception:
        data = None
    _send(client, _failure_name(rank), pickle.dumps((data, f"{type(error).__name__}: {error}", text)))


def _send(client, name, data):
    try:
        client.put(name, data)
    except ScriptUnreachable as error:
        print(f"trainrt: {error}", file=sys.stderr, flush=True)


def clear_failures(client, rank, ranks):
    """Removes the failure of an earlier start of this rank; rank 0 also removes those of ranks that no longer exist. Does nothing if the
    script cannot be reached."""
    try:
        for name in _failure_names(client):
            if _rank_in(name) == rank or (rank == 0 and _rank_in(name) >= ranks):
                client.remove(name)
    except ScriptUnreachable:
        pass


# ---- functions that the script calls ---------------------------------------------------------------------------------------------------------


def returned_by(exchange, rank):
    """Returns the value that the train function returned on `rank`, or `None` if the rank sent no value."""
    data = exchange.get(_returned_name(rank))
    return None if data is None else pickle.loads(data)


def failures_in(exchange):
    """Returns the exceptions of the ranks that failed, as {rank: exception}. The cause of each exception is its traceback on the rank."""
    return {_rank_in(name): _failure_from(exchange, name) for name in _failure_names(exchange)}


def summary_of(error):
    """Returns type and text of an exception from failures_in()."""
    return str(error) if isinstance(error, RemoteError) else f"{type(error).__name__}: {error}"


def summary_of_all(failures):
    """Returns one text for {rank: exception} of failures_in(); ranks with the same exception are named together."""
    ranks_of = {}
    for rank, error in failures.items():
        ranks_of.setdefault(summary_of(error), []).append(str(rank))
    return "; ".join(f"{'rank' if len(ranks) == 1 else 'ranks'} {', '.join(ranks)}: {summary}" for summary, ranks in ranks_of.items())


def _failure_from(exchange, name):
    data, summary, text = pickle.loads(exchange.get(name))
    try:
        error = pickle.loads(data)
    except Exception:  # the exception's class is not defined here, or its constructor takes other arguments than it stores
        error = RemoteError(summary)
    error.__cause__ = RemoteTraceback(_rank_in(name), text)
    return error


# ---- names and content of the messages --------------------------------------------------------------------------------------------------------------


def _failure_name(rank):
    return f"failed-{rank:05d}"


def _returned_name(rank):
    return f"returned-{rank:05d}"


def _failure_names(exchange):
    return sorted(name for name in exchange.names() if name.startswith("failed-"))


def _rank_in(name):
    return int(name.split("-")[1])


def pickled(value):
    """Pickles with cloudpickle if it is installed: the value may be of a class of the script."""
    try:
        import cloudpickle
        return cloudpickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except ImportError:
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
