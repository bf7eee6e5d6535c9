"""What is left of an epoch's data behind so many batches, for each kind that model.fit() takes."""

import itertools
from contextlib import contextmanager

from . import _order


@contextmanager
def behind(model, data, count, batch_size, steps_per_epoch):
    """The words for model.fit(): data, and how many steps. Keras 2 skips where it takes the batches, behind what a strategy has made of the dataset; Keras 3
    gets data that begins later."""
    words = {"steps_per_epoch": steps_per_epoch, "shuffle": False}  # Keras would shuffle arrays, and the batches of a PyDataset, in another order each time
    if _order.is_arrays(data):
        words["batch_size"] = batch_size or 32
    elif batch_size is not None:
        raise ValueError("fit(batch_size=...) is for arrays: batch the dataset itself")
    is_keras_2 = not hasattr(model, "metrics_variables")
    if count and is_keras_2:
        with _skipping(model, count):
            yield {**words, **_xy(data)}
        return
    if count:
        data = _later(data, count, words.get("batch_size"))
        words["steps_per_epoch"] = steps_per_epoch and steps_per_epoch - count
    yield {**words, **_xy(data)}


def _xy(data):
    if not _order.is_arrays(data):
        return {"x": data}
    given = data if isinstance(data, (tuple, list)) else (data,)
    return dict(zip(("x", "y", "sample_weight"), given))


def _later(data, count, batch_size):
    if _order.is_arrays(data):
        return _order.behind(data, count * batch_size)
    if hasattr(data, "skip"):  # a tf.data.Dataset
        return data.skip(count)
    if hasattr(data, "__getitem__") and hasattr(data, "__len__") and not hasattr(data, "__iter__"):
        return _later_batches(data, count)
    # Keras takes generators of tuples, and no other iterators.
    return (tuple(batch) if isinstance(batch, list) else batch for batch in itertools.islice(iter(data), count, None))


def _later_batches(data, count):
    """Of a PyDataset."""
    import keras

    class Later(keras.utils.PyDataset):
        num_batches = property(lambda self: len(data) - count)

        def __len__(self):
            return len(data) - count

        def __getitem__(self, number):
            return data[number + count]

    return Later()


@contextmanager
def _skipping(model, count):
    """The first call of the train function takes so many batches before its own, and steps are counted from there."""
    model.make_train_function()
    train, left = model.make_train_function(), [count]

    def train_behind(iterator, *more):
        while left[0]:
            left[0] -= 1
            next(iterator)
        return train(iterator, *more)

    counters = getattr(model, "_maybe_load_initial_counters_from_ckpt", None)
    try:
        model.train_function = train_behind
        if counters is not None:
            model._maybe_load_initial_counters_from_ckpt = lambda _, epoch: (epoch, count)
        yield
    finally:
        model.train_function = train
        if counters is not None:
            del model._maybe_load_initial_counters_from_ckpt
