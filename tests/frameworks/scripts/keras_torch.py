"""A Keras 3 model on torch in PyTorch's DistributedDataParallel, as in Keras' guide."""
import argparse
import json
import os
import time

os.environ["KERAS_BACKEND"] = "torch"
import keras  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--pause", type=float, default=0, help="seconds a step")
args = parser.parse_args()

dist.init_process_group("gloo")
rank = dist.get_rank()
keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(2)])
together = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
dataset = TensorDataset(torch.randn(192, 8), torch.randn(192, 2))
sampler = DistributedSampler(dataset, seed=3)
step, seen = 0, 0.0
for epoch in range(args.epochs):
    sampler.set_epoch(epoch)
    for inputs, targets in DataLoader(dataset, batch_size=16, sampler=sampler):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(together(inputs), targets)
        loss.backward()
        optimizer.step()
        step, seen = step + 1, seen + float(inputs.sum())
        time.sleep(args.pause)
        print(f"step {step} loss {loss.item():.4f}", flush=True)
with open(f"{args.out}/{rank}.json", "w") as file:
    weights = torch.cat([each.detach().flatten() for each in model.parameters()]).tolist()
    json.dump({"size": dist.get_world_size(), "seen": seen, "weights": weights}, file)
dist.destroy_process_group()
