"""train.function = xgboost and lightgbm with PyPI's libraries."""
import environments
from frameworks import TORCH, Framework
from harness import *  # noqa: F403
from runs.xgboost_runs import CASES, DRAWING, XgboostRuns

XGBOOST = Framework("train_function_xgboost", "", *TORCH, "xgboost-cpu")
LIGHTGBM = Framework("train_function_lightgbm", "", *TORCH, "lightgbm")
OWN_MODEL = {1: list(CASES), 2: ["binary", "weights", "categories"], 3: ["queries", "classes", "approximate"]}
KILLED = {1: ["columns", "dart_of_rows", "features"], 2: ["rows", "forest", "approximate_columns"]}
_made = []


def _runs():
    if not _made:
        python = environments.ready(XGBOOST) / "bin/python3"
        _made.append(XgboostRuns(python, next(python.parents[1].glob("lib/python3*/site-packages"))))
    return _made[0]


def _each(names, call):
    """Calls `call` for each name, and adds the name to a failure."""
    for name in names:
        try:
            call(name)
        except Failure as failure:
            raise Failure(f"{name}: {failure}") from failure


def _own_model(ranks):
    _each(OWN_MODEL[ranks], lambda name: _runs().as_in_python(*CASES[name], ranks))


def _killed(ranks):
    _each(KILLED[ranks], lambda name: _runs().exact(ranks, DRAWING[name], {}))


def _tests_of_lightgbm(framework):
    """Runs the LightGBM tests of tests/frameworks with this version."""
    folder = environments.ready(framework)
    version = environments.version(framework, folder)
    job = run([folder / "bin/python3", SOURCE / "tests/frameworks/trees/test_trees_lightgbm.py", BUILD], env={"TRAINRT_LIGHTGBM_VERSION": version}, timeout=1200)
    check_exit(job, FINISHED)


def cases_of_tree_functions():
    """Returns (framework, name, function) for each case."""
    calls = {**{f"own_model_on_{ranks}": lambda _, ranks=ranks: _own_model(ranks) for ranks in OWN_MODEL},
             **{f"killed_on_{ranks}": lambda _, ranks=ranks: _killed(ranks) for ranks in KILLED},
             "killed_with_queries_on_3": lambda _: _runs().exact(3, *CASES["queries"]), "dead_rank": lambda _: _runs().a_dead_rank_ends_all(),
             "early_stopping": lambda _: _runs().early_stopping(), "predictions": lambda _: _runs().predictions_are_those_of_python()}
    return [*((XGBOOST, name, call) for name, call in calls.items()), (LIGHTGBM, "all_tests", _tests_of_lightgbm)]
