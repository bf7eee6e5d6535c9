"""An array of JAX as leaves of a checkpoint: one that every rank has whole as it is, a sharded one as the shards that this rank has."""

import numpy

from ..._support._host_leaf import HostLeaf


class JaxArray:
    """`now()` gives the array, `put(array)` takes the restored one, once all of its parts have come, with the sharding of the one before."""

    def __init__(self, name, now, put):
        self._name, self._now, self._put = name, now, put
        self._came = {}  # index of a shard -> array

    def leaves(self):
        array = _data(self._now())
        if _is_whole(array):
            return [HostLeaf(self._name, array.shape, array.dtype, lambda: _host(_data(self._now())), self._put_whole)]
        indices = list(_shards(array))
        return [self._leaf_of(array, index, indices) for index in indices]

    def _leaf_of(self, array, index, indices):
        def write(part):
            self._came[index] = part
            if len(self._came) == len(indices):
                self._put_shards()

        shape = [last - first for first, last in index]
        return HostLeaf(self._name, shape, array.dtype, lambda: numpy.asarray(_shards(_data(self._now()))[index].data), write,
                        box=([first for first, _ in index], list(array.shape)))

    def _put_whole(self, array):
        import jax
        before = self._now()
        like = _data(before)
        if not like.is_fully_addressable:
            found = jax.make_array_from_callback(like.shape, like.sharding, lambda index: array[index])
        elif getattr(like, "_committed", True):
            found = jax.device_put(array, like.sharding)
        else:
            found = jax.numpy.asarray(array.item() if like.weak_type and not like.shape else array)
        self._put(_like(before, found))

    def _put_shards(self):
        import jax
        before = self._now()
        like = _data(before)
        parts = [jax.device_put(self._came[_box(shard.index, like.shape)], shard.device) for shard in like.addressable_shards]
        self._came = {}
        self._put(_like(before, jax.make_array_from_single_device_arrays(like.shape, like.sharding, parts)))


class VariableArray(JaxArray):
    """Of a variable of Keras on JAX."""

    def __init__(self, name, variable):
        super().__init__(name, lambda: variable.value, variable.assign)


def _is_whole(array):
    return array.is_fully_addressable or array.is_fully_replicated


def _host(array):
    return numpy.asarray(array if array.is_fully_addressable else array.addressable_data(0))


def _shards(array):
    """{box: a shard}: several devices may hold the same one."""
    return {_box(shard.index, array.shape): shard for shard in reversed(array.addressable_shards)}


def _box(index, shape):
    """((first, behind the last) of each axis)."""
    return tuple(each.indices(extent)[:2] for each, extent in zip(index, shape))


def _is_key(array):
    import jax
    return jax.dtypes.issubdtype(array.dtype, jax.dtypes.prng_key)


def _data(array):
    """The numbers of an array of random keys."""
    import jax
    return jax.random.key_data(array) if _is_key(array) else array


def _like(before, array):
    import jax
    return jax.random.wrap_key_data(array, impl=jax.random.key_impl(before)) if _is_key(before) else array
