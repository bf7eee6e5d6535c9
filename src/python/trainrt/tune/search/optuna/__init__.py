"""OptunaSearch: Optuna's TPE chooses the values of trials (pip install optuna, or Debian's python3-optuna)."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from typing import Any

from .. import Searcher, seed_setting


class OptunaSearch(Searcher):
    """Searches the param_space of the Tuner by Optuna's TPE. Its state is in the sweep's journal, so a sweep can be interrupted at any time.

    Parameters
    ----------
    metric, mode : str, optional
        As of TuneConfig.
    seed : int, optional
        Seed of the sampler.
    space, points_to_evaluate, sampler, evaluated_rewards
        Not supported: raise ValueError.
    """

    def __init__(self, space: Any = None, metric: str | None = None, mode: str | None = None, points_to_evaluate: Any = None, sampler: Any = None,
                 seed: int | None = None, evaluated_rewards: Any = None) -> None:
        for name, value in (("space", space), ("points_to_evaluate", points_to_evaluate), ("sampler", sampler),
                            ("evaluated_rewards", evaluated_rewards)):
            if value:
                raise ValueError(f"OptunaSearch({name}=...) is not supported: the space is the Tuner's param_space, and the sampler is TPE")
        if importlib.util.find_spec("optuna") is None:
            raise ImportError("OptunaSearch needs optuna (pip install optuna, or Debian's python3-optuna)")
        self.metric, self.mode = metric, mode
        self._seed = seed_setting(seed)

    def settings(self) -> dict[str, str]:
        return {"searcher_program": f"{shlex.quote(sys.executable)} -m trainrt.tune.search.optuna", **self._seed}


__all__ = ["OptunaSearch"]
