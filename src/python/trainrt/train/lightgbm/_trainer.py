"""LightGBMTrainer: runs the train function on every rank; LightGBM sums the histograms of the ranks."""

from dataclasses import dataclass
from typing import Any, Callable, Optional

from .._boosting._rounds import mixed_seed, segments
from .._boosting._tables import features_of, table_of
from .._boosting._trainer import BoostingTrainer
from .._config._data import DataConfig
from .._config._run import RunConfig
from .._config._scaling import ScalingConfig
from .._results._checkpoint import Checkpoint
from .._sessions import _current, _report
from .._sessions._context import get_context
from .._sessions._validation import ValidationConfig
from ..backend import Backend, BackendConfig
from . import _network
from ._callback import RayTrainReportCallback
from ._library import lightgbm


@dataclass
class LightGBMConfig(BackendConfig):
    """Connects the ranks as the machines of LightGBM, so that they train one model. It has no options.

    Examples
    --------
    >>> from trainrt.train.lightgbm import LightGBMConfig
    >>> LightGBMConfig()
    LightGBMConfig()
    """

    @property
    def backend_cls(self):
        return _LightGBMBackend


class _LightGBMBackend(Backend):
    def on_training_start(self, worker_group, backend_config):
        _network.begin(_current.session())

    def on_shutdown(self, worker_group, backend_config):
        _network.end()


def _boost(config: dict[str, Any], *, label_column: str, num_boost_round: int, names: list[str], frequency: int, at_end: bool,
           dataset_params: dict[str, dict[str, Any]], arguments: dict[str, Any]) -> None:
    """Train function of the older form. `config`: parameters of lightgbm.train(); `names`: datasets, 'train' first."""
    found = _report.get_checkpoint()
    model = RayTrainReportCallback.get_model(found) if found is not None else None
    done = model.current_iteration() if model is not None else 0
    rows = {}
    for name in names:
        columns, labels = table_of(name, label_column)
        values, features = features_of(columns, name)
        if not len(values):
            raise ValueError(f"rank {get_context().get_world_rank()} has no row of the dataset '{name}', and LightGBM needs rows on each rank; use fewer "
                             f"ranks")
        rows[name] = lightgbm.Dataset(values, labels, feature_name=features or "auto", reference=rows.get("train"), free_raw_data=False,
                                      **dataset_params.get(name, {}))
    callbacks = [*arguments.get("callbacks", ())]
    if not any(isinstance(each, RayTrainReportCallback) for each in callbacks):
        callbacks.append(RayTrainReportCallback(frequency=frequency, checkpoint_at_end=at_end))
    params = {"tree_learner": "data_parallel", "deterministic": True, "force_row_wise": True, **config, **_network.get_network_params()}
    stops_early = "early_stopping_round" in config or any(type(each).__name__ == "_EarlyStoppingCallback" for each in callbacks)
    for first, end in segments(done, num_boost_round, 0 if stops_early else frequency):  # early stopping needs all rounds in one call of train()
        model = lightgbm.train({**params, "seed": mixed_seed(config.get("seed", 0), first)}, rows["train"], end - first, valid_sets=list(rows.values()),
                               valid_names=list(rows), init_model=_as_restored(model), **{**arguments, "callbacks": callbacks})


def _as_restored(model):
    """Returns the model as it is after saving and loading, so that runs with and without a restart compute the same trees."""
    return lightgbm.Booster(model_str=model.model_to_string()) if model is not None else None


class LightGBMTrainer(BoostingTrainer):
    """Trains boosted trees on all ranks.

    Pass either a train function that calls `lightgbm.train()` on its shard, with `get_network_params()` among its parameters and RayTrainReportCallback
    among its callbacks, or, in Ray Train's older form, `params`, `label_column` and `datasets`. The older form continues from its newest checkpoint up to
    `num_boost_round`, and computes the same trees whether or not it was stopped; `CheckpointConfig(checkpoint_frequency=10)` takes a checkpoint every 10
    rounds. Each rank needs rows.

    Parameters
    ----------
    train_loop_per_worker : callable, optional
        Train function.
    train_loop_config : dict, optional
        Config of the train function.
    lightgbm_config : LightGBMConfig, optional
    label_column : str, optional
        Older form: column with the labels.
    params : dict, optional
        Older form: parameters of `lightgbm.train()`.
    num_boost_round : int, default 100
        Older form: number of rounds.
    dataset_params : dict of str to dict, optional
        Older form: further arguments of lightgbm.Dataset, by dataset.
    scaling_config, run_config, dataset_config, metadata, resume_from_checkpoint, validation_config
        As in DataParallelTrainer.
    datasets : dict, optional
        As in DataParallelTrainer. Older form: 'train', and others that are evaluated after each round.
    **arguments
        Older form: further arguments of `lightgbm.train()`.

    Raises
    ------
    ValueError
        If arguments are missing or both forms are combined.

    Examples
    --------
    >>> import lightgbm, numpy
    >>> from trainrt.train import ScalingConfig
    >>> from trainrt.train.lightgbm import LightGBMTrainer, RayTrainReportCallback
    >>> def train_func():
    ...     rows = lightgbm.Dataset(numpy.arange(100.0).reshape(100, 1), numpy.arange(100.0))
    ...     lightgbm.train({"verbosity": -1}, rows, 3, callbacks=[RayTrainReportCallback()])
    >>> result = LightGBMTrainer(train_func, scaling_config=ScalingConfig(num_workers=0)).fit()
    >>> LightGBMTrainer.get_model(result.checkpoint).current_iteration()
    3
    """

    boost = staticmethod(_boost)
    older_defaults = {"num_boost_round": 100, "dataset_params": {}}

    def __init__(self, train_loop_per_worker: Optional[Callable[..., Any]] = None, *, train_loop_config: Optional[dict[str, Any]] = None,
                 lightgbm_config: Optional[LightGBMConfig] = None, label_column: Optional[str] = None, params: Optional[dict[str, Any]] = None,
                 num_boost_round: Optional[int] = None, dataset_params: Optional[dict[str, dict[str, Any]]] = None,
                 scaling_config: Optional[ScalingConfig] = None, run_config: Optional[RunConfig] = None, datasets: Optional[dict[str, Any]] = None,
                 dataset_config: Optional[DataConfig] = None, metadata: Optional[dict[str, Any]] = None,
                 resume_from_checkpoint: Optional[Checkpoint] = None, validation_config: Optional[ValidationConfig] = None, **arguments: Any):
        super().__init__(
            train_loop_per_worker, {"params": params, "label_column": label_column, "num_boost_round": num_boost_round, "dataset_params": dataset_params},
            arguments, train_loop_config=train_loop_config, backend_config=lightgbm_config or LightGBMConfig(), scaling_config=scaling_config,
            run_config=run_config, datasets=datasets, dataset_config=dataset_config, metadata=metadata, resume_from_checkpoint=resume_from_checkpoint,
            validation_config=validation_config)

    @staticmethod
    def get_model(checkpoint: Checkpoint) -> "lightgbm.Booster":
        """Returns the model in a checkpoint of this trainer."""
        return RayTrainReportCallback.get_model(checkpoint)
