# ways: python3; limit: 120; make test
"""Ray Tune with Trainers, in older and newer form: `to_tune_trainable()` and `tune.run()`, `params`, datasets and number of ranks of a tree trainer, PBT."""
import os
import tempfile

try:
    import torch
    import xgboost  # noqa: F401
except ImportError as error:
    raise SystemExit(print(f"skipped: {error}")) from None
import trainrt
import trainrt.cloudpickle as cpickle
from trainrt import train, tune
from trainrt.train import RunConfig, ScalingConfig, Trainer
from trainrt.train._checkpoint import Checkpoint
from trainrt.train.torch import TorchTrainer
from trainrt.train.xgboost import XGBoostTrainer
from trainrt.tune.schedulers import PopulationBasedTraining
from trainrt.tune.tune_config import TuneConfig
from trainrt.tune.tuner import Tuner


def train_func(config):
    for _ in range(config["num_epochs"]):
        train.report(output=config["input"])


def steps(config):
    model, first = torch.nn.Linear(1, 1, bias=False), 0
    if train.get_checkpoint():
        with train.get_checkpoint().as_directory() as folder, open(os.path.join(folder, "data.ckpt"), "rb") as file:
            first, state = cpickle.load(file)
            model.load_state_dict(state)
    for step in range(first, 4):
        with torch.no_grad():
            model.weight.mul_(1 - config["lr"])
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "data.ckpt"), "wb") as file:
                cpickle.dump((step + 1, model.state_dict()), file)
            train.report({"loss": abs(model.weight.item()), "momentum": config["momentum"]}, checkpoint=Checkpoint.from_directory(folder))


trainable = Trainer(backend="torch", num_workers=2).to_tune_trainable(train_func)
analysis = tune.run(trainable, config={"num_epochs": 2, "input": tune.grid_search([3, 2])})
assert analysis.get_best_config(metric="output", mode="max") == {"num_epochs": 2, "input": 3}

rows = [{"x": float(n), "target": n % 2} for n in range(40)]
dataset_1, dataset_2 = trainrt.data.from_items(rows), trainrt.data.from_items(rows[:20])
trainer = XGBoostTrainer(label_column="target", params={"objective": "binary:logistic", "eval_metric": ["logloss", "error"], "max_depth": 4},
                         num_boost_round=3, datasets={"train": dataset_1})
grid = Tuner(trainer, param_space={"params": {"max_depth": tune.choice([5, 6])}, "num_boost_round": 4,
                                   "scaling_config": ScalingConfig(num_workers=tune.choice([2])),
                                   "datasets": {"train": tune.grid_search([dataset_1, dataset_2])}},
             tune_config=tune.TuneConfig(metric="train-logloss", mode="min"), run_config=RunConfig(name="trees")).fit()
assert not grid.errors and len(grid) == 2, grid.errors
for result in grid:
    assert result.config["params"]["max_depth"] in (5, 6) and result.config["params"]["objective"] == "binary:logistic", result.config
    assert XGBoostTrainer.get_model(result.checkpoint).num_boosted_rounds() == 4

scheduler = PopulationBasedTraining(time_attr="training_iteration", perturbation_interval=1, synch=False,
                                    hyperparam_mutations={"train_loop_config": {"lr": tune.loguniform(0.001, 0.1), "momentum": [0.8, 0.9, 0.99]}})
results = Tuner(TorchTrainer(steps, scaling_config=ScalingConfig(num_workers=1)),
                param_space={"train_loop_config": {"lr": tune.grid_search([0.001, 0.1]), "momentum": 0.8}},
                tune_config=TuneConfig(num_samples=1, metric="loss", mode="min", scheduler=scheduler),
                run_config=RunConfig(name="population", stop={"training_iteration": 2})).fit()
assert not results.errors and results.get_best_result().metrics["momentum"] in (0.8, 0.9, 0.99), results.errors
print("ok")
