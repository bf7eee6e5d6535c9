"""The script makes, changes and splits datasets, as in Ray Train's guide to data; the train function takes them as tensors. If the run is killed
and started again, it resumes within the epoch, with the remaining samples.

    python3 torch_datasets.py                      # starts the workers
    srun trainrt -- python3 torch_datasets.py      # runs on the workers of srun
"""
import argparse

import torch
import trainrt
from torch import nn
from trainrt import train
from trainrt.train import RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer, load_state, prepare_model, save_point, save_state


def increment(batch):
    return {**batch, "y": batch["y"] + 1}


def train_function(config):
    torch.set_num_threads(1)  # another number of threads may give other bits
    torch.manual_seed(0)  # seeds the initial weights
    model = prepare_model(nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    at = load_state(model, optimizer, epoch=0)  # loads the last checkpoint, if there is one
    training, validation = train.get_dataset_shard("train"), train.get_dataset_shard("valid")
    for epoch in range(at["epoch"], config["epochs"]):
        for batch in training.iter_torch_batches(batch_size=10, dtypes=torch.float32, epoch=epoch):  # after a restart: the rest of the epoch
            loss = nn.functional.mse_loss(model(batch["x"]), batch["y"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            save_point()  # the run may stop here without losing anything
        with torch.no_grad():
            losses = [nn.functional.mse_loss(model(batch["x"]), batch["y"]) for batch in validation.iter_torch_batches(batch_size=50, dtypes=torch.float32)]
        save_state(model, optimizer, epoch=epoch + 1, metrics={"epoch": epoch, "loss": torch.stack(losses).mean().item()})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=20)
    config = vars(parser.parse_args())
    dataset = trainrt.data.from_items([{"x": [x / 100], "y": [2 * x / 100]} for x in range(200)])
    training, validation = dataset.map_batches(increment).train_test_split(0.25, shuffle=True, seed=1)
    result = TorchTrainer(train_function, train_loop_config=config, datasets={"train": training.random_shuffle(), "valid": validation},
                          scaling_config=ScalingConfig(num_workers=2), dataset_config=train.DataConfig(datasets_to_split=["train"]),
                          run_config=RunConfig(name="torch_datasets")).fit()
    print(f"last report: {result.metrics}")
