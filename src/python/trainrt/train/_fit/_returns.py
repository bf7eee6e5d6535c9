"""What comes back from the ranks that fit() started: returned values and exceptions, through the private folder."""

import os
import pickle
import sys
import traceback

from ..._support import _notes, _private_folder
from ..errors import RemoteError, RemoteTraceback


def failure_name(rank):
    return f"failed-{rank:05d}.pickle"


def returned_name(rank):
    return f"returned-{rank:05d}.pickle"


def _dumped(value):
    """With cloudpickle, if it is there: a result may be of a class of the script."""
    try:
        import cloudpickle
        return cloudpickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except ImportError:
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def leave_returned(folder, rank, value):
    try:
        _private_folder.write(folder, returned_name(rank), _dumped(value))
    except Exception as error:  # pickle raises what the object's methods do
        _notes.say(f"Result.return_value is None: a {type(value).__name__} cannot travel from rank {rank} to the script: {error}")


def leave_failure(folder, rank, error, trace):
    """The exception if it can travel; what it says and its traceback in any case."""
    text = "".join(traceback.format_exception(type(error), error, trace)).strip()
    try:
        data = _dumped(error)
    except Exception:
        data = None
    _private_folder.write(folder, failure_name(rank), pickle.dumps((data, f"{type(error).__name__}: {error}", text)))


def clear_failures(folder, rank, ranks):
    """Those of an earlier start of the ranks: this rank's, and, by rank 0, those of ranks that are no more."""
    for name in _failure_names(folder):
        if _rank_in(name) == rank or (rank == 0 and _rank_in(name) >= ranks):
            os.unlink(os.path.join(folder, name))


def _failure_names(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith("failed-"))


def _rank_in(name):
    return int(name.split("-")[1].split(".")[0])


def failure_from(folder, name):
    """The exception that a rank left, with its traceback there as the cause."""
    data, summary, text = _private_folder.read_pickle(folder, name)
    try:
        error = pickle.loads(data)
    except Exception:  # its class is not here, or takes other arguments than it keeps
        error = RemoteError(summary)
    error.__cause__ = RemoteTraceback(_rank_in(name), text)
    return error


def summary_of(error):
    """What it is, in the rank's words."""
    return str(error) if isinstance(error, RemoteError) else f"{type(error).__name__}: {error}"


def failures_in(folder):
    """{rank: exception} of all that have left one."""
    sys.modules.setdefault("__mp_main__", sys.modules["__main__"])  # as the ranks call the script
    return {_rank_in(name): failure_from(folder, name) for name in _failure_names(folder)}


def returned_by(folder, rank):
    """What the train function returned there; None if it did not come back."""
    sys.modules.setdefault("__mp_main__", sys.modules["__main__"])
    return _private_folder.read_pickle(folder, returned_name(rank))
