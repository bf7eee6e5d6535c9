"""init() and what goes with it: Ray's names for a cluster, where there is none to start."""

import os
import sys

_limits = {}  # num_cpus, num_gpus of init()
_env_vars = {}  # of init(runtime_env={"env_vars": ...}), as texts
_is_initialized = False
_WHY = {"address": "there is no head node to connect to: ranks are started by srun, or by fit() itself",
        "runtime_env": "but for env_vars the ranks have the environment that the script is started in",
        "_": "there is no cluster of its own to configure"}


def init(address=None, *, num_cpus=None, num_gpus=None, runtime_env=None, **others):
    """num_cpus and num_gpus limit the ranks that fit() starts on this machine, and runtime_env's env_vars are set on the ranks of each
    fit(); nothing else changes anything, and one line an argument says so. Not needed."""
    global _is_initialized
    for name, value in (("num_cpus", num_cpus), ("num_gpus", num_gpus)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0):
            raise ValueError(f"trainrt.init({name}={value!r}): it must be a number, 0 or more")
    _limits.update({name: value for name, value in (("num_cpus", num_cpus), ("num_gpus", num_gpus)) if value is not None})
    _env_vars.update(_env_vars_of(runtime_env))
    given = {"address": address, "runtime_env": set(runtime_env or ()) - {"env_vars"} or None, **others}
    for name in (name for name, value in given.items() if value is not None and name not in ("ignore_reinit_error", "logging_level")):
        if os.environ.get("RANK", "0") == "0":
            print(f"trainrt: init({name}=...) changes nothing: {_WHY.get(name, _WHY['_'])}", file=sys.stderr, flush=True)
    _is_initialized = True
    return cluster_resources()


def shutdown():
    """Forgets what init() was given."""
    global _is_initialized
    _is_initialized = False
    _limits.clear()
    _env_vars.clear()


def _env_vars_of(runtime_env):
    if runtime_env is not None and not isinstance(runtime_env, dict):
        raise TypeError(f"trainrt.init(runtime_env={runtime_env!r}): it must be a dict such as {{'env_vars': {{'NAME': 'value'}}}}")
    found = (runtime_env or {}).get("env_vars") or {}
    if not isinstance(found, dict):
        raise TypeError(f"trainrt.init(runtime_env={{'env_vars': {found!r}}}): it must be a dict such as {{'NAME': 'value'}}")
    return {str(name): str(value) for name, value in found.items()}


def env_vars():
    """What the ranks of a fit() have in their environment beside the script's."""
    return dict(_env_vars)


def is_initialized():
    return _is_initialized


def _visible_gpus():
    """How many a process here may use: CUDA_VISIBLE_DEVICES, else what the driver shows."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return len([each for each in named.split(",") if each.strip() not in ("", "-1")])
    try:
        return len(os.listdir("/proc/driver/nvidia/gpus"))
    except OSError:
        return 0


def cluster_resources():
    """{"CPU": ..., "GPU": ...}: in a Slurm job the CPUs of its tasks, elsewhere this machine's, within the limits of init()."""
    tasks = int(os.environ.get("SLURM_NTASKS", 0)) * int(os.environ.get("SLURM_CPUS_PER_TASK", 1))
    cpus = tasks if tasks and "SLURM_JOB_ID" in os.environ else len(os.sched_getaffinity(0))
    found = {"CPU": float(_limits.get("num_cpus", cpus)), "GPU": float(min(_visible_gpus(), _limits.get("num_gpus", float("inf"))))}
    return {name: amount for name, amount in found.items() if amount}


def available_resources():
    """The same: nothing is held between two runs."""
    return cluster_resources()


def check_fits(scaling):
    """ValueError if ranks on this machine would go beyond what init() was given."""
    each = {"num_cpus": scaling.num_cpus_per_worker or 1, "num_gpus": scaling.num_gpus_per_worker}
    for name, limit in _limits.items():
        wanted = scaling.max_workers * each[name]
        if wanted > limit:
            raise ValueError(f"ScalingConfig(num_workers={scaling.num_workers}) takes {wanted:g} {name[4:-1].upper()}s, and "
                             f"trainrt.init({name}={limit:g}) allows {limit:g}")
