"""Translates the configs of a Trainer into keys of trainrt's config (`trainrt help config`), and notes which arguments have no effect."""

from .._sessions._sink_callback import SinkCallback
from . import _paths
from ._storage import PathInFilesystem, is_object_store

NO_LIMIT = 1000000000  # maximum of failure.max_failures


# Default of metrics.sinks for runs of a Trainer: as in Ray Train, TensorBoard can show them.
DEFAULTS = {"metrics.sinks": "csv, hdf5, progress, tensorboard"}


def settings(scaling=None, run=None):
    """Returns the config keys of a ScalingConfig and a RunConfig, as {key: text}. Values that are not given are left to the launch, the config
    file or the default."""
    found = {**(_scaling_settings(scaling) if scaling is not None else {}), **(_run_settings(run) if run is not None else {})}
    return {key: str(value) for key, value in found.items() if value is not None}


def arguments(found):
    """Returns settings as arguments of trainrt's command line."""
    return [f"--{key}={_paths.escaped(key, text)}" for key, text in found.items()]


def trust_arguments(users):
    """Returns the argument that lets trainrt continue runs and sweeps of these users."""
    return [f"--trust-owner={users}"] if users else []


def _scaling_settings(scaling):
    is_elastic = isinstance(scaling.num_workers, tuple)
    return {"scaling.num_workers": scaling.max_workers, "scaling.min_workers": scaling.min_workers if is_elastic else None,
            "scaling.gpus_per_worker": scaling.num_gpus_per_worker}


def _run_settings(run):
    path = None if isinstance(run.storage_path, PathInFilesystem) else run.storage_path
    found = {"run.name": run.name, "checkpoint.mirror" if is_object_store(path) else "run.storage_path": path}
    found.update(_checkpoint_settings(run.checkpoint_config))
    if run.given("failure_config") is not None:
        limit = run.failure_config.max_failures
        found["failure.max_failures"] = NO_LIMIT if limit < 0 else limit
    if run.verbose:
        found["metrics.progress"] = "all" if run.verbose >= 2 else "auto"
    is_quiet = run.logging_config.hides_notes() and not run.verbose
    return {**found, **_stop_settings(run.stop), **_sink_settings(run.callbacks, is_quiet)}


def _sink_settings(callbacks, is_quiet):
    """Returns the keys of the callbacks for trackers, which add sinks to the default ones. `is_quiet`: without the sink that prints the progress.
    Raises ValueError for two callbacks of one tracker."""
    defaults = ["csv", "hdf5", *([] if is_quiet else ["progress"]), "tensorboard"]
    found, names = {}, []
    for callback in callbacks or ():
        if isinstance(callback, SinkCallback):
            if callback.sink in names:
                raise ValueError(f"RunConfig(callbacks=...): there are two {type(callback).__name__}; a run has one per tracker")
            names.append(callback.sink)
            found.update(callback.settings())
    return {**found, "metrics.sinks": ", ".join([*defaults, *names])} if names or is_quiet else {}


def _checkpoint_settings(config):
    return {"checkpoint.num_to_keep": config.num_to_keep, "checkpoint.score_attribute": config.checkpoint_score_attribute,
            "checkpoint.score_order": config.checkpoint_score_order if config.checkpoint_score_attribute else None}


def _stop_settings(stop):
    """Returns keys of [stop]: a report with at least the given value ends the run."""
    if not stop:
        return {}
    if not isinstance(stop, dict):
        raise ValueError(f"RunConfig(stop={stop!r}): it must be a dict, such as {{'training_iteration': 10}}. Instead of a function, let the train function "
                         f"return, or call trainrt.context().request_stop(reason)")
    for name, value in stop.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"RunConfig(stop={{{name!r}: {value!r}}}): it must be a number; a report with at least this value ends the run")
    return {f"stop.{name}": f">= {value}" for name, value in stop.items()}


# ---- arguments without effect ----------------------------------------------------------------------------------------------


def notes(scaling=None, run=None):
    """Returns a note for each given argument that has no effect."""
    return [*(_scaling_notes(scaling) if scaling is not None else ()), *(_run_notes(run) if run is not None else ())]


def _scaling_notes(scaling):
    if scaling.trainer_resources is not None:
        yield "ScalingConfig(trainer_resources=...) changes nothing: no separate process coordinates the ranks"
    if scaling.placement_strategy != "PACK":
        yield f"ScalingConfig(placement_strategy={scaling.placement_strategy!r}) changes nothing: Slurm places the ranks (srun --distribution)"
    if scaling.accelerator_type is not None:
        yield f"ScalingConfig(accelerator_type={scaling.accelerator_type!r}) changes nothing: request such nodes from Slurm (--constraint, --gres)"
    others = sorted(name for name in scaling.additional_resources_per_worker if not name.startswith("accelerator_type:"))
    if others:
        yield f"ScalingConfig(resources_per_worker=...): {', '.join(others)} changes nothing: request it from Slurm (--mem-per-cpu, --gres)"
    if scaling.elastic_resize_monitor_interval_s != 60:
        yield "ScalingConfig(elastic_resize_monitor_interval_s=...) changes nothing: the number of ranks changes only when a job starts"
    if scaling.label_selector or scaling.bundle_label_selector:
        yield "ScalingConfig(label_selector=...) changes nothing: request such nodes from Slurm (--constraint)"


def _run_notes(run):
    if run.sync_config is not None and not run.sync_config.sync_artifacts:
        yield "RunConfig(sync_config=...) changes nothing without sync_artifacts=True: the ranks write into the run directory"
    if run.progress_reporter is not None:
        yield "RunConfig(progress_reporter=...) changes nothing: trainrt prints the progress (verbose=2 prints every report)"
    if run.log_to_file:
        yield "RunConfig(log_to_file=...) changes nothing: the output of each rank is in the run directory (logs/rank-00000.log and so on)"
    if set(run.worker_runtime_env or ()) - {"env_vars"}:
        yield "RunConfig(worker_runtime_env=...): keys other than env_vars change nothing; the ranks use the environment of the script"
    checkpoints, failures = run.checkpoint_config, run.failure_config
    if checkpoints.checkpoint_frequency or checkpoints.checkpoint_at_end is not None:
        yield "CheckpointConfig: checkpoint_frequency and checkpoint_at_end change nothing: the train function reports its checkpoints"
    if failures.fail_fast:
        yield "FailureConfig(fail_fast=...) changes nothing: the first failure of a rank always stops the other ranks"
    if failures.controller_failure_limit != -1 or failures.max_preemption_failures != -1:
        yield ("FailureConfig: controller_failure_limit and max_preemption_failures change nothing: preemption is not counted, and the key "
               "failure.max_requeues limits requeues")
    if failures.relax_collectives_on_preemption or failures.preemption_grace_s:
        yield ("FailureConfig: relax_collectives_on_preemption and preemption_grace_s change nothing: a preemption signal stops all ranks at the same "
               "step")
