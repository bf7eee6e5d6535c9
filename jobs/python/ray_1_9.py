"""A script for Ray 1.9: Trainer(backend=...).start(), .run() and .shutdown(), callbacks in the script, and checkpoints of values."""

from trainrt import train
from trainrt.train import CheckpointStrategy, JsonLoggerCallback, Trainer, TrainingCallback


class PrintingCallback(TrainingCallback):
    def handle_result(self, results, **info):
        print("results", [result["model"] for result in results], "iteration", results[0]["_training_iteration"])


def train_func(config):
    checkpoint = train.load_checkpoint() or {}
    model = checkpoint.get("model", 0)  # this should be replaced with a real model
    start_epoch = checkpoint.get("epoch", -1) + 1
    for epoch in range(start_epoch, config["num_epochs"]):
        model += epoch
        train.report(model=model + train.world_rank())
        train.save_checkpoint(epoch=epoch, model=model, loss=(epoch - 2) ** 2)
    return model


if __name__ == "__main__":
    trainer = Trainer(backend="torch", num_workers=2, max_retries=3, logdir="ray-1.9")
    trainer.start()
    # Keep the 2 checkpoints with the smallest "loss" value, and the newest.
    checkpoint_strategy = CheckpointStrategy(num_to_keep=2, checkpoint_score_attribute="loss", checkpoint_score_order="min")
    returned = trainer.run(train_func, config={"num_epochs": 5}, callbacks=[PrintingCallback(), JsonLoggerCallback()],
                           checkpoint_strategy=checkpoint_strategy)
    print("returned", returned)
    print("latest", trainer.latest_checkpoint["epoch"], trainer.latest_checkpoint["model"])
    print("best", trainer.best_checkpoint_path.parent.name)
    print("logged", len((trainer.latest_run_dir / "results.json").read_text().splitlines()), "in", trainer.latest_run_dir)
    # Start from a checkpoint, and keep only the newest.
    trainer.run(train_func, config={"num_epochs": 5}, checkpoint={"epoch": 2, "model": 3}, checkpoint_strategy=CheckpointStrategy(num_to_keep=0))
    print("second", trainer.latest_checkpoint["model"], trainer.latest_run_dir.name)
    print("kept", sorted(path.name for path in trainer.latest_checkpoint_dir.glob("checkpoint_*")))
    trainer.shutdown()
