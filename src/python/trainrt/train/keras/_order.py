"""The data of an epoch, as a function of its number."""

import hashlib


def of_epoch(data, epoch, seed):
    """What model.fit() gets: of a function, what it gives; of arrays, themselves in the order of this epoch."""
    if _is_arrays(data):
        first = _first(data)
        order = _generator(seed, epoch).permutation(len(first))
        return _mapped(data, lambda array: array[order])
    if callable(data) and not hasattr(data, "__iter__") and not hasattr(data, "__getitem__"):
        return data(epoch)
    if hasattr(data, "__next__"):
        raise TypeError(f"fit() was given a {type(data).__name__}, which ends with its first epoch: give a function of the epoch that makes one")
    return data


def is_arrays(data):
    return _is_arrays(data)


def behind(data, count):
    """Arrays without their first elements."""
    return _mapped(data, lambda array: array[count:])


def _is_arrays(data):
    if isinstance(data, (tuple, list)):
        return bool(data) and all(each is None or _is_arrays(each) for each in data) and data[0] is not None
    if isinstance(data, dict):
        return bool(data) and all(map(_is_arrays, data.values()))
    return hasattr(data, "__array__") and hasattr(data, "shape") and bool(data.shape)


def _mapped(data, function):
    if data is None:
        return None
    if isinstance(data, dict):
        return {name: _mapped(each, function) for name, each in data.items()}
    if isinstance(data, (tuple, list)):
        return type(data)(_mapped(each, function) for each in data)
    import numpy
    return function(numpy.asarray(data))


def _first(data):
    if isinstance(data, dict):
        return _first(next(iter(data.values())))
    return _first(data[0]) if isinstance(data, (tuple, list)) else data


def _generator(seed, epoch):
    import numpy
    digest = hashlib.blake2b(f"keras/{seed}/{epoch}".encode(), digest_size=8).digest()
    return numpy.random.default_rng(int.from_bytes(digest, "little"))
