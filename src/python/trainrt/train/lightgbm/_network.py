"""LightGBM's network over the collectives of the run, through LGBM_NetworkInitWithFunctions (include/LightGBM/c_api.h and meta.h of LightGBM)."""

import ctypes
import sys
import warnings
from typing import Any

from .._sessions import _current
from ._library import lightgbm

_Size = ctypes.c_int32
_Sizes = ctypes.POINTER(_Size)
_Bytes = ctypes.c_void_p
_Reduce = ctypes.CFUNCTYPE(None, _Bytes, _Bytes, ctypes.c_int, _Size)  # (input, input and output, bytes per value, total bytes)
_ReduceScatter = ctypes.CFUNCTYPE(None, _Bytes, _Size, ctypes.c_int, _Sizes, _Sizes, ctypes.c_int, _Bytes, _Size, ctypes.POINTER(_Reduce))
_AllGather = ctypes.CFUNCTYPE(None, _Bytes, _Size, _Sizes, _Sizes, ctypes.c_int, _Bytes, _Size)

_network = None  # the _Network of this process, or `None`


class _Network:
    """Owns the functions that LightGBM calls on its training thread. Raises RuntimeError if LightGBM rejects them."""

    def __init__(self, runtime):
        self._runtime = runtime
        self.error = None
        self._functions = _ReduceScatter(self._guarded(self._reduce_scatter)), _AllGather(self._guarded(self._all_gather))
        library = lightgbm.basic._LIB
        code = library.LGBM_NetworkInitWithFunctions(ctypes.c_int(runtime.world_size), ctypes.c_int(runtime.world_rank),
                                                     *(ctypes.cast(each, ctypes.c_void_p) for each in self._functions))
        if code != 0:
            raise RuntimeError(f"LightGBM rejected the network of the run: {library.LGBM_GetLastError().decode(errors='replace')}")

    def _guarded(self, function):
        """Wraps `function` for calls by LightGBM: an exception is printed, reported, and ends the process, because it must not pass through C++."""

        def call(*arguments):
            try:
                function(*arguments)
            except BaseException as error:
                self.error = error
                sys.excepthook(type(error), error, error.__traceback__)
                sys.stderr.flush()
                ctypes.CDLL(None)._exit(1)

        return call

    def _gathered(self, data, nbytes):
        """Returns the bytes of each rank, by rank. Their lengths may differ."""
        return [bytes(each) for each in _current.session().gather(ctypes.string_at(data, nbytes))]

    def _all_gather(self, data, size, starts, lengths, blocks, out, out_size):
        for start, length, part in zip(starts[:blocks], lengths[:blocks], self._gathered(data, size)):
            ctypes.memmove(out + start, part, length)

    def _reduce_scatter(self, data, size, value_bytes, starts, lengths, blocks, out, out_size, reducer):
        """Reduces in the order of the ranks, so that the result has the same bits each time."""
        rank = self._runtime.world_rank
        start, length = starts[rank], lengths[rank]
        first, *rest = self._gathered(data, size)
        ctypes.memmove(out, first[start:start + length], length)
        for part in rest:
            block = ctypes.create_string_buffer(part[start:start + length], length)
            reducer[0](ctypes.addressof(block), out, value_bytes, length)

    def close(self):
        lightgbm.basic._LIB.LGBM_NetworkFree()


def begin(session):
    """Connects the ranks of `session` as the machines of LightGBM."""
    global _network
    if session.world_size > 1:
        _network = _Network(session.runtime)


def end():
    """Closes the network. Does nothing if no network is open."""
    global _network
    if _network is not None:
        _network.close()
        _network = None


def get_network_params() -> dict[str, Any]:
    """Returns the parameters that `lightgbm.train()` needs to train on all ranks.

    Returns
    -------
    dict
        The parameters; {} with one rank. Outside of a train function, returns {}, with a RuntimeWarning.

    Examples
    --------
    >>> from trainrt.train import ScalingConfig
    >>> from trainrt.train.lightgbm import LightGBMTrainer, get_network_params
    >>> def train_func():
    ...     print({"tree_learner": "data_parallel", **get_network_params()})
    >>> _ = LightGBMTrainer(train_func, scaling_config=ScalingConfig(num_workers=0)).fit()
    {'tree_learner': 'data_parallel'}
    """
    if not _current.is_running():
        warnings.warn("get_network_params() was called outside of the train function of a LightGBMTrainer; it returns {}. Call it in the train function",
                      RuntimeWarning, stacklevel=2)
        return {}
    if _network is None:
        return {}
    return {"num_machines": _current.session().world_size, "pre_partition": True}
