"""Ray's functions for a cluster. trainrt has no cluster: init() only limits the ranks that fit() starts on this machine, and sets their environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

_limits: dict[str, float] = {}  # arguments num_cpus and num_gpus of init()
_env_vars: dict[str, str] = {}  # of init(runtime_env={"env_vars": ...})
_is_initialized = False
_WHY = {"address": "there is no head node to connect to: ranks are started by srun, or by fit() itself",
        "runtime_env": "except for env_vars, the ranks have the environment of the script",
        "_": "trainrt starts no cluster that this argument could configure"}


def init(address: str | None = None, *, num_cpus: float | None = None, num_gpus: float | None = None, runtime_env: dict[str, Any] | None = None,
         **others: Any) -> dict[str, float]:
    """Limits the ranks that fit() starts on this machine. The call is optional.

    Parameters
    ----------
    num_cpus, num_gpus : float, optional
        Maximum number of CPUs and GPUs.
    runtime_env : dict, optional
        ``{"env_vars": {"NAME": "value"}}`` sets environment variables of the ranks; other keys have no effect.
    address, others
        No effect, which a message on standard error reports.

    Returns
    -------
    dict
        The result of cluster_resources().

    Examples
    --------
    >>> import trainrt
    >>> trainrt.init(num_cpus=2)["CPU"]
    2.0
    >>> trainrt.shutdown()
    """
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


def shutdown() -> None:
    """Removes the limits and variables of init().

    Examples
    --------
    >>> import trainrt
    >>> trainrt.shutdown()
    >>> trainrt.is_initialized()
    False
    """
    global _is_initialized
    _is_initialized = False
    _limits.clear()
    _env_vars.clear()


def is_initialized() -> bool:
    """Returns whether init() was called, without shutdown() after it.

    Examples
    --------
    >>> import trainrt
    >>> trainrt.is_initialized()
    False
    """
    return _is_initialized


def cluster_resources() -> dict[str, float]:
    """Returns {'CPU': number, 'GPU': number}: the CPUs of the tasks of a Slurm job, otherwise those of this machine, within the limits of init().

    Examples
    --------
    >>> import trainrt
    >>> trainrt.cluster_resources()["CPU"] >= 1
    True
    """
    tasks = int(os.environ.get("SLURM_NTASKS", 0)) * int(os.environ.get("SLURM_CPUS_PER_TASK", 1))
    cpus = tasks if tasks and "SLURM_JOB_ID" in os.environ else len(os.sched_getaffinity(0))
    found = {"CPU": float(_limits.get("num_cpus", cpus)), "GPU": float(min(_num_visible_gpus(), _limits.get("num_gpus", float("inf"))))}
    return {name: amount for name, amount in found.items() if amount}


def available_resources() -> dict[str, float]:
    """Returns the same as cluster_resources(), since trainrt reserves no resources between two runs.

    Examples
    --------
    >>> import trainrt
    >>> trainrt.available_resources() == trainrt.cluster_resources()
    True
    """
    return cluster_resources()


def env_vars() -> dict[str, str]:
    """Returns the environment variables that init() sets for ranks of fit()."""
    return dict(_env_vars)


def check_fits(scaling: Any) -> None:
    """Raises ValueError if the ranks of a ScalingConfig need more than the limits of init()."""
    each = {"num_cpus": scaling.requested_cpus or 1, "num_gpus": scaling.num_gpus_per_worker}
    for name, limit in _limits.items():
        wanted = scaling.max_workers * each[name]
        if wanted > limit:
            raise ValueError(f"ScalingConfig(num_workers={scaling.num_workers}) needs {wanted:g} {name[4:-1].upper()}s; the limit is "
                             f"trainrt.init({name}={limit:g})")


def _env_vars_of(runtime_env: Mapping[str, Any] | None) -> dict[str, str]:
    if runtime_env is not None and not isinstance(runtime_env, dict):
        raise TypeError(f"trainrt.init(runtime_env={runtime_env!r}): it must be a dict such as {{'env_vars': {{'NAME': 'value'}}}}")
    found = (runtime_env or {}).get("env_vars") or {}
    if not isinstance(found, dict):
        raise TypeError(f"trainrt.init(runtime_env={{'env_vars': {found!r}}}): it must be a dict such as {{'NAME': 'value'}}")
    return {str(name): str(value) for name, value in found.items()}


def _num_visible_gpus() -> int:
    """Returns the number of GPUs that a process may use: those in CUDA_VISIBLE_DEVICES or, if it is not set, those that the driver reports."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return len([each for each in named.split(",") if each.strip() not in ("", "-1")])
    try:
        return len(os.listdir("/proc/driver/nvidia/gpus"))
    except OSError:
        return 0
