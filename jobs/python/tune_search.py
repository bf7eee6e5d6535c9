"""Ray Tune's first example: a search over hyperparameters. ASHA stops trials with poor results early.

    python3 tune_search.py
"""
import os

from trainrt import tune
from trainrt.tune import RunConfig, TuneConfig
from trainrt.tune.schedulers import ASHAScheduler


def evaluate(step, width, height):
    return 1 / (0.1 + width * step / 100) + height * 0.1


def objective(config):
    for step in range(config["steps"]):
        tune.report({"mean_loss": evaluate(step, config["width"], config["height"]), "step": step})


if __name__ == "__main__":
    tuner = tune.Tuner(
        objective,
        param_space={"width": tune.uniform(0, 20), "height": tune.uniform(-100, 100), "activation": tune.grid_search(["relu", "tanh"]), "steps": 9},
        tune_config=TuneConfig(metric="mean_loss", mode="min", num_samples=5, scheduler=ASHAScheduler(max_t=9, reduction_factor=3)),
        run_config=RunConfig(name="search", storage_path=os.environ.get("STORAGE", "runs")))  # a path that all nodes share
    results = tuner.fit()

    best = results.get_best_result()
    print("best", {name: best.config[name] for name in ("width", "height", "activation")})
    print("mean_loss", best.metrics["mean_loss"], "trial", os.path.basename(best.path))
    print("trials", len(results), "errors", results.num_errors, "ended early", sum(len(result.reports) < 9 for result in results) > 0)
