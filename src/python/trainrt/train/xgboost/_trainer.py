"""XGBoostTrainer: runs the train function on every rank; XGBoost sums the histograms of the ranks."""

import os
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Callable, Optional

from .._boosting._rounds import mixed_seed, segments
from .._boosting._tables import features_of, table_of
from .._boosting._trainer import BoostingTrainer
from .._config._data import DataConfig
from .._config._run import RunConfig
from .._config._scaling import ScalingConfig
from .._results._checkpoint import Checkpoint
from .._sessions import _report
from .._sessions._context import get_context
from .._sessions._validation import ValidationConfig
from ..backend import BackendConfig
from ._callback import RayTrainReportCallback
from ._library import xgboost


@dataclass
class XGBoostConfig(BackendConfig):
    """Connects the ranks through the tracker that the runtime serves.

    Parameters
    ----------
    xgboost_communicator : 'rabit'
        Only 'rabit' is supported; other values raise NotImplementedError.

    Examples
    --------
    >>> from trainrt.train.xgboost import XGBoostConfig
    >>> XGBoostConfig().xgboost_communicator
    'rabit'
    """

    xgboost_communicator: str = "rabit"

    def __post_init__(self):
        if self.xgboost_communicator != "rabit":
            raise NotImplementedError(f"XGBoostConfig(xgboost_communicator={self.xgboost_communicator!r}): it must be 'rabit'")

    @property
    def train_func_context(self):
        return _communicator_context


@contextmanager
def _communicator_context():
    with xgboost.collective.CommunicatorContext(**_communicator_arguments()) if get_context().get_world_size() > 1 else nullcontext():
        yield


def _communicator_arguments():
    """Returns the arguments with the address of the tracker. XGBoost before 2.1 reads the address from the environment instead."""
    version = tuple(int(part) for part in xgboost.__version__.split(".")[:2])
    if version < (2, 1):
        return {}
    return {"dmlc_tracker_uri": os.environ["DMLC_TRACKER_URI"], "dmlc_tracker_port": int(os.environ["DMLC_TRACKER_PORT"]),
            "dmlc_task_id": os.environ["DMLC_TASK_ID"]}


def _boost(config: dict[str, Any], *, label_column: str, num_boost_round: int, names: list[str], frequency: int, at_end: bool,
           dmatrix_params: dict[str, dict[str, Any]], arguments: dict[str, Any]) -> None:
    """Train function of the older form. `config`: parameters of xgboost.train(); `names`: datasets, 'train' first."""
    found = _report.get_checkpoint()
    model = RayTrainReportCallback.get_model(found) if found is not None else None
    done = model.num_boosted_rounds() if model is not None else 0
    rows = {name: _rows_of(name, label_column, dmatrix_params.get(name, {})) for name in names}
    if "c" in (rows["train"].feature_types or ()):
        config = {"tree_method": "hist", **config}  # before XGBoost 2.0, the default does not support categories
    callbacks = [*arguments.get("callbacks", ())]
    if not any(isinstance(each, RayTrainReportCallback) for each in callbacks):
        callbacks.append(RayTrainReportCallback(frequency=frequency, checkpoint_at_end=at_end))
    evals, seed = [(each, name) for name, each in rows.items()], config.get("seed", config.get("random_state", 0))
    stops_early = "early_stopping_rounds" in arguments or any(isinstance(each, xgboost.callback.EarlyStopping) for each in callbacks)
    for first, end in segments(done, num_boost_round, 0 if stops_early else frequency):  # early stopping needs all rounds in one call of train()
        model = xgboost.train({**config, "seed": mixed_seed(seed, first)}, rows["train"], end - first, evals=evals, xgb_model=_as_restored(model),
                              **{**arguments, "callbacks": callbacks, "verbose_eval": arguments.get("verbose_eval", False)})


def _as_restored(model):
    """Returns the model as it is after saving and loading, so that runs with and without a restart compute the same trees."""
    if model is None:
        return None
    restored = xgboost.Booster()
    restored.load_model(model.save_raw("ubj"))
    return restored


