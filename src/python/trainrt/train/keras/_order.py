"""The data of an epoch, as a function of its number."""

import hashlib

from ..._client.values import kind_of


def of_epoch(data, epoch, seed):
    """Returns the data for model.fit(): the value of a function of the epoch, arrays in the order of the epoch, other data unchanged. Raises
    TypeError for an iterator."""
    if is_arrays(data):
        order = _generator(seed, epoch).permutation(len(_first_array(data)))
        return _mapped(data, lambda array: array[order])
    if callable(data) and not hasattr(data, "__iter__") and not hasattr(data, "__getitem__"):
        return data(epoch)
    if hasattr(data, "__next__"):
        raise TypeError(f"fit() was given {kind_of(data)}, which ends after its first epoch; pass a function of the epoch that returns a new one")
    return data


def is_arrays(data):
    """Returns whether `data` is an array, or a non-empty tuple, list or dict of arrays."""
    if isinstance(data, (tuple, list)):
        return bool(data) and all(each is None or is_arrays(each) for each in data) and data[0] is not None
    if isinstance(data, dict):
        return bool(data) and all(map(is_arrays, data.values()))
    return hasattr(data, "__array__") and hasattr(data, "shape") and bool(data.shape)


def without_first(data, count):
    """Returns the arrays without their first `count` elements."""
    return _mapped(data, lambda array: array[count:])


def _mapped(data, function):
    if data is None:
        return None
    if isinstance(data, dict):
        return {name: _mapped(each, function) for name, each in data.items()}
    if isinstance(data, (tuple, list)):
        return type(data)(_mapped(each, function) for each in data)
    import numpy
    return function(numpy.asarray(data))


def _first_array(data):
    if isinstance(data, dict):
        return _first_array(next(iter(data.values())))
    return _first_array(data[0]) if isinstance(data, (tuple, list)) else data


def _generator(seed, epoch):
    import numpy
    digest = hashlib.blake2b(f"keras/{seed}/{epoch}".encode(), digest_size=8).digest()
    return numpy.random.default_rng(int.from_bytes(digest, "little"))
