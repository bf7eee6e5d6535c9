"""Functions of ray.tune.utils: nested dicts, checks of trainables and searchers, the use of the node."""

from __future__ import annotations

import time

from ..._ray_names import names_of
from ._checks import diagnose_serialization, retry_fn, validate_warmstart, wait_for_gpu, warn_if_slow
from ._dicts import deep_update, flatten_dict, merge_dicts, unflatten_dict, unflatten_list_dict, unflattened_lookup
from ._monitor import UtilMonitor
from ._save_restore import validate_save_restore
from ._verbosity import Verbosity, has_verbosity, set_verbosity


def date_str() -> str:
    """Returns the date and time, such as 2026-01-31_12-30-00.

    Examples
    --------
    >>> from trainrt.tune.utils import date_str
    >>> len(date_str())
    19
    """
    return time.strftime("%Y-%m-%d_%H-%M-%S")


__getattr__ = names_of(__name__)
__all__ = ["UtilMonitor", "Verbosity", "date_str", "deep_update", "diagnose_serialization", "flatten_dict", "has_verbosity", "merge_dicts", "retry_fn",
           "set_verbosity", "unflatten_dict", "unflatten_list_dict", "unflattened_lookup", "validate_save_restore", "validate_warmstart",
           "wait_for_gpu", "warn_if_slow"]
