# make test
"""The Trainer of Ray Train 1.x: values of all ranks, reports by callbacks and iterators, checkpoints as values, checkpoints with a strategy."""
import json
import os

from trainrt import train
from trainrt.train import BackendConfig, CheckpointStrategy, JsonLoggerCallback, Trainer, TrainingCallback

calls_callbacks = os.environ.get("RANK", "0") == "0"  # callbacks run in the script, or on rank 0


class Heard(TrainingCallback):
    def __init__(self):
        self.calls = []

    def start_training(self, logdir, config, **info):
        self.calls.append(("start", config))

    def handle_result(self, results, **info):
        self.calls.append([(each["epoch"], each["rank"], each["_training_iteration"]) for each in results])

    def finish_training(self, error=False, **info):
        self.calls.append(("finish", error))


class Value:
    def __init__(self, rank):
        self.rank = rank


def epochs(config):
    for epoch in range(config["num_epochs"]):
        train.report(epoch=epoch, rank=train.world_rank())
    return list(range(config["num_epochs"]))


def saved(config):
    checkpoint = train.load_checkpoint() or {}
    model = checkpoint.get("model", 0)
    for epoch in range(checkpoint.get("epoch", -1) + 1, config["num_epochs"]):
        model += epoch
        train.save_checkpoint(epoch=epoch, model=model)


def losses():
    for loss in (2, 4, 1, 3):
        train.save_checkpoint(loss=loss)


for name in ("torch", "tensorflow", "horovod"):  # the framework is imported by run()
    Trainer(backend=name, num_workers=2)
trainer = Trainer(backend=BackendConfig(), num_workers=2)
trainer.start()
heard = Heard()
assert trainer.run(epochs, config={"num_epochs": 2}, callbacks=[heard, JsonLoggerCallback()]) == [[0, 1], [0, 1]]
if calls_callbacks:
    assert heard.calls == [("start", {"num_epochs": 2}), [(0, 0, 1), (0, 1, 1)], [(1, 0, 2), (1, 1, 2)], ("finish", False)], heard.calls
    lines = (trainer.latest_run_dir / "results.json").read_text().splitlines()
    assert [[each["rank"] for each in json.loads(line)] for line in lines] == [[0, 1], [0, 1]], lines
else:
    assert not heard.calls, heard.calls
first = trainer.latest_run_dir

iterator = trainer.run_iterator(epochs, config={"num_epochs": 5})
assert [[each["epoch"] for each in results] for results in iterator] == [[epoch, epoch] for epoch in range(5)]
assert iterator.is_finished() and iterator.get_final_results() == [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]
assert trainer.latest_run_dir != first and trainer.latest_run_dir.is_dir(), trainer.latest_run_dir

values = trainer.run(lambda: Value(train.world_rank()))
assert [each.rank for each in values] == [0, 1] and isinstance(values[1], Value), values
functions = trainer.run(lambda: (lambda: train.world_size()))
assert [each() for each in functions] == [train.world_size()] * 2, functions

trainer.run(saved, config={"num_epochs": 5}, checkpoint={"epoch": 2, "model": 3})
assert trainer.latest_checkpoint == {"epoch": 4, "model": 10}, trainer.latest_checkpoint
trainer.run(saved, config={"num_epochs": 3}, checkpoint_strategy=CheckpointStrategy(num_to_keep=0))
assert trainer.latest_checkpoint == {"epoch": 2, "model": 3}, trainer.latest_checkpoint
trainer.run(losses, checkpoint_strategy=CheckpointStrategy(2, checkpoint_score_attribute="loss", checkpoint_score_order="min"))
assert "checkpoint_000002" in str(trainer.best_checkpoint_path), trainer.best_checkpoint_path
kept = [each.name for each in trainer.latest_checkpoint_dir.iterdir() if each.name.startswith("checkpoint_")]
assert sorted(kept) == ["checkpoint_000000", "checkpoint_000002", "checkpoint_000003"], kept  # the two best, and the latest
trainer.shutdown()

named = Trainer(backend=BackendConfig(), num_workers=2, logdir="named_" + ("of_ranks" if "RANK" in os.environ else "of_script"))
named.run(epochs, config={"num_epochs": 1})
assert named.latest_run_dir == named.logdir / "run_001" and named.latest_run_dir.is_dir(), named.latest_run_dir
try:
    named.to_worker_group(Value, 1)
except NotImplementedError as error:
    assert "trainer.run(lambda: Value(...).train())" in str(error), error
else:
    raise AssertionError("to_worker_group() raised no error")
print("ok")
