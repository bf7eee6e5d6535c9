"""Trains the MLP of Ray Train's FashionMNIST benchmark by TorchTrainer.fit() of a package with 2 workers:
`api_fashion.py ray|trainrt EPOCHS STORAGE BEGAN`. Rank 0 prints the seconds from BEGAN (a time.time()) to the end of the first step, and the
seconds of each epoch."""
import gzip
import importlib
import sys
import time
from pathlib import Path

import numpy
import torch
from torch import nn

PACKAGE, EPOCHS, STORAGE, BEGAN = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
FOLDER = Path("/usr/share/datasets/fashion-mnist")
BATCH = 32  # samples per step of all workers together


def data():
    images = numpy.frombuffer(gzip.decompress((FOLDER / "train-images-idx3-ubyte.gz").read_bytes())[16:], numpy.uint8).reshape(-1, 28 * 28)
    labels = numpy.frombuffer(gzip.decompress((FOLDER / "train-labels-idx1-ubyte.gz").read_bytes())[8:], numpy.uint8)
    return torch.utils.data.TensorDataset(torch.from_numpy(images[:20000].copy()).float() / 255, torch.from_numpy(labels[:20000].copy()).long())


def train_func(config):
    train = importlib.import_module(f"{config['package']}.train")
    utilities = importlib.import_module(f"{config['package']}.train.torch")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    workers = train.get_context().get_world_size()
    loader = utilities.prepare_data_loader(torch.utils.data.DataLoader(data(), batch_size=BATCH // workers, shuffle=True))
    model = utilities.prepare_model(nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for epoch in range(config["epochs"]):
        start = time.time()
        for number, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            if epoch == number == 0 and train.get_context().get_world_rank() == 0:
                print(f"first_step_s={time.time() - config['began']:.3f}", flush=True)
        if train.get_context().get_world_rank() == 0:
            print(f"epoch_s={time.time() - start:.3f}", flush=True)
        train.report({"epoch": epoch})


if __name__ == "__main__":
    train = importlib.import_module(f"{PACKAGE}.train")
    TorchTrainer = importlib.import_module(f"{PACKAGE}.train.torch").TorchTrainer
    TorchTrainer(train_func, train_loop_config={"package": PACKAGE, "epochs": EPOCHS, "began": BEGAN},
                 scaling_config=train.ScalingConfig(num_workers=2),
                 run_config=train.RunConfig(name="fashion", storage_path=STORAGE)).fit()
