"""Python objects from rank to rank.

They travel as pickles, through the private sockets and shared memory of the ranks of one run: from a process of this user to
another that runs the same script. Nothing is ever unpickled that comes out of a checkpoint, a dataset or a config.
"""

import pickle
from array import array


def _dumped(what, value):
    try:
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # pickle raises whatever the object's methods do
        raise TypeError(f"{what}: a {type(value).__name__} cannot be sent to the other ranks: {type(error).__name__}: {error}") from error


def broadcast(runtime, value, root=0, what="broadcast()"):
    """What rank `root` has, on all ranks. If it cannot be sent, all ranks raise."""
    error, data = None, b""
    if runtime.world_rank == root:
        try:
            data = _dumped(what, value)
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


def gather(runtime, value, what="gather()"):
    """What each rank has, on all ranks, in their order."""
    data = _dumped(what, value)
    lengths = [one[0] for one in runtime.all_gather(array("q", [len(data)]))]
    padded = array("B", data + bytes(max(lengths) - len(data)))
    parts = runtime.all_gather(padded)
    return [pickle.loads(part.tobytes()[:length]) for part, length in zip(parts, lengths)]
