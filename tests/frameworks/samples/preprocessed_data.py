# limit: 60; make test
"""Preprocessors and reading order: `Concatenator(exclude=...)`, metadata of a checkpoint, `DataContext.preserve_order`."""
import pathlib
import tempfile

import numpy as np

import trainrt
from trainrt import train
from trainrt.data.preprocessors import Concatenator, StandardScaler
from trainrt.train import Checkpoint, DataParallelTrainer, ScalingConfig

trainrt.data.DataContext.get_current().execution_options.preserve_order = True

table = pathlib.Path(tempfile.gettempdir()) / "trainrt-sample-tumors.csv"  # the same path on all ranks
rows = [f"{number},{number % 7},{number % 2}" for number in range(40)]
temporary = tempfile.NamedTemporaryFile("w", dir=table.parent, delete=False)
with temporary:
    temporary.write("radius,texture,target\n" + "\n".join(rows) + "\n")
pathlib.Path(temporary.name).replace(table)

dataset = trainrt.data.read_csv(str(table))
scaler = StandardScaler(columns=["radius", "texture"])
dataset = scaler.fit_transform(dataset)
dataset = Concatenator(exclude=["target"], dtype=np.float32).fit_transform(dataset)


def train_loop():
    seen = 0
    for _ in range(2):
        for batch in train.get_dataset_shard("train").iter_batches(batch_size=8, prefetch_batches=10):
            assert batch["concat_out"].shape[1] == 2 and batch["concat_out"].dtype == np.float32, batch
            seen += len(batch["target"])
    with tempfile.TemporaryDirectory() as folder:
        train.report({"seen": seen}, checkpoint=Checkpoint.from_directory(folder))


trainer = DataParallelTrainer(train_loop, scaling_config=ScalingConfig(num_workers=2), datasets={"train": dataset},
                              metadata={"preprocessor": scaler.serialize()})
result = trainer.fit()
assert result.metrics["seen"] == 40, result.metrics
assert StandardScaler.deserialize(result.checkpoint.get_metadata()["preprocessor"]).columns == ["radius", "texture"]
print("ok")
