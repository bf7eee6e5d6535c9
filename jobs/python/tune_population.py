"""Population based training: trials with poor results continue from the checkpoints of better ones, with similar learning rates.

    python3 tune_population.py
"""
import json
import os
import tempfile

from trainrt import tune
from trainrt.tune import Checkpoint, RunConfig, TuneConfig
from trainrt.tune.schedulers import PopulationBasedTraining


def train_func(config):
    error, step = 100.0, 0
    checkpoint = tune.get_checkpoint()  # after a pause: the trial's own checkpoint; in a clone: that of the trial from which it was cloned
    if checkpoint:
        with checkpoint.as_directory() as folder:
            with open(os.path.join(folder, "state.json")) as file:
                error, step = json.load(file)
    while step < config["steps"]:
        best_lr = 0.5 if error > 1 else 0.05  # the best learning rate changes during training
        error *= 1 - 0.9 * min(config["lr"] / best_lr, best_lr / config["lr"])
        step += 1
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "state.json"), "w") as file:
                json.dump([error, step], file)
            tune.report({"error": error}, checkpoint=Checkpoint.from_directory(folder))


if __name__ == "__main__":
    population = PopulationBasedTraining(time_attr="training_iteration", perturbation_interval=3,
                                         hyperparam_mutations={"lr": tune.loguniform(0.01, 1)})
    results = tune.Tuner(
        train_func,
        param_space={"lr": tune.loguniform(0.01, 1), "steps": 12},
        tune_config=TuneConfig(metric="error", mode="min", num_samples=4, scheduler=population),
        run_config=RunConfig(name="population", storage_path=os.environ.get("STORAGE", "runs"))).fit()  # a path that all nodes share

    clones = sum("-" in os.path.basename(result.path) for result in results)
    print("trials", len(results), "clones", clones > 0, "reports", {len(result.reports) for result in results})
    print("error", results.get_best_result().metrics["error"] < 1)
