"""fit(): Keras' fit() that may stop behind any batch, and goes on with the next."""

from .._sessions import _framework_state
from .._sessions._report import report
from . import _epoch_data, _order, _random
from ._event_callback import EventCallback
from ._callback_counters import Counted
from ._epoch_metrics import MetricParts
from ._report_callback import chosen_metrics
from ._joined_fits import Spanned
from ._state import keep


def fit(model, data, *, epochs, callbacks=(), metrics=None, batch_size=None, steps_per_epoch=None, verbose=0, **arguments):
    """model.fit() over the ranks of a run, epoch by epoch: each batch is a point where the run may stop (and a checkpoint is taken, if one is due), each
    epoch is reported, and a start after a stop, a kill or a requeue goes on behind the last batch that a checkpoint holds, as if nothing had been. Returns
    Keras' History of the epochs of this start. It calls load_state(): call it once in a run, on all ranks, with a model that is built and compiled.

    data: a function of the number of the epoch that gives what model.fit() takes as x (a tf.data.Dataset, a DataLoader, a PyDataset, a generator, arrays
    (x, y)): the same batches each time it is called with the same number. Or a dataset that gives the same batches in each epoch. Or arrays (x, y), which are
    shuffled by run.seed and the epoch. metrics: what is reported of Keras' logs, as ReportCheckpointCallback takes it; None: all.
    Other arguments, as validation_data, are those of model.fit().

    In checkpoints: weights, the optimizer's variables, the numbers that callbacks count (of EarlyStopping, ReduceLROnPlateau), the place in the data, the
    metrics of the epoch so far, and the states of random generators. Not: the order of what shuffles itself (Dataset.shuffle() without
    reshuffle_each_iteration=False, a DataLoader without a seeded generator), weights that EarlyStopping keeps (restore_best_weights), and the masks of
    Dropout in Keras 2, unless tf.keras.backend.experimental.enable_tf_random_generator() was called.
    """
    _check(model, epochs, arguments)
    parts = MetricParts(model)
    kept = keep(model, {"epoch": 0, "batch": 0, "stopped": False, "callbacks": "{}"}, [parts.leaf()])
    counted = Counted(list(callbacks))
    with Spanned(model, list(callbacks)) as spanned:
        while kept["epoch"] < epochs and not kept["stopped"]:
            epoch, skipped = kept["epoch"], kept["batch"]
            position = _Position(kept, counted, parts, metrics, epoch, skipped)
            x = _order.of_epoch(data, epoch, _seed())
            with _epoch_data.behind(model, x, skipped, batch_size, steps_per_epoch) as words:
                model.fit(**words, epochs=epoch + 1, initial_epoch=epoch, callbacks=[*spanned.callbacks, position], verbose=verbose, **arguments)
            spanned.take_history()
    return spanned.history


def _seed():
    ctx = _framework_state.runtime()
    return ctx.seed if ctx is not None else 0


def _check(model, epochs, arguments):
    if isinstance(epochs, bool) or not isinstance(epochs, int) or epochs < 0:
        raise ValueError(f"fit(epochs={epochs!r}): it must be a whole number, 0 or more")
    if getattr(model, "optimizer", None) is None:
        raise ValueError(f"the model {model.name} is not compiled: call model.compile(optimizer, loss) before fit()")
    for name, why in (("x", "data is the second argument"), ("y", "data is (x, y), or a function of the epoch"),
                      ("initial_epoch", "the checkpoint says where to go on"), ("shuffle", "arrays are shuffled by seed and epoch; give a function of the epoch for "
                       "another order"), ("validation_split", "give validation_data")):
        if name in arguments:
            raise ValueError(f"fit({name}=...) is not taken: {why}")


class _Position(EventCallback):
    """Behind all other callbacks: says to the runtime where the training stands."""

    def __init__(self, kept, counted, parts, metrics, epoch, skipped):
        super().__init__(["train_begin", "train_batch_begin", "train_batch_end", "epoch_end"])
        self._kept, self._callback_counters, self._metrics = kept, counted, metrics
        self._parts = parts if skipped else None
        self._epoch, self._done, self._begun = epoch, skipped, 0

    def _handle(self, event, number, logs):
        if event == "train_begin":
            self._callback_counters.begin(self._kept["callbacks"])
        elif event == "train_batch_begin":
            self._begun = number
            _random.seed_step()
        elif event == "train_batch_end":
            self._done += number - self._begun + 1
            if self._parts is not None:
                self._parts = self._parts.add_restored()  # None: once
            _framework_state.step({"batch": self._done, "callbacks": self._callback_counters.text()})
        else:
            self._kept.change({"epoch": self._epoch + 1, "batch": 0, "stopped": bool(self._model.stop_training), "callbacks": self._callback_counters.text()})
            report(chosen_metrics(self._metrics, logs))
