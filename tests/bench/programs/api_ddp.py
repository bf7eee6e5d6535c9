"""Takes argv[1] steps of DistributedDataParallel on a 784-512-512-10 MLP with 32 samples per rank; rank 0 prints the median time. argv[2]
selects how gradients are averaged: trainrt (the hook of prepare_model()), group (torch with the process group "trainrt") or torch (gloo)."""
import statistics
import sys
import time

import torch
from torch import nn

from trainrt import train
from trainrt.train.torch import TorchConfig, TorchTrainer, prepare_model

WARM_STEPS = 30
BACKEND = sys.argv[2]


def train_function():
    torch.set_num_threads(1)
    inputs, classes = torch.randn(32, 784), torch.randint(10, (32,))
    layers = nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    model = prepare_model(nn.Sequential(*layers), gradients_by="trainrt" if BACKEND == "trainrt" else "torch")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    took = []
    for _ in range(int(sys.argv[1])):
        start = time.monotonic()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), classes).backward()
        optimizer.step()
        took.append(time.monotonic() - start)
    if train.get_context().get_world_rank() == 0:
        print(f"step_ms {1000 * statistics.median(took[WARM_STEPS:]):.4f}", flush=True)


TorchTrainer(train_function, torch_config=TorchConfig(backend="trainrt" if BACKEND == "group" else "gloo")).fit()
