"""Runs the same sweep with Ray Tune or with trainrt: `ray_tune_sweep.py ray|trainrt FOLDER`. 16 trials of 8 reports, ASHA, 2 at once, the same seed."""
import importlib
import random
import sys
import time

tune = importlib.import_module(f"{sys.argv[1]}.tune")
schedulers = importlib.import_module(f"{sys.argv[1]}.tune.schedulers")
search = importlib.import_module(f"{sys.argv[1]}.tune.search")


def objective(config):
    position = 10.0
    for _ in range(8):
        until = time.monotonic() + 0.1
        while time.monotonic() < until:  # busy loop
            sum(range(1000))
        position -= config["lr"] * position
        tune.report({"loss": position * position})


if __name__ == "__main__":
    importlib.import_module(sys.argv[1]).init(num_cpus=2)
    random.seed(3)
    results = tune.Tuner(objective, param_space={"lr": tune.uniform(0.01, 0.5)},
                         tune_config=tune.TuneConfig(metric="loss", mode="min", num_samples=16, max_concurrent_trials=2,
                                                     search_alg=search.BasicVariantGenerator(random_state=3),
                                                     scheduler=schedulers.ASHAScheduler(max_t=8, reduction_factor=2)),
                         run_config=tune.RunConfig(name="sweep", storage_path=sys.argv[2], verbose=0)).fit()
    print("trials", len(results), "errors", results.num_errors, "best", results.get_best_result().metrics["loss"])
