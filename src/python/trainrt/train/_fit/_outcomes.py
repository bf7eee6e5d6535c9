"""Values and exceptions that ranks send back to the script through the private folder."""

import os
import pickle
import sys
import traceback

from ..._support import _notes, _private_folder
from ..errors import RemoteError, RemoteTraceback

# ---- functions that a rank calls -------------------------------------------------------------------------------------------------------------


def write_returned(folder, rank, value):
    """Writes the value that the train function returned. If it cannot be pickled, prints a note."""
    try:
        _private_folder.write(folder, _returned_name(rank), _pickled(value))
    except Exception as error:  # an object's __reduce__ may raise any exception
        _notes.say(f"Result.return_value is None: a {type(value).__name__} of rank {rank} cannot be pickled: {error}")


def write_failure(folder, rank, error, trace):
    """Writes the exception if it can be pickled, and its text and traceback in any case."""
    text = "".join(traceback.format_exception(type(error), error, trace)).strip()
    try:
        data = _pickled(error)
    except Exception:
        data = None
    _private_folder.write(folder, _failure_name(rank), pickle.dumps((data, f"{type(error).__name__}: {error}", text)))


def clear_failures(folder, rank, ranks):
    """Removes the failure of an earlier start of this rank; rank 0 also removes those of ranks that no longer exist."""
    for name in _failure_names(folder):
        if _rank_in(name) == rank or (rank == 0 and _rank_in(name) >= ranks):
            os.unlink(os.path.join(folder, name))


# ---- functions that the script calls ---------------------------------------------------------------------------------------------------------


def returned_by(folder, rank):
    """Returns the value that the train function returned on `rank`, or `None` if the rank wrote no value."""
    _name_main_as_ranks_do()
    return _private_folder.read_pickle(folder, _returned_name(rank))


def failures_in(folder):
    """Returns {rank: exception} of the ranks that failed. The cause of each exception is its traceback on the rank."""
    _name_main_as_ranks_do()
    return {_rank_in(name): _failure_from(folder, name) for name in _failure_names(folder)}


def summary_of(error):
    """Returns type and text of an exception from failures_in()."""
    return str(error) if isinstance(error, RemoteError) else f"{type(error).__name__}: {error}"


def _failure_from(folder, name):
    data, summary, text = _private_folder.read_pickle(folder, name)
    try:
        error = pickle.loads(data)
    except Exception:  # the exception's class is not defined here, or its constructor takes other arguments than it stores
        error = RemoteError(summary)
    error.__cause__ = RemoteTraceback(_rank_in(name), text)
    return error


def _name_main_as_ranks_do():
    """Makes pickles of the ranks, where the script is the module __mp_main__, refer to this process's script."""
    sys.modules.setdefault("__mp_main__", sys.modules["__main__"])


# ---- names and content of the files -----------------------------------------------------------------------------------------------------------------


def _failure_name(rank):
    return f"failed-{rank:05d}.pickle"


def _returned_name(rank):
    return f"returned-{rank:05d}.pickle"


def _failure_names(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith("failed-"))


def _rank_in(name):
    return int(name.split("-")[1].split(".")[0])


def _pickled(value):
    """Pickles with cloudpickle if it is installed: the value may be of a class of the script."""
    try:
        import cloudpickle
        return cloudpickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except ImportError:
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
