"""From the configs of a Trainer to keys of trainrt's config, as texts: `trainrt help config` has them all."""

from . import _filesystem, _paths
from ._run_config import is_store

NO_LIMIT = 1000000000  # the most that failure.max_failures takes


def settings(scaling=None, run=None):
    """{key: text}. What the script leaves out is not there: the launch or the config file says it, or the default."""
    found = {**(_of_scaling(scaling) if scaling is not None else {}), **(_of_run(run) if run is not None else {})}
    return {key: str(value) for key, value in found.items() if value is not None}


def words(found):
    """The same, as words of trainrt's command line."""
    return [f"--{key}={_paths.for_config(key, text)}" for key, text in found.items()]


def trust_words(users):
    """What makes trainrt continue a run or sweep of these users."""
    return [f"--trust-owner={users}"] if users else []


def _of_scaling(scaling):
    elastic = isinstance(scaling.num_workers, tuple)
    return {"scaling.num_workers": scaling.most_workers, "scaling.min_workers": scaling.least_workers if elastic else None,
            "scaling.gpus_per_worker": scaling.num_gpus_per_worker}


def _of_run(run):
    found = {"run.name": run.name, "checkpoint.mirror" if is_store(run.storage_path) else "run.storage_path": run.storage_path}
    if run.storage_filesystem is not None:
        found.update(_filesystem.settings_of(run.storage_filesystem))
    if run.checkpoint_config is not None:
        found.update(_of_checkpoints(run.checkpoint_config))
    if run.failure_config is not None:
        limit = run.failure_config.max_failures
        found["failure.max_failures"] = NO_LIMIT if limit < 0 else limit
    if run.verbose:
        found["metrics.progress"] = "all" if run.verbose >= 2 else "auto"
    return {**found, **_of_stop(run.stop)}


def _of_checkpoints(config):
    return {"checkpoint.num_to_keep": config.num_to_keep, "checkpoint.score_attribute": config.checkpoint_score_attribute,
            "checkpoint.score_order": config.checkpoint_score_order if config.checkpoint_score_attribute else None}


def _of_stop(stop):
    """A dict is trainrt's [stop]: as there, a report that has the number or more ends the run, well."""
    if not stop:
        return {}
    if not isinstance(stop, dict):
        raise ValueError(f"RunConfig(stop={stop!r}): it must be a dict such as {{'training_iteration': 10}}; what a function decides, the "
                         f"train function can: return, or trainrt.context().request_stop(reason)")
    for name, value in stop.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"RunConfig(stop={{{name!r}: {value!r}}}): it must be a number, at which the run is done")
    return {f"stop.{name}": f">= {value}" for name, value in stop.items()}


# ---- what makes no difference here -----------------------------------------------------------------------------------------


def notes(scaling=None, run=None):
    """A line for each thing that was given and changes nothing, and why."""
    return [*(_notes_of_scaling(scaling) if scaling is not None else ()), *(_notes_of_run(run) if run is not None else ())]


def _notes_of_scaling(scaling):
    if scaling.trainer_resources is not None:
        yield "ScalingConfig(trainer_resources=...) changes nothing: no process of its own coordinates the ranks"
    if scaling.placement_strategy != "PACK":
        yield f"ScalingConfig(placement_strategy={scaling.placement_strategy!r}) changes nothing: Slurm places the ranks (srun --distribution)"
    if scaling.accelerator_type is not None:
        yield f"ScalingConfig(accelerator_type={scaling.accelerator_type!r}) changes nothing: ask Slurm for such nodes (--constraint, --gres)"
    others = sorted(scaling.additional_resources_per_worker)
    if others:
        yield f"ScalingConfig: resources_per_worker of {', '.join(others)} changes nothing: ask Slurm for it (--mem-per-cpu, --gres)"
    if scaling.elastic_resize_monitor_interval_s is not None:
        yield "ScalingConfig(elastic_resize_monitor_interval_s=...) changes nothing: the number of ranks changes when a job starts again"
    if scaling.label_selector or scaling.bundle_label_selector:
        yield "ScalingConfig(label_selector=...) changes nothing: ask Slurm for such nodes (--constraint)"


def _notes_of_run(run):
    if run.sync_config is not None:
        yield "RunConfig(sync_config=...) changes nothing: the ranks write into the run directory themselves"
    if run.progress_reporter is not None:
        yield "RunConfig(progress_reporter=...) changes nothing: trainrt shows the progress (verbose=2: every report)"
    if run.log_to_file:
        yield "RunConfig(log_to_file=...) changes nothing: logs/rank-00000.log and so on of the run directory have each rank's output"
    if set(run.worker_runtime_env or ()) - {"env_vars"}:
        yield "RunConfig(worker_runtime_env=...) changes nothing but env_vars: the ranks have the environment that they are started in"
    checkpoints, failures = run.checkpoint_config, run.failure_config
    if checkpoints is not None and (checkpoints.checkpoint_frequency or checkpoints.checkpoint_at_end is not None):
        yield "CheckpointConfig: checkpoint_frequency and checkpoint_at_end change nothing: the train function reports its checkpoints"
    if failures is not None and failures.fail_fast:
        yield "FailureConfig(fail_fast=...) changes nothing: the first failure of a rank always ends the others at once"
    if failures is not None and (failures.controller_failure_limit != -1 or failures.max_preemption_failures != -1):
        yield ("FailureConfig: controller_failure_limit and max_preemption_failures change nothing: preemption counts for no limit, and the "
               "key failure.max_requeues has one for requeues")
