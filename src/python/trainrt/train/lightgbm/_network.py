"""LightGBM's network over the collectives of the run: by the functions that LGBM_NetworkInitWithFunctions takes (LightGBM's C API,
include/LightGBM/c_api.h and meta.h)."""

import ctypes
import sys
import warnings

from .._sessions import _current
from ._library import lightgbm

_Size = ctypes.c_int32
_Sizes = ctypes.POINTER(_Size)
_Bytes = ctypes.c_void_p
_Reduce = ctypes.CFUNCTYPE(None, _Bytes, _Bytes, ctypes.c_int, _Size)  # (in, in and out, bytes of a value, bytes)
_ReduceScatter = ctypes.CFUNCTYPE(None, _Bytes, _Size, ctypes.c_int, _Sizes, _Sizes, ctypes.c_int, _Bytes, _Size, ctypes.POINTER(_Reduce))
_AllGather = ctypes.CFUNCTYPE(None, _Bytes, _Size, _Sizes, _Sizes, ctypes.c_int, _Bytes, _Size)

_network = None  # of this process


class _Network:
    """Keeps the functions alive that LightGBM calls, on the thread that trains."""

    def __init__(self, runtime):
        self._runtime = runtime
        self.error = None
        self._functions = _ReduceScatter(self._guarded(self._reduce_scatter)), _AllGather(self._guarded(self._all_gather))
        library = lightgbm.basic._LIB
        code = library.LGBM_NetworkInitWithFunctions(ctypes.c_int(runtime.world_size), ctypes.c_int(runtime.world_rank),
                                                     *(ctypes.cast(each, ctypes.c_void_p) for each in self._functions))
        if code != 0:
            raise RuntimeError(f"LightGBM takes no network: {library.LGBM_GetLastError().decode(errors='replace')}")

    def _guarded(self, function):
        """No exception passes through LightGBM: what failed ends the program, which the runtime has told, or is told here."""

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
        """What each rank has, as bytes; they may have different lengths."""
        return [bytes(each) for each in _current.session().gather(ctypes.string_at(data, nbytes))]

    def _all_gather(self, data, size, starts, lengths, blocks, out, out_size):
        for start, length, part in zip(starts[:blocks], lengths[:blocks], self._gathered(data, size)):
            ctypes.memmove(out + start, part, length)

    def _reduce_scatter(self, data, size, value_bytes, starts, lengths, blocks, out, out_size, reducer):
        """In the order of the ranks, so that the bits do not depend on who came first."""
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
    """The ranks of the session become LightGBM's machines."""
    global _network
    if session.world_size > 1:
        _network = _Network(session.runtime)


def end():
    global _network
    if _network is not None:
        _network.close()
        _network = None


def get_network_params():
    """What the params of lightgbm.train() need so that the ranks train together: params.update(get_network_params())."""
    if not _current.is_running():
        warnings.warn("get_network_params() has nothing to tell outside of the train function of a LightGBMTrainer", RuntimeWarning, stacklevel=2)
        return {}
    if _network is None:
        return {}
    return {"num_machines": _current.session().world_size, "pre_partition": True}
