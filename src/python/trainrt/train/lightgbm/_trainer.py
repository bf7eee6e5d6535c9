"""LightGBMTrainer: the train function on every rank, between which LightGBM sums its histograms."""

import functools
from dataclasses import dataclass

from .._sessions import _report
from .._boosting import checked_arguments, checkpoint_rules, matrix_of, mixed_seed, notes_of, segments, table_of
from .._sessions._context import get_context
from ..backend import Backend, BackendConfig
from ..data_parallel_trainer import DataParallelTrainer
from . import _network
from ._callback import RayTrainReportCallback
from ._library import lightgbm


@dataclass
class LightGBMConfig(BackendConfig):
    """The ranks are LightGBM's machines."""

    @property
    def backend_cls(self):
        return _LightGBMBackend


class _LightGBMBackend(Backend):
    def on_training_start(self, worker_group, backend_config):
        from .._sessions import _current
        _network.begin(_current.session())

    def on_shutdown(self, worker_group, backend_config):
        _network.end()


def _boost(config, *, label_column, num_boost_round, names, frequency, at_end, dataset_params, arguments):
    """The train function of the older form: params, label_column and datasets say all."""
    found = _report.get_checkpoint()
    model = RayTrainReportCallback.get_model(found) if found is not None else None
    done = model.current_iteration() if model is not None else 0
    rows = {}
    for name in names:
        columns, labels = table_of(name, label_column)
        values, features = matrix_of(columns, name)
        if not len(values):
            raise ValueError(f"rank {get_context().get_world_rank()} has no row of the dataset '{name}', and LightGBM wants some on each rank: start "
                             f"fewer ranks")
        rows[name] = lightgbm.Dataset(values, labels, feature_name=features, reference=rows.get("train"), free_raw_data=False, **dataset_params.get(name, {}))
    callbacks = [*arguments.get("callbacks", ())]
    if not any(isinstance(each, RayTrainReportCallback) for each in callbacks):
        callbacks.append(RayTrainReportCallback(frequency=frequency, checkpoint_at_end=at_end))
    params = {"tree_learner": "data_parallel", "deterministic": True, "force_row_wise": True, **config, **_network.get_network_params()}
    stops_early = "early_stopping_round" in config or any(type(each).__name__ == "_EarlyStoppingCallback" for each in callbacks)
    for first, end in segments(done, num_boost_round, 0 if stops_early else frequency):  # to stop early one has to look back
        model = lightgbm.train({**params, "seed": mixed_seed(config.get("seed", 0), first)}, rows["train"], end - first, valid_sets=list(rows.values()),
                               valid_names=list(rows), init_model=_as_restored(model), **{**arguments, "callbacks": callbacks})


def _as_restored(model):
    """What a checkpoint keeps of it."""
    return lightgbm.Booster(model_str=model.model_to_string()) if model is not None else None


class LightGBMTrainer(DataParallelTrainer):
    """Ray Train's, in both forms: a train function that calls lightgbm.train() on its shard, with get_network_params(); or params,
    label_column, num_boost_round and datasets={"train": ..., others to evaluate}, and arguments of lightgbm.train(). The older form
    continues from its newest checkpoint (CheckpointConfig(checkpoint_frequency=10)) up to num_boost_round."""

    def __init__(self, train_loop_per_worker=None, *, train_loop_config=None, lightgbm_config=None, label_column=None, params=None,
                 num_boost_round=None, dataset_params=None, scaling_config=None, run_config=None, datasets=None, dataset_config=None, metadata=None,
                 resume_from_checkpoint=None, validation_config=None, **arguments):
        self._is_older = checked_arguments("LightGBMTrainer", train_loop_per_worker,
                                  {"params": params, "label_column": label_column, "num_boost_round": num_boost_round, "dataset_params": dataset_params,
                                   **arguments})
        if self._is_older:
            if "train" not in (datasets or {}):
                raise ValueError("LightGBMTrainer(params=...): datasets={'train': ...} is missing; others are evaluated after each round")
            frequency, at_end = checkpoint_rules(run_config)
            train_loop_per_worker = functools.partial(
                _boost, label_column=label_column, num_boost_round=100 if num_boost_round is None else num_boost_round,
                names=sorted(datasets, key="train".__ne__), frequency=frequency, at_end=at_end, dataset_params=dataset_params or {}, arguments=arguments)
            train_loop_config = params
        super().__init__(train_loop_per_worker, train_loop_config=train_loop_config, backend_config=lightgbm_config or LightGBMConfig(),
                         scaling_config=scaling_config, run_config=run_config, datasets=datasets, dataset_config=dataset_config, metadata=metadata,
                         resume_from_checkpoint=resume_from_checkpoint, validation_config=validation_config)

    def notes(self):
        return notes_of(super().notes(), self._is_older)

    @staticmethod
    def get_model(checkpoint):
        """The Booster in a checkpoint."""
        return RayTrainReportCallback.get_model(checkpoint)
