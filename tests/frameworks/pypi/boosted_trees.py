"""trainrt.train.xgboost and trainrt.train.lightgbm on PyPI's libraries."""
import environments
from runs.boosting import Trees
from frameworks import TORCH, Framework
from harness import check, equal

XGBOOST = Framework("trainrt_train_xgboost", "", *TORCH, "xgboost-cpu")
LIGHTGBM = Framework("trainrt_train_lightgbm", "", *TORCH, "lightgbm")
# Functions that return whether the first tree covers the rows of all ranks: all 1001 rows, or the half of them that XGBoost samples.
COVERS = {XGBOOST.name: lambda cover: 400 < cover < 600, LIGHTGBM.name: lambda cover: cover == 1001}
_quiet = {}  # digest of an undisturbed run


def _trees(framework):
    environment = environments.ready(framework)
    return Trees(framework.name.rsplit("_", 1)[1], "python3", environments.activated(framework, environment))


def two_ranks(framework):
    trees = _trees(framework)
    trees.ranks_train_together()
    _quiet[framework.name] = trees.check_older_form(COVERS[framework.name])["digest"]


def worker_killed(framework):
    killed = _trees(framework).a_killed_rank_costs_the_rounds_since_the_last_checkpoint()
    equal(killed["digest"], _quiet[framework.name], "the model of an undisturbed run")


def no_rows(framework):
    if framework is XGBOOST:
        return _trees(framework).a_rank_may_have_no_rows()
    job = _trees(framework).job("few", workers=3, ROWS=2, ROUNDS=2)
    return check(job.code != 0 and "rank 2 has no row of the dataset 'train'" in job.err, "the error does not name the rank and the dataset", job)


def cases_of_trees():
    """Returns (framework, name, function) for each case."""
    return [(each, name, function) for each in (XGBOOST, LIGHTGBM) for name, function in (("2_ranks", two_ranks), ("worker_killed", worker_killed),
                                                                                         ("rank_without_rows", no_rows))]
