"""The remaining data of an epoch after a number of batches, for each kind of data that `model.fit()` takes."""

import itertools
from contextlib import contextmanager

from . import _order


@contextmanager
def remaining(model, data, count, batch_size, steps_per_epoch):
    """Context manager that returns the arguments for model.fit() to train the epoch without its first `count` batches.

    Keras 2 skips the batches while it trains, after a strategy has changed the dataset; Keras 3 gets data that start later. Raises ValueError if
    `batch_size` is given for data other than arrays.
    """
    arguments = {"steps_per_epoch": steps_per_epoch, "shuffle": False}  # Keras would shuffle arrays and PyDatasets in an order that is not reproducible
    if _order.is_arrays(data):
        arguments["batch_size"] = batch_size or 32
    elif batch_size is not None:
        raise ValueError(f"fit(batch_size={batch_size}): it is valid for arrays only; batch the dataset instead")
    is_keras_2 = not hasattr(model, "metrics_variables")
    if count and is_keras_2:
        with _skipping(model, count):
            yield {**arguments, **_xy(data)}
        return
    if count:
        data = _without_first_batches(data, count, arguments.get("batch_size"))
        arguments["steps_per_epoch"] = steps_per_epoch and steps_per_epoch - count
    yield {**arguments, **_xy(data)}


def _xy(data):
    if not _order.is_arrays(data):
        return {"x": data}
    given = data if isinstance(data, (tuple, list)) else (data,)
    return dict(zip(("x", "y", "sample_weight"), given))


def _without_first_batches(data, count, batch_size):
    if _order.is_arrays(data):
        return _order.without_first(data, count * batch_size)
    if hasattr(data, "skip"):  # a tf.data.Dataset
        return data.skip(count)
    if hasattr(data, "__getitem__") and hasattr(data, "__len__") and not hasattr(data, "__iter__"):  # a PyDataset
        return _later_batches(data, count)
    # Keras takes generators of tuples, and no other iterators.
    return (tuple(batch) if isinstance(batch, list) else batch for batch in itertools.islice(iter(data), count, None))


def _later_batches(data, count):
    """Returns a PyDataset of the batches of `data` from number `count` on."""
    import keras

    class LaterBatches(keras.utils.PyDataset):
        num_batches = property(lambda self: len(data) - count)

        def __len__(self):
            return len(data) - count

        def __getitem__(self, number):
            return data[number + count]

    return LaterBatches()


@contextmanager
def _skipping(model, count):
    """Makes the first call of the model's train function skip `count` batches, and the steps start at `count`."""
    model.make_train_function()
    train, left = model.make_train_function(), [count]

    def skip_and_train(iterator, *more):
        while left[0]:
            left[0] -= 1
            next(iterator)
        return train(iterator, *more)

    counters = getattr(model, "_maybe_load_initial_counters_from_ckpt", None)
    try:
        model.train_function = skip_and_train
        if counters is not None:
            model._maybe_load_initial_counters_from_ckpt = lambda _, epoch: (epoch, count)
        yield
    finally:
        model.train_function = train
        if counters is not None:
            del model._maybe_load_initial_counters_from_ckpt
