"""OptunaSearch: Optuna's TPE says where the next trial lies (pip install optuna, or Debian's python3-optuna)."""

import importlib.util
import shlex
import sys

from .. import Searcher, _seed_setting


class OptunaSearch(Searcher):
    """The space is the Tuner's param_space. All it remembers is the sweep's journal: it goes on after any interruption."""

    def __init__(self, space=None, metric=None, mode=None, points_to_evaluate=None, sampler=None, seed=None, evaluated_rewards=None):
        for name, value in (("space", space), ("points_to_evaluate", points_to_evaluate), ("sampler", sampler), ("evaluated_rewards", evaluated_rewards)):
            if value:
                raise ValueError(f"OptunaSearch({name}=...) is not there; leave it out: the space is the Tuner's param_space, the sampler TPE")
        if importlib.util.find_spec("optuna") is None:
            raise ImportError("OptunaSearch needs optuna (pip install optuna, or Debian's python3-optuna)")
        self.metric, self.mode = metric, mode
        self._seed = _seed_setting(seed)

    def settings(self):
        return {"searcher_program": f"{shlex.quote(sys.executable)} -m trainrt.tune.search.optuna", **self._seed}


__all__ = ["OptunaSearch"]