def _rows_of(name, label_column, more):
    columns, labels = table_of(name, label_column)
    values, names = features_of(columns, name)
    return xgboost.DMatrix(values, label=labels, feature_names=names, **{**({"enable_categorical": True} if names is None else {}), **more})


class XGBoostTrainer(BoostingTrainer):
    """Trains boosted trees on all ranks.

    Pass either a train function that calls `xgboost.train()` on its shard, with RayTrainReportCallback among its callbacks, or, in Ray Train's older
    form, `params`, `label_column` and `datasets`. The older form continues from its newest checkpoint up to `num_boost_round`, and computes the same
    trees whether or not it was stopped; `CheckpointConfig(checkpoint_frequency=10)` takes a checkpoint every 10 rounds.

    Parameters
    ----------
    train_loop_per_worker : callable, optional
        Train function.
    train_loop_config : dict, optional
        Config of the train function.
    xgboost_config : XGBoostConfig, optional
    label_column : str, optional
        Older form: column with the labels.
    params : dict, optional
        Older form: parameters of `xgboost.train()`.
    num_boost_round : int, default 10
        Older form: number of rounds.
    dmatrix_params : dict of str to dict, optional
        Older form: further arguments of xgboost.DMatrix, by dataset.
    scaling_config, run_config, dataset_config, metadata, resume_from_checkpoint, validation_config
        As in DataParallelTrainer.
    datasets : dict, optional
        As in DataParallelTrainer. Older form: 'train', and others that are evaluated after each round.
    **arguments
        Older form: further arguments of `xgboost.train()`.

    Raises
    ------
    ValueError
        If arguments are missing or both forms are combined.

    Examples
    --------
    >>> import numpy, xgboost
    >>> from trainrt.train import ScalingConfig
    >>> from trainrt.train.xgboost import RayTrainReportCallback, XGBoostTrainer
    >>> def train_func():
    ...     rows = xgboost.DMatrix(numpy.arange(8.0).reshape(8, 1), label=numpy.arange(8.0))
    ...     xgboost.train({}, rows, 3, callbacks=[RayTrainReportCallback()])
    >>> result = XGBoostTrainer(train_func, scaling_config=ScalingConfig(num_workers=0)).fit()
    >>> XGBoostTrainer.get_model(result.checkpoint).num_boosted_rounds()
    3
    """

    boost = staticmethod(_boost)
    older_defaults = {"num_boost_round": 10, "dmatrix_params": {}}

    def __init__(self, train_loop_per_worker: Optional[Callable[..., Any]] = None, *, train_loop_config: Optional[dict[str, Any]] = None,
                 xgboost_config: Optional[XGBoostConfig] = None, label_column: Optional[str] = None, params: Optional[dict[str, Any]] = None,
                 num_boost_round: Optional[int] = None, dmatrix_params: Optional[dict[str, dict[str, Any]]] = None,
                 scaling_config: Optional[ScalingConfig] = None, run_config: Optional[RunConfig] = None, datasets: Optional[dict[str, Any]] = None,
                 dataset_config: Optional[DataConfig] = None, metadata: Optional[dict[str, Any]] = None,
                 resume_from_checkpoint: Optional[Checkpoint] = None, validation_config: Optional[ValidationConfig] = None, **arguments: Any):
        super().__init__(
            train_loop_per_worker, {"params": params, "label_column": label_column, "num_boost_round": num_boost_round, "dmatrix_params": dmatrix_params},
            arguments, train_loop_config=train_loop_config, backend_config=xgboost_config or XGBoostConfig(), scaling_config=scaling_config,
            run_config=run_config, datasets=datasets, dataset_config=dataset_config, metadata=metadata, resume_from_checkpoint=resume_from_checkpoint,
            validation_config=validation_config)

    @staticmethod
    def get_model(checkpoint: Checkpoint) -> "xgboost.Booster":
        """Returns the model in a checkpoint of this trainer."""
        return RayTrainReportCallback.get_model(checkpoint)
