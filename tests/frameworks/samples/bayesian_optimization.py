# ways: python3; limit: 90
"""`BayesOptSearch`: the same seed gives the same trials; a stopped sweep continues with them; `tune.choice()` is an error."""
from trainrt import tune
from trainrt.tune import TuneConfig

try:
    from trainrt.tune.search.bayesopt import BayesOptSearch
    BayesOptSearch()
except ImportError as error:
    raise SystemExit(print(f"skipped: {error}")) from None


def distance(config):
    return {"loss": (config["x"] - 0.3) ** 2 + (config["deep"]["y"] + 20) ** 2 / 1000}


def searched(name, samples, **options):
    config = TuneConfig(metric="loss", mode="min", num_samples=samples, max_concurrent_trials=1,
                        search_alg=BayesOptSearch(space={"deep/y": (-100, 100)}, random_search_steps=2, **options))
    grid = tune.Tuner(distance, param_space={"x": tune.uniform(0, 1)}, tune_config=config, run_config=tune.RunConfig(name=name)).fit()
    assert not grid.errors, grid.errors
    return [(result.config["x"], result.config["deep"]["y"]) for result in grid]


first = searched("first", 5)
assert len(set(first)) == 5, first
assert searched("second", 3) == first[:3]
assert searched("second", 5) == first, "a sweep that grows differs from one that was started with all trials"
points = searched("points", 3, points_to_evaluate=[{"x": 0.25, "deep": {"y": -25}}], utility_kwargs={"kind": "ei", "xi": 0.01})
assert abs(points[0][0] - 0.25) < 1e-9 and abs(points[0][1] + 25) < 1e-9, points
try:
    tune.Tuner(distance, param_space={"x": tune.choice([1, 2])}, tune_config=TuneConfig(metric="loss", mode="min", search_alg=BayesOptSearch()))
    raise AssertionError("a choice is accepted")
except ValueError as error:
    assert "numbers only" in str(error), error
for point, words in (({"z": 1}, "is not searched"), ({"x": 3}, "is not in tune.uniform(0, 1)")):
    try:
        tune.Tuner(distance, param_space={"x": tune.uniform(0, 1)}, tune_config=TuneConfig(metric="loss", mode="min", search_alg=BayesOptSearch(points_to_evaluate=[point])))
        raise AssertionError(f"{point} is accepted")
    except ValueError as error:
        assert words in str(error), error
print("ok")
