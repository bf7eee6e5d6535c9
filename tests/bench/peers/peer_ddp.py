"""FashionMNIST in PyTorch: one rank of DistributedDataParallel over gloo, started by bench_train.py.

Uses SGD, cross entropy and a validation after every epoch. DistributedDataParallel has its default options (buckets of 25 MiB
that are reduced during the backward pass), except that it does not broadcast the buffers of BatchNorm in every step, as trainrt
does not do this either. RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT come from the environment.

--model mlp           the model of Ray's torch_benchmark.py ("vanilla"): Flatten, 784-512-512-10 with a ReLU on the logits
--model resnet18      the model of peer_resnet18.py

--loader memory       batches are slices of float tensors in memory, which takes the minimum time for data
--loader dataloader   DataLoader and DistributedSampler over single samples, like Ray's script
"""
import argparse
import gzip
import os
import sys
from pathlib import Path

import numpy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from peer_resnet18 import make_resnet18


def read_idx(path):
    with gzip.open(path) as file:
        data = file.read()
    rank = data[3]
    shape = numpy.frombuffer(data, ">u4", rank, 4).astype(int)
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * rank).reshape(shape)


def read_part(folder, part):
    return read_idx(folder / f"{part}-images-idx3-ubyte.gz"), read_idx(folder / f"{part}-labels-idx1-ubyte.gz")


class Samples(Dataset):
    """Dataset of single images, converted to float on access like torchvision's ToTensor does."""

    def __init__(self, images, labels):
        self.images, self.labels = torch.from_numpy(images.copy()), labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index].to(torch.float32).div(255), int(self.labels[index])


class Ready:
    """Batches of this rank as slices of tensors that are created before the first epoch; the same samples as with DistributedSampler."""

    def __init__(self, images, labels, batch_size):
        rank, size = dist.get_rank(), dist.get_world_size()
        order = numpy.arange(-(-len(labels) // size) * size) % len(labels)
        mine = order[rank::size]
        self.images = torch.from_numpy(images[mine].astype(numpy.float32) / 255)
        self.labels = torch.from_numpy(labels[mine].astype(numpy.int64))
        self.batch_size = batch_size

    def __iter__(self):
        for first in range(0, len(self.labels), self.batch_size):
            yield self.images[first:first + self.batch_size], self.labels[first:first + self.batch_size]


def loader_of(kind, images, labels, batch_size):
    if kind == "memory":
        return Ready(images, labels, batch_size)
    samples = Samples(images, labels)
    return DataLoader(samples, batch_size=batch_size, sampler=DistributedSampler(samples, shuffle=False))


def make_mlp(hidden):
    return nn.Sequential(nn.Flatten(), nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                         nn.Linear(hidden, 10), nn.ReLU())


def train_epoch(model, loader, loss_function, optimizer):
    for images, labels in loader:
        loss = loss_function(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def evaluate(model, loader, loss_function):
    model.eval()
    loss = correct = seen = 0
    for images, labels in loader:
        logits = model.module(images)
        loss += loss_function(logits, labels).item() * len(labels)
        correct += (logits.argmax(1) == labels).sum().item()
        seen += len(labels)
    model.train()
    sums = torch.tensor([loss, correct, seen], dtype=torch.float64)
    dist.all_reduce(sums)
    return sums[0].item() / sums[2].item(), sums[1].item() / sums[2].item()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--epochs", type=int, required=True)
    options.add_argument("--batch-size", type=int, default=32)
    options.add_argument("--eval-batch-size", type=int, default=1000)
    options.add_argument("--hidden", type=int, default=512)
    options.add_argument("--lr", type=float, default=1e-3)
    options.add_argument("--momentum", type=float, default=0)
    options.add_argument("--model", choices=("mlp", "resnet18"), default="mlp")
    options.add_argument("--loader", choices=("memory", "dataloader"), default="memory")
    o = options.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    train = loader_of(o.loader, *read_part(o.data, "train"), o.batch_size)
    test = loader_of(o.loader, *read_part(o.data, "t10k"), o.eval_batch_size)
    model = DistributedDataParallel(make_resnet18() if o.model == "resnet18" else make_mlp(o.hidden),
                                    broadcast_buffers=False)
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=o.lr, momentum=o.momentum)
    for epoch in range(o.epochs):
        train_epoch(model, train, loss_function, optimizer)
        test_loss, accuracy = evaluate(model, test, loss_function)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} test_loss {test_loss:.6f} test_accuracy {accuracy:.4f}", flush=True)
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)  # the destructor of PyTorch 1.13's gloo group can hang after the other rank has exited


if __name__ == "__main__":
    main()
