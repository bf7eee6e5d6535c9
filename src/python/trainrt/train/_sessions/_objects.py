"""Collectives on Python objects.

Objects are pickled and sent through the private sockets and shared memory of the ranks of one run, from a process of this user to another that runs
the same script. Nothing that comes from a checkpoint, a dataset or a config is unpickled.
"""

import pickle
from array import array

from ..._client.values import kind_of


def broadcast(runtime, value, root=0, caller="broadcast()"):
    """Returns the value of rank `root` on all ranks. Raises TypeError on all ranks if it cannot be pickled. Collective."""
    error, data = None, b""
    if runtime.world_rank == root:
        try:
            data = _pickled(caller, value)
        except TypeError as failure:
            error, data = failure, pickle.dumps(str(failure))
    head = array("q", [len(data), error is not None])
    runtime.broadcast(head, root)
    body = array("B", data if runtime.world_rank == root else bytes(head[0]))
    runtime.broadcast(body, root)
    if error is not None:
        raise error
    received = value if runtime.world_rank == root else pickle.loads(body.tobytes())
    if head[1]:
        raise TypeError(received)
    return received


def gather(runtime, value, caller="gather()"):
    """Returns a list with the value of each rank, by rank. Collective; all ranks get the same list."""
    data = _pickled(caller, value)
    lengths = [one[0] for one in runtime.all_gather(array("q", [len(data)]))]
    padded = array("B", data + bytes(max(lengths) - len(data)))
    parts = runtime.all_gather(padded)
    return [pickle.loads(part.tobytes()[:length]) for part, length in zip(parts, lengths)]


def _pickled(caller, value):
    try:
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # an object's __reduce__ may raise any exception
        raise TypeError(f"{caller}: {kind_of(value)} cannot be sent to the other ranks: {type(error).__name__}: {error}") from error
