"""XGBoostTrainer: the train function on every rank, between which XGBoost sums its histograms."""

import functools
import os
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from .._sessions import _report
from .._boosting import checked_arguments, checkpoint_rules, matrix_of, mixed_seed, notes_of, segments, table_of
from .._sessions._context import get_context
from ..backend import BackendConfig
from ..data_parallel_trainer import DataParallelTrainer
from ._callback import RayTrainReportCallback
from ._library import xgboost


@dataclass
class XGBoostConfig(BackendConfig):
    """The ranks find each other by the tracker that the runtime serves."""

    xgboost_communicator: str = "rabit"

    def __post_init__(self):
        if self.xgboost_communicator != "rabit":
            raise NotImplementedError(f"XGBoostConfig(xgboost_communicator={self.xgboost_communicator!r}): there is only 'rabit'")

    @property
    def train_func_context(self):
        return _communicating


@contextmanager
def _communicating():
    with xgboost.collective.CommunicatorContext(**_arguments()) if get_context().get_world_size() > 1 else nullcontext():
        yield


def _arguments():
    """Before 2.1 it reads them from the environment itself."""
    version = tuple(int(part) for part in xgboost.__version__.split(".")[:2])
    if version < (2, 1):
        return {}
    return {"dmlc_tracker_uri": os.environ["DMLC_TRACKER_URI"], "dmlc_tracker_port": int(os.environ["DMLC_TRACKER_PORT"]),
            "dmlc_task_id": os.environ["DMLC_TASK_ID"]}


def _boost(config, *, label_column, num_boost_round, names, frequency, at_end, dmatrix_params, arguments):
    """The train function of the older form: params, label_column and datasets say all."""
    found = _report.get_checkpoint()
    model = RayTrainReportCallback.get_model(found) if found is not None else None
    done = model.num_boosted_rounds() if model is not None else 0
    rows = {name: _rows_of(name, label_column, dmatrix_params.get(name, {})) for name in names}
    callbacks = [*arguments.get("callbacks", ())]
    if not any(isinstance(each, RayTrainReportCallback) for each in callbacks):
        callbacks.append(RayTrainReportCallback(frequency=frequency, checkpoint_at_end=at_end))
    evals, seed = [(each, name) for name, each in rows.items()], config.get("seed", config.get("random_state", 0))
    stops_early = "early_stopping_rounds" in arguments or any(isinstance(each, xgboost.callback.EarlyStopping) for each in callbacks)
    for first, end in segments(done, num_boost_round, 0 if stops_early else frequency):  # to stop early one has to look back
        model = xgboost.train({**config, "seed": mixed_seed(seed, first)}, rows["train"], end - first, evals=evals, xgb_model=_as_restored(model),
                              **{**arguments, "callbacks": callbacks, "verbose_eval": arguments.get("verbose_eval", False)})


def _as_restored(model):
    """What a checkpoint keeps of it."""
    if model is None:
        return None
    restored = xgboost.Booster()
    restored.load_model(model.save_raw("ubj"))
    return restored


def _rows_of(name, label_column, more):
    columns, labels = table_of(name, label_column)
    values, names = matrix_of(columns, name)
    return xgboost.DMatrix(values, label=labels, feature_names=names, **more)


class XGBoostTrainer(DataParallelTrainer):
    """Ray Train's, in both forms: a train function that calls xgboost.train() on its shard; or params, label_column, num_boost_round and
    datasets={"train": ..., others to evaluate}, and arguments of xgboost.train(). The older form continues from its newest checkpoint
    (CheckpointConfig(checkpoint_frequency=10)) up to num_boost_round."""

    def __init__(self, train_loop_per_worker=None, *, train_loop_config=None, xgboost_config=None, label_column=None, params=None,
                 num_boost_round=None, dmatrix_params=None, scaling_config=None, run_config=None, datasets=None, dataset_config=None, metadata=None,
                 resume_from_checkpoint=None, validation_config=None, **arguments):
        self._is_older = checked_arguments("XGBoostTrainer", train_loop_per_worker,
                                  {"params": params, "label_column": label_column, "num_boost_round": num_boost_round, "dmatrix_params": dmatrix_params,
                                   **arguments})
        if self._is_older:
            if "train" not in (datasets or {}):
                raise ValueError("XGBoostTrainer(params=...): datasets={'train': ...} is missing; others are evaluated after each round")
            frequency, at_end = checkpoint_rules(run_config)
            train_loop_per_worker = functools.partial(
                _boost, label_column=label_column, num_boost_round=10 if num_boost_round is None else num_boost_round, names=sorted(datasets, key="train".__ne__),
                frequency=frequency, at_end=at_end, dmatrix_params=dmatrix_params or {}, arguments=arguments)
            train_loop_config = params
        super().__init__(train_loop_per_worker, train_loop_config=train_loop_config, backend_config=xgboost_config or XGBoostConfig(),
                         scaling_config=scaling_config, run_config=run_config, datasets=datasets, dataset_config=dataset_config, metadata=metadata,
                         resume_from_checkpoint=resume_from_checkpoint, validation_config=validation_config)

    def notes(self):
        return notes_of(super().notes(), self._is_older)

    @staticmethod
    def get_model(checkpoint):
        """The Booster in a checkpoint."""
        return RayTrainReportCallback.get_model(checkpoint)
