"""Stores JAX arrays in checkpoints as leaves (entries of a checkpoint). An array that every rank holds completely is stored as one leaf. A sharded array is
stored as one leaf for each shard that this rank holds."""

import numpy

from ..._support._host_leaf import HostLeaf


class JaxArray:
    """A JAX array that is stored in checkpoints.

    Parameters: `name` in the checkpoint; `get()` returns the current array; `set(array)` stores the restored one, which has the sharding of the current one.
    """

    def __init__(self, name, get, set):
        self._name, self._get, self._set = name, get, set
        self._restored = {}  # restored arrays by the boxes of their shards

    def leaves(self):
        """Returns the HostLeafs of the array."""
        array = _data(self._get())
        if _is_complete(array):
            return [HostLeaf(self._name, array.shape, array.dtype, lambda: _host_array(_data(self._get())), self._set_complete)]
        boxes = list(_shards(array))
        return [self._leaf_of(array, box, boxes) for box in boxes]

    def _leaf_of(self, array, box, boxes):
        def write(part):
            self._restored[box] = part
            if len(self._restored) == len(boxes):
                self._set_shards()

        shape = [end - first for first, end in box]
        return HostLeaf(self._name, shape, array.dtype, lambda: numpy.asarray(_shards(_data(self._get()))[box].data), write,
                        box=([first for first, _ in box], list(array.shape)))

    def _set_complete(self, array):
        import jax
        before = self._get()
        like = _data(before)
        if not like.is_fully_addressable:
            found = jax.make_array_from_callback(like.shape, like.sharding, lambda index: array[index])
        elif getattr(like, "_committed", True):
            found = jax.device_put(array, like.sharding)
        else:
            found = jax.numpy.asarray(array.item() if like.weak_type and not like.shape else array)
        self._set(_with_kind_of(before, found))

    def _set_shards(self):
        import jax
        before = self._get()
        like = _data(before)
        parts = [jax.device_put(self._restored[_box(shard.index, like.shape)], shard.device) for shard in like.addressable_shards]
        self._restored = {}
        self._set(_with_kind_of(before, jax.make_array_from_single_device_arrays(like.shape, like.sharding, parts)))


class VariableArray(JaxArray):
    """The array of a variable of Keras on JAX."""

    def __init__(self, name, variable):
        super().__init__(name, lambda: variable.value, variable.assign)


def _is_complete(array):
    """Returns whether this process can read all elements of the array."""
    return array.is_fully_addressable or array.is_fully_replicated


def _host_array(array):
    return numpy.asarray(array if array.is_fully_addressable else array.addressable_data(0))


def _shards(array):
    """Returns the shards of this process, as {box: shard}. If several devices have the same shard, the first counts."""
    return {_box(shard.index, array.shape): shard for shard in reversed(array.addressable_shards)}


def _box(index, shape):
    """Returns (first, end) for each axis, where `end` is exclusive."""
    return tuple(each.indices(extent)[:2] for each, extent in zip(index, shape))


def _is_random_key(array):
    import jax
    return jax.dtypes.issubdtype(array.dtype, jax.dtypes.prng_key)


def _data(array):
    """Returns the numbers in an array of random keys; other arrays unchanged."""
    import jax
    return jax.random.key_data(array) if _is_random_key(array) else array


def _with_kind_of(before, array):
    """Returns `array` as random keys if `before` has random keys, else unchanged."""
    import jax
    return jax.random.wrap_key_data(array, impl=jax.random.key_impl(before)) if _is_random_key(before) else array
