"""Checks of functions, searchers and GPUs, by the names of ray.tune.utils."""

from __future__ import annotations

import inspect
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._client.values import kind_of
from ..._support import _notes, _pickling
from ._monitor import gpus


def diagnose_serialization(trainable: Callable[..., Any]) -> Any:
    """Checks whether a function can be sent to the trials, and prints the result. Returns True, or the set of names of the global and nonlocal variables of
    the function that cannot be pickled.

    Examples
    --------
    >>> from trainrt.tune.utils import diagnose_serialization
    >>> def train(config):
    ...     return {"loss": config["x"]}
    >>> diagnose_serialization(train)  # doctest: +ELLIPSIS
    Trying to serialize <function train at ...>: it can be sent to the trials.
    True
    """
    problem = _problem_of(trainable)
    print(f"Trying to serialize {trainable}: {problem or 'it can be sent to the trials.'}")
    if not problem:
        return True
    scope = inspect.getclosurevars(trainable)
    problems = {name: _problem_of(value) for name, value in {**scope.globals, **scope.nonlocals}.items()}
    found = {name for name, each in problems.items() if each}
    for name in sorted(found):
        print(f"   the variable '{name}' cannot be pickled: {problems[name]}")
    print(f"Create {', '.join(sorted(found))} in the function." if found
          else "The cause was not found: every global and nonlocal variable of the function can be pickled.")
    return found


def _problem_of(value: Any) -> str:
    try:
        _pickling.pickled(value, "the value")
    except Exception as error:  # pickling calls methods of any class
        return f"{type(error).__name__}: {error}"
    return ""


def retry_fn(fn: Callable[[], Any], exception_type: Any = Exception, num_retries: int = 3, sleep_time: float = 1, timeout: float | None = None) -> bool:
    """Calls `fn` in a thread until a call returns, at most `num_retries` times. Returns whether one did.

    Parameters
    ----------
    fn : function
    exception_type : type or tuple of types
        Exceptions after which `fn` is called again.
    num_retries : int
    sleep_time : float
        Seconds between calls.
    timeout : float, optional
        Seconds after which a call counts as failed; its thread keeps running.

    Examples
    --------
    >>> from trainrt.tune.utils.util import retry_fn
    >>> retry_fn(lambda: 1)
    True
    """
    for number in range(num_retries):
        has_failed = threading.Event()
        thread = threading.Thread(target=_attempt, args=(fn, exception_type, has_failed), daemon=True)
        thread.start()
        thread.join(timeout)
        if not thread.is_alive() and not has_failed.is_set():
            return True
        if number + 1 < num_retries:
            time.sleep(sleep_time)
    return False


def _attempt(fn: Callable[[], Any], exception_type: Any, has_failed: threading.Event) -> None:
    try:
        fn()
    except Exception as error:
        if not isinstance(error, exception_type if isinstance(exception_type, type) else tuple(exception_type)):
            raise
        _notes.say(f"retry_fn({getattr(fn, '__name__', fn)}): {type(error).__name__}: {error}")
        has_failed.set()


class warn_if_slow:  # noqa: N801 (Ray's name)
    """Context that logs a warning if its body took longer than `threshold` seconds, by default 0.5.

    Examples
    --------
    >>> from trainrt.tune.utils import warn_if_slow
    >>> with warn_if_slow("sum") as timer:
    ...     total = sum(range(10))
    >>> timer.too_slow
    False
    """

    DEFAULT_THRESHOLD = float(os.environ.get("TUNE_WARN_THRESHOLD_S", 0.5))
    DEFAULT_MESSAGE = "The `{name}` operation took {duration:.3f} s, which may be a performance bottleneck."

    def __init__(self, name: str, threshold: float | None = None, message: str | None = None, disable: bool = False) -> None:
        self.name, self.threshold, self.message = name, threshold or self.DEFAULT_THRESHOLD, message or self.DEFAULT_MESSAGE
        self.disable, self.too_slow = disable, False

    def __enter__(self) -> warn_if_slow:
        self.start = time.monotonic()
        return self

    def __exit__(self, *_error: Any) -> None:
        duration = time.monotonic() - self.start
        if not self.disable and duration > self.threshold:
            self.too_slow = True
            logging.getLogger(__name__).warning(self.message.format(name=self.name, duration=duration))


