# limit: 60
"""The Trainer of Ray Train 1.x with datasets and pipelines: `run(dataset=...)`, `repeat()`, `window()`, `random_shuffle_each_window()`."""
import trainrt
from trainrt.train import Trainer

numbers = trainrt.data.from_items([{"x": float(number), "label": number % 2} for number in range(40)])


def of_two_datasets(config):
    seen = {}
    for name in ("train", "validation"):
        shard = trainrt.train.get_dataset_shard(name)
        seen[name] = sum(len(y) for _, y in shard.to_torch(label_column="label", batch_size=config["batch_size"]))
    return seen


def of_a_pipeline(config):
    epochs = trainrt.train.get_dataset_shard().iter_datasets()
    return [sum(len(y) for _, y in next(epochs).to_torch(label_column="label", batch_size=4)) for _ in range(config["num_epochs"])]


trainer = Trainer(num_workers=2, backend="torch")
trainer.start()
training, validation = numbers.random_shuffle().split_at_indices([32])
assert trainer.run(of_two_datasets, config={"batch_size": 4}, dataset={"train": training, "validation": validation}) == [{"train": 16, "validation": 4}] * 2
shuffled = numbers.repeat().random_shuffle_each_window()
assert trainer.run(of_a_pipeline, config={"num_epochs": 2}, dataset=shuffled) == [[20, 20]] * 2
windows = numbers.window(blocks_per_window=10).repeat().random_shuffle_each_window()
assert trainer.run(of_a_pipeline, config={"num_epochs": 1}, dataset=windows) == [[20]] * 2
trainer.shutdown()
print("ok")
