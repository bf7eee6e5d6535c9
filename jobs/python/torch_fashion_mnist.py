"""Ray Train's benchmark: an MLP on FashionMNIST with a global batch of 64 on 2 workers.

    python3 torch_fashion_mnist.py --epochs 4                      # starts the workers
    srun trainrt -- python3 torch_fashion_mnist.py --epochs 20     # runs on the workers of srun

The images are Debian's (package dataset-fashion-mnist); --data names another folder with the four original files.
"""
import argparse
import gzip
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from trainrt import train
from trainrt.train import RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer, load_state, prepare_data_loader, prepare_model, save_point, save_state


def idx_file(folder, name, header, count):
    with gzip.open(os.path.join(folder, name + ".gz")) as file:
        return torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)[header:][:count]


def images(folder, part, count):
    pixels = idx_file(folder, f"{part}-images-idx3-ubyte", 16, 784 * count).reshape(-1, 784).float() / 255
    return TensorDataset(pixels, idx_file(folder, f"{part}-labels-idx1-ubyte", 8, count).long())


def validate(loader, model, loss_function):
    """Returns the mean loss and the accuracy over the test images of all workers."""
    total = torch.zeros(3)
    with torch.no_grad():
        for x, y in loader:
            logits = model(x)
            total += torch.tensor([loss_function(logits, y).item() * len(y), (logits.argmax(1) == y).sum().item(), len(y)])
    if train.get_context().get_world_size() > 1:
        torch.distributed.all_reduce(total)
    return (total[0] / total[2]).item(), (total[1] / total[2]).item()


def train_function(config):
    torch.set_num_threads(1)  # another number of threads may give other bits
    batch = 64 // train.get_context().get_world_size()
    training = prepare_data_loader(DataLoader(images(config["data"], "train", config["images"]), batch_size=batch, shuffle=True))
    test = prepare_data_loader(DataLoader(images(config["data"], "t10k", config["images"] // 6), batch_size=batch))
    torch.manual_seed(0)  # seeds the initial weights
    model = prepare_model(nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10), nn.ReLU()))
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
    at = load_state(model, optimizer, data=training, epoch=0)
    for epoch in range(at["epoch"], config["epochs"]):
        for x, y in training:
            optimizer.zero_grad()
            loss_function(model(x), y).backward()
            optimizer.step()
            save_point()
        loss, accuracy = validate(test, model, loss_function)
        save_state(model, optimizer, data=training, epoch=epoch + 1, metrics={"loss": loss, "accuracy": accuracy})


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    for name, default in (("--epochs", 4), ("--images", 60000), ("--workers", 2), ("--lr", 1e-2), ("--data", "/usr/share/datasets/fashion-mnist")):
        arguments.add_argument(name, type=type(default), default=default)
    options = vars(arguments.parse_args())
    trainer = TorchTrainer(train_function, train_loop_config=options, scaling_config=ScalingConfig(num_workers=options.pop("workers")),
                           run_config=RunConfig(name="torch_fashion_mnist"))
    print("last report:", trainer.fit().metrics)