def wait_for_gpu(gpu_id: int | str | None = None, target_util: float = 0.01, retry: int = 20, delay_s: float = 5, gpu_memory_limit: Any = None) -> bool:
    """Waits until at most the fraction `target_util` of the memory of a GPU is used, at most `retry` times `delay_s` seconds. Returns True.

    Parameters
    ----------
    gpu_id : int or str, optional
        Number or UUID; default: the first GPU of CUDA_VISIBLE_DEVICES, or of the node.
    gpu_memory_limit
        Ignored.

    Raises
    ------
    RuntimeError
        nvidia-smi is missing or fails, the node has no GPU, or the memory was not freed in time.
    ValueError
        The node has no such GPU.

    Examples
    --------
    >>> from trainrt.tune.utils import wait_for_gpu
    >>> wait_for_gpu(0, target_util=0.1)  # doctest: +SKIP
    True
    """
    del gpu_memory_limit
    found = gpus()
    if gpu_id is None:
        gpu_id = next((each.strip() for each in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if each.strip()), found[0].index if found else None)
    if gpu_id is None:
        raise RuntimeError("wait_for_gpu(): this node has no GPU; request one with tune.with_resources(train, {'gpu': 1})")
    if isinstance(gpu_id, bool) or not isinstance(gpu_id, (int, str)):
        raise ValueError(f"wait_for_gpu(gpu_id={gpu_id!r}): it must be the number or the UUID of a GPU")
    wanted = int(gpu_id) if isinstance(gpu_id, str) and gpu_id.isdigit() else gpu_id
    if wanted not in {each.index for each in found} | {each.uuid for each in found}:
        raise ValueError(f"wait_for_gpu(gpu_id={gpu_id!r}): this node has no such GPU; it has: {', '.join(f'{each.index} ({each.uuid})' for each in found)}")
    for _ in range(int(retry)):
        if next(each for each in gpus() if wanted in (each.index, each.uuid)).memory_used <= target_util:
            return True
        time.sleep(delay_s)
    raise RuntimeError(f"wait_for_gpu(gpu_id={gpu_id!r}): its memory was not freed within {retry * delay_s:g} s")


def validate_warmstart(parameter_names: Sequence[str], points_to_evaluate: Any, evaluated_rewards: Any, validate_point_name_lengths: bool = True) -> None:
    """Checks the points and rewards that a searcher is given.

    Raises
    ------
    TypeError
        One of them is not a list, or a point is neither a dict nor a list.
    ValueError
        A point has another number of values than `parameter_names`, unless `validate_point_name_lengths` is false; or there are not as many rewards as
        points.

    Examples
    --------
    >>> from trainrt.tune.utils.util import validate_warmstart
    >>> validate_warmstart(["a"], [{"a": 1}], [0.5])
    """
    for name, value in (("points_to_evaluate", points_to_evaluate), ("evaluated_rewards", evaluated_rewards if points_to_evaluate else None)):
        if value and not isinstance(value, list):
            raise TypeError(f"{name} is {kind_of(value)}; it must be a list")
    for point in points_to_evaluate or ():
        if not isinstance(point, (Mapping, list)):
            raise TypeError(f"points_to_evaluate contains {point!r}; each point must be a dict or a list")
        if validate_point_name_lengths and len(point) != len(parameter_names):
            raise ValueError(f"points_to_evaluate contains {point!r}; it must have a value for each of: {', '.join(parameter_names)}")
    if points_to_evaluate and evaluated_rewards and len(evaluated_rewards) != len(points_to_evaluate):
        raise ValueError(f"evaluated_rewards has {len(evaluated_rewards)} values for {len(points_to_evaluate)} points_to_evaluate; it must have one for each")
