"""Ray Train's example of preprocessing structured data: scale the columns of a table, concatenate them for training, and load the fitted
preprocessors from the checkpoint."""

import csv
import random
import tempfile
from pathlib import Path

import numpy as np

import trainrt
from trainrt import train
from trainrt.data.preprocessors import Chain, Concatenator, LabelEncoder, Preprocessor, StandardScaler
from trainrt.train import Checkpoint, RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer


def write_table(path):
    numbers = random.Random(1)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["mean radius", "mean texture", "target"])
        for number in range(256):
            is_benign = number % 2
            writer.writerow([numbers.gauss(12 + 5 * (1 - is_benign), 2), numbers.gauss(18 + 4 * (1 - is_benign), 4), "benign" if is_benign else "malignant"])


def train_loop_per_worker():
    fitted = Preprocessor.deserialize(train.get_context().get_metadata()["preprocessor"])
    # Get an iterator to the dataset we passed in below.
    it = train.get_dataset_shard("train")
    for _ in range(2):
        rows, total = 0, np.zeros(2)
        for batch in it.iter_batches(batch_size=32):  # {"target": 0 or 1, "features": [32, 2]}
            rows, total = rows + len(batch["target"]), total + batch["features"].sum(axis=0)
        # Save a checkpoint.
        with tempfile.TemporaryDirectory() as temp_dir:
            train.report({"rows": rows, "is_centred": float(abs(total / rows).max() < 1), "stats": len(fitted.stats_)},
                         checkpoint=Checkpoint.from_directory(temp_dir))


if __name__ == "__main__":
    table = Path(tempfile.mkdtemp(), "breast_cancer.csv")
    write_table(table)
    dataset = trainrt.data.read_csv(table)

    # Compute dataset statistics and get the transformed dataset. fit is executed immediately, the transformation is lazy.
    preprocessor = Chain(StandardScaler(columns=["mean radius", "mean texture"]), LabelEncoder("target"),
                         Concatenator(columns=["mean radius", "mean texture"], output_column_name="features", dtype=np.float32))
    dataset = preprocessor.fit_transform(dataset)

    result = TorchTrainer(train_loop_per_worker, scaling_config=ScalingConfig(num_workers=2), datasets={"train": dataset},
                          metadata={"preprocessor": preprocessor.serialize()}, run_config=RunConfig(name="preprocessors")).fit()
    print("rows of a worker", result.metrics["rows"], "centred", result.metrics["is_centred"])

    # Get the fitted preprocessor back from the result's metadata, for new data.
    again = Preprocessor.deserialize(result.checkpoint.get_metadata()["preprocessor"])
    batch = again.transform_batch({"mean radius": [17.0], "mean texture": [22.0], "target": ["malignant"]})
    print("label", batch["target"].tolist(), "features", batch["features"].dtype, batch["features"].shape)
