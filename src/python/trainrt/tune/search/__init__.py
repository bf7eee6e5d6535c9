"""Where trials lie in the space, by Ray Tune's names."""

import importlib


class Searcher:
    """`settings()`: keys of [tune]."""

    metric = mode = None

    def settings(self):
        return {}


def _seed_setting(seed):
    if seed is None:
        return {}
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"a seed is a whole number, 0 or more, not {seed!r}")
    return {"seed": str(seed)}


class BasicVariantGenerator(Searcher):
    """Grids and random draws: what is done without a search_alg, too."""

    def __init__(self, points_to_evaluate=None, max_concurrent=0, constant_grid_search=False, random_state=None):
        if points_to_evaluate or constant_grid_search:
            raise ValueError("BasicVariantGenerator: points_to_evaluate and constant_grid_search are not there; leave them out")
        self._settings = {**_seed_setting(random_state), **({"max_concurrent_trials": str(max_concurrent)} if max_concurrent else {})}

    def settings(self):
        return self._settings


class HaltonSearch(Searcher):
    """Not in Ray Tune: draws that fill the space more evenly than random ones do."""

    def __init__(self, random_state=None):
        self._settings = {"searcher": "halton", **_seed_setting(random_state)}

    def settings(self):
        return self._settings


class ConcurrencyLimiter(Searcher):
    """No more than so many trials at once."""

    def __init__(self, searcher, max_concurrent, batch=False):
        if not isinstance(searcher, Searcher):
            raise TypeError(f"ConcurrencyLimiter({searcher!r}): it must be a searcher of trainrt.tune.search")
        if batch:
            raise ValueError("ConcurrencyLimiter(batch=True) is not there; leave it out")
        self.searcher, self.metric, self.mode = searcher, searcher.metric, searcher.mode
        self._most = max_concurrent

    def settings(self):
        return {**self.searcher.settings(), "max_concurrent_trials": str(self._most)}


def create_searcher(search_alg, **arguments):
    """By Ray Tune's name of it."""
    known = {"random": BasicVariantGenerator, "variant_generator": BasicVariantGenerator, "halton": HaltonSearch}
    if search_alg == "optuna":
        return importlib.import_module(f"{__name__}.optuna").OptunaSearch(**arguments)
    if search_alg not in known:
        raise ValueError(f"create_searcher({search_alg!r}): there are {', '.join(sorted([*known, 'optuna']))}")
    return known[search_alg](**arguments)


__all__ = ["BasicVariantGenerator", "ConcurrencyLimiter", "HaltonSearch", "Searcher", "create_searcher"]
