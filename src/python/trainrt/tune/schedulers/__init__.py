"""Schedulers, which stop trials early, by Ray Tune's names and defaults. With time_attr="training_iteration" they are plug-ins of trainrt (`trainrt list`)."""

from __future__ import annotations

from typing import Any

from ..._ray_names import names_of
from ..utils._by_name import made_by_name
from ._asha import ASHAScheduler, AsyncHyperBandScheduler
from ._base import FIFOScheduler, TrialScheduler
from ._hyperband import HyperBandScheduler
from ._median import MedianStoppingRule
from ._pbt import PopulationBasedTraining

_SCHEDULERS: dict[str, Any] = {"fifo": FIFOScheduler, "async_hyperband": AsyncHyperBandScheduler, "asynchyperband": AsyncHyperBandScheduler,
                               "asha": ASHAScheduler, "median_stopping_rule": MedianStoppingRule, "medianstopping": MedianStoppingRule,
                               "hyperband": HyperBandScheduler, "pbt": PopulationBasedTraining}
_MODULES = {"pb2": "PB2"}  # schedulers that need a package, by their modules


def create_scheduler(scheduler: str, **arguments: Any) -> TrialScheduler:
    """Returns the scheduler of that name, such as 'asha', 'hyperband', 'median_stopping_rule', 'pbt' or 'pb2', in upper or lower case. Arguments that the
    scheduler does not have are ignored. Raises ValueError for other names.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.create_scheduler("asha", max_t=10)  # doctest: +ELLIPSIS
    <trainrt.tune.schedulers._asha.AsyncHyperBandScheduler object at ...>
    """
    return made_by_name("create_scheduler", scheduler, _SCHEDULERS, __name__, _MODULES, arguments)


__getattr__ = names_of(__name__)
__all__ = ["ASHAScheduler", "AsyncHyperBandScheduler", "FIFOScheduler", "HyperBandScheduler", "MedianStoppingRule", "PopulationBasedTraining",
           "TrialScheduler", "create_scheduler"]
