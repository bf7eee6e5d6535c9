"""Boosted trees by a trainer of trainrt.train: `boosted_trees.py xgboost|lightgbm NAME WORKERS`. $FORM: older or newer; $KILL_AT: the round
after which rank 1 is killed, once; $ROWS; $RUNS. Prints the last metrics and the digest of each rank's model."""
import hashlib
import json
import os
import signal
import sys

import numpy
import trainrt
from trainrt import train
from trainrt.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig

LIBRARY, NAME, WORKERS = sys.argv[1], sys.argv[2], int(sys.argv[3])
ROUNDS, ROWS = int(os.environ.get("ROUNDS", 20)), int(os.environ.get("ROWS", 1001))
if LIBRARY == "xgboost":
    import xgboost as library
    from trainrt.train.xgboost import RayTrainReportCallback
    from trainrt.train.xgboost import XGBoostTrainer as Trainer
    PARAMS = {"objective": "reg:squarederror", "tree_method": "hist", "subsample": 0.5, "nthread": 1, "max_depth": 3}
    Callback = library.callback.TrainingCallback
else:
    import lightgbm as library
    from trainrt.train.lightgbm import LightGBMTrainer as Trainer
    from trainrt.train.lightgbm import RayTrainReportCallback, get_network_params
    PARAMS = {"objective": "regression", "num_leaves": 7, "num_threads": 1, "verbosity": -1, "metric": "rmse", "min_data_in_leaf": 1}
    Callback = object


def table(seed, rows):
    random = numpy.random.default_rng(seed)
    values = random.normal(size=(rows, 4)).astype("f4")
    return {"first": values[:, 0], "second": values[:, 1], "rest": values[:, 2:], "y": (values[:, 0] * values[:, 1]).astype("f4")}


class Kills(Callback):
    """Kills rank 1, once."""

    def after_iteration(self, model, epoch, evals_log):
        self.look(model.num_boosted_rounds())
        return False

    def __call__(self, env):
        self.look(env.iteration + 1)

    def look(self, rounds):
        marker = os.path.join(os.environ["RUNS"], f"killed-{NAME}")
        if rounds == int(os.environ.get("KILL_AT", 0)) and train.get_context().get_world_rank() == 1 and not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)


def digest_of(model):
    """Returns the digest of the trees, and the number of rows that the first tree covers."""
    if LIBRARY == "xgboost":
        trees = model.get_dump(with_stats=True)
        return hashlib.sha256("".join(trees).encode()).hexdigest(), trees[0].split("cover=")[1].split()[0].rstrip(",")
    trees = model.dump_model()["tree_info"]
    return hashlib.sha256(json.dumps(trees).encode()).hexdigest(), trees[0]["tree_structure"].get("internal_count")


def newer():
    """A train function as a user writes it."""
    columns = train.get_dataset_shard("train").materialize().take_batch(10**6)
    labels = columns.pop("y")
    values = numpy.column_stack([columns["first"], columns["second"], columns["rest"]])
    callbacks = [RayTrainReportCallback(metrics={"error": "own-rmse"}, frequency=5), Kills()]
    if LIBRARY == "xgboost":
        rows = library.DMatrix(values, label=labels)
        model = library.train(PARAMS, rows, ROUNDS, evals=[(rows, "own")], callbacks=callbacks, verbose_eval=False)
    else:
        rows = library.Dataset(values, labels)
        model = library.train({**PARAMS, "tree_learner": "data_parallel", **get_network_params()}, rows, ROUNDS, valid_sets=[rows], valid_names=["own"],
                              callbacks=callbacks)
    print("MODEL", *digest_of(model), flush=True)


if __name__ == "__main__":
    data = {"train": trainrt.data.from_numpy(table(1, ROWS)), "valid": trainrt.data.from_numpy(table(2, 500))}
    common = {"scaling_config": ScalingConfig(num_workers=WORKERS),
              "run_config": RunConfig(name=NAME, storage_path=os.environ["RUNS"], checkpoint_config=CheckpointConfig(checkpoint_frequency=5),
                                      failure_config=FailureConfig(max_failures=int(os.environ.get("FAILURES", 0))))}
    if os.environ.get("FORM") == "newer":
        trainer = Trainer(newer, datasets=data, **common)
    else:
        trainer = Trainer(params=PARAMS, label_column="y", num_boost_round=ROUNDS, datasets=data, callbacks=[Kills()], **common)
    result = trainer.fit()
    model = RayTrainReportCallback.get_model(result.checkpoint)
    digest, cover = digest_of(model)
    print("RESULT", json.dumps({"digest": digest, "cover": float(cover or 0), "rounds": result.metrics["_training_iteration"], "metrics": result.metrics,
                                "features": model.feature_names if LIBRARY == "xgboost" else model.feature_name(),
                                "checkpoints": len(result.best_checkpoints)}), flush=True)
