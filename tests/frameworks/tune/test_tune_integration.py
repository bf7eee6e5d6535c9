#!/usr/bin/python3
"""trainrt.tune.integration: callbacks with Ray Tune's arguments for XGBoost, Lightning, and, if they are installed, LightGBM and Keras."""
import sys
import types
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

sys.path.insert(0, str(BUILD / "python"))
from trainrt import train  # noqa: E402
from trainrt.train import DataParallelTrainer, ScalingConfig  # noqa: E402


def reports_of(function):
    """Returns [metrics without those of trainrt] of a run in this process, and its newest checkpoint."""
    result = DataParallelTrainer(function, scaling_config=ScalingConfig(num_workers=0)).fit()
    names = train._results._auto_metrics.is_added
    return [{name: value for name, value in report.items() if not names(name)} for report in result.reports], result.checkpoint


def require(name):
    try:
        return __import__(name)
    except ImportError as error:
        skip(str(error))


class Stub(types.ModuleType):
    """A module in which every name without underscores is an empty class."""

    def __getattr__(self, name):
        if name.startswith("_"):  # Python's inspect reads __file__ of all modules
            raise AttributeError(name)
        return type(name, (), {})


def lightning_stand_in():
    """Puts modules of Lightning, with the hooks that the test calls, into sys.modules, unless Lightning is installed."""
    try:
        import lightning.pytorch  # noqa: F401
        return
    except ImportError:
        pass
    for name in ("lightning", "lightning.pytorch", "lightning.pytorch.plugins.environments", "lightning.pytorch.strategies"):
        sys.modules[name] = Stub(name)
    hooks = {name: lambda self, *given: None for name in ("on_validation_end", "on_train_end", "on_train_batch_end")}
    sys.modules["lightning.pytorch"].callbacks = types.SimpleNamespace(Callback=type("Callback", (), hooks))


class Value(float):
    def item(self):
        return float(self)


class LightningTrainer:
    def __init__(self, is_checking=False):
        self.sanity_checking, self.callback_metrics = is_checking, {"val_loss": Value(0.5), "val_acc": Value(0.25)}

    def save_checkpoint(self, path):
        Path(path).write_text("weights")


@test
def lightning_reports_chosen_metrics_and_a_checkpoint_at_the_chosen_hooks():
    lightning_stand_in()
    from trainrt.tune.integration.pytorch_lightning import TuneReportCallback, TuneReportCheckpointCallback

    def function():
        callback = TuneReportCheckpointCallback({"loss": "val_loss"}, filename="trainer.ckpt", on=["validation_end", "train_end"])
        callback.on_validation_end(LightningTrainer(is_checking=True), None)
        callback.on_validation_end(LightningTrainer(), None)
        callback.on_train_batch_end(LightningTrainer(), None, None, None, 0)
        callback.on_train_end(LightningTrainer(), pl_module=None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            TuneReportCallback(["val_acc", "typo"]).on_validation_end(LightningTrainer(), None)
        return [str(each.message) for each in caught]

    reports, checkpoint = reports_of(function)
    equal(reports, [{"loss": 0.5}, {"loss": 0.5}, {"val_acc": 0.25}], "reports")
    equal((Path(checkpoint.path) / "trainer.ckpt").read_text(), "weights", "checkpoint")
    raises(ValueError, "Invalid hook selected: validation_over", "validation_end", of=lambda: TuneReportCheckpointCallback(on="validation_over"))


@test
def xgboost_reports_renamed_metrics_and_checkpoints_of_every_second_round():
    np, xgboost = require("numpy"), require("xgboost")
    from trainrt.tune.integration.xgboost import TuneReportCallback, TuneReportCheckpointCallback

    def function():
        rows = xgboost.DMatrix(np.arange(8.0).reshape(8, 1), label=np.arange(8.0))
        callback = TuneReportCheckpointCallback({"error": "train-rmse"}, filename="mine.json", frequency=2, checkpoint_at_end=False,
                                                results_postprocessing_fn=lambda found: {**found, "more": 1})
        xgboost.train({}, rows, 3, evals=[(rows, "train")], verbose_eval=False, callbacks=[callback])

    reports, checkpoint = reports_of(function)
    equal([sorted(each) for each in reports], [["error", "more"]] * 3, "reports")
    equal(TuneReportCheckpointCallback.get_model(checkpoint, "mine.json").num_boosted_rounds(), 2, "rounds of the last checkpoint")
    raises(DeprecationWarning, "TuneReportCheckpointCallback", of=TuneReportCallback)


@test
def lightgbm_reports_renamed_metrics_and_the_last_model():
    np, lightgbm = require("numpy"), require("lightgbm")
    from trainrt.tune.integration.lightgbm import TuneReportCheckpointCallback

    def function():
        rows = lightgbm.Dataset(np.arange(100.0).reshape(100, 1), np.arange(100.0))
        lightgbm.train({"verbosity": -1}, rows, 2, valid_sets=[rows], valid_names=["train"], callbacks=[TuneReportCheckpointCallback({"error": "train-l2"})])

    reports, checkpoint = reports_of(function)
    equal({name for each in reports for name in each}, {"error"}, "reports")
    equal(TuneReportCheckpointCallback.get_model(checkpoint).current_iteration(), 2, "rounds")


@test
def keras_reports_renamed_metrics_and_the_model():
    np, keras = require("numpy"), require("keras")
    from trainrt.tune.integration.keras import TuneReportCheckpointCallback

    def function():
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(np.ones((8, 1)), np.ones(8), epochs=2, verbose=0, callbacks=[TuneReportCheckpointCallback(metrics={"error": "loss"})])

    reports, checkpoint = reports_of(function)
    equal([sorted(each) for each in reports], [["error"]] * 2, "reports")
    equal(checkpoint.get_metadata()["epochs"], 2, "checkpoint")


main()
