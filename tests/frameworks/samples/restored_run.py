# ways: python3; limit: 120
"""A run that failed continues by restore() with datasets only, from its directory and from an object store; the script resumes by itself."""
import os
import shutil
import sys
import tempfile
from pathlib import Path

import torch
import trainrt
from trainrt import train
from trainrt.train import Checkpoint, Result, RunConfig, ScalingConfig, TrainingFailedError
from trainrt.train.torch import TorchTrainer

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from fakes.object_store import Store  # noqa: E402

EPOCHS, RESULTS = 5, os.path.expanduser("~/ray_results")


def get_datasets():
    return {"train": trainrt.data.from_items([{"x": float(i), "y": 2.0 * i} for i in range(10)])}


def train_loop_per_worker(config: dict):
    torch.manual_seed(0)
    model, first = torch.nn.Linear(1, 1), 0
    checkpoint = train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as checkpoint_dir:
            state = torch.load(os.path.join(checkpoint_dir, "model.pt"))
        model.load_state_dict(state["model"])
        first = state["epoch"] + 1
    model = train.torch.prepare_model(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    shard = train.get_dataset_shard("train")
    for epoch in range(first, EPOCHS):
        if epoch == 2 and config["fails"] and first == 0:
            raise RuntimeError("intended")
        for batch in shard.iter_torch_batches(batch_size=5, dtypes=torch.float32):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(batch["x"][:, None]), batch["y"][:, None])
            loss.backward()
            optimizer.step()
        with tempfile.TemporaryDirectory() as tmpdir:
            torch.save({"model": model.module.state_dict(), "epoch": epoch}, os.path.join(tmpdir, "model.pt"))
            train.report({"epoch": epoch, "loss": loss.item()}, checkpoint=Checkpoint.from_directory(tmpdir))


def new(name, storage_path=RESULTS, fails=True, **arguments):
    return TorchTrainer(train_loop_per_worker=train_loop_per_worker, train_loop_config={"fails": fails}, datasets=get_datasets(), **arguments,
                        scaling_config=ScalingConfig(num_workers=2), run_config=RunConfig(name=name, storage_path=storage_path))


def weights_of(result):
    with result.checkpoint.as_directory() as folder:
        return {name: value.tolist() for name, value in torch.load(os.path.join(folder, "model.pt"))["model"].items()}


def fails(trainer):
    try:
        trainer.fit()
    except TrainingFailedError:
        return
    raise AssertionError("the run did not fail")


def resumed(path):
    """The document's script that resumes by itself."""
    if TorchTrainer.can_restore(path):
        return TorchTrainer.restore(path, datasets=get_datasets())
    return new(os.path.basename(path))


expected = weights_of(new("undisturbed", fails=False).fit())

fails(new("dl_trainer_restore"))
result = TorchTrainer.restore(path=os.path.expanduser("~/ray_results/dl_trainer_restore"), datasets=get_datasets()).fit()
assert weights_of(result) == expected and len(result.reports) == EPOCHS, result

fails(resumed(os.path.join(RESULTS, "dl_restore_autoresume")))
assert weights_of(resumed(os.path.join(RESULTS, "dl_restore_autoresume")).fit()) == expected

store = Store()
store.buckets["results-bucket"] = {}
os.environ.update(store.environment())
fails(new("dl_trainer_restore", "s3://results-bucket"))
shutil.rmtree("runs")
result = TorchTrainer.restore("s3://results-bucket/dl_trainer_restore", datasets=get_datasets()).fit()
assert weights_of(result) == expected, result
stored = Result.from_path("s3://results-bucket/dl_trainer_restore")
assert weights_of(stored) == expected, stored

first = stored.best_checkpoints[0][0]
result = new("from_checkpoint", resume_from_checkpoint=Checkpoint(first.path)).fit()
assert weights_of(result) == expected and len(result.reports) < EPOCHS, (first, result)
print("ok: restored from a directory and from an object store")
