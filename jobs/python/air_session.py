"""A script in the style of Ray AIR: `session` in the train function, ScalingConfig of `air`, and the former names of Result."""

from pprint import pprint

from trainrt.air import RunConfig, ScalingConfig, session
from trainrt.train.torch import TorchTrainer


def train_func(config):
    for i in range(config["num_epochs"]):
        session.report({"epoch": i, "rank": session.get_world_rank(), "world_size": session.get_world_size()})


if __name__ == "__main__":
    # For GPU training, set `use_gpu` to True.
    use_gpu = False
    trainer = TorchTrainer(
        train_func,
        train_loop_config={"num_epochs": 2},
        scaling_config=ScalingConfig(use_gpu=use_gpu, num_workers=2),
        run_config=RunConfig(name="air_session"),
    )
    result = trainer.fit()
    pprint(result.metrics)
    print("epoch", int(result.metrics["epoch"]), "training_iteration", int(result.metrics["training_iteration"]))
    print("checkpoints", result.checkpoint, result.best_checkpoints, "error", result.error)
    print("log_dir", result.log_dir.name)
