"""A train function for Ray 1.9 that wraps its model in DDP and shards its data itself, and returns a metric per worker."""

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from trainrt import train
from trainrt.train import Trainer, TrainingCallback


class PrintingCallback(TrainingCallback):
    def handle_result(self, results, **info):
        print("iteration", results[0]["_training_iteration"], "seen", [result["seen"] for result in results])


def train_func(config):
    device = torch.device(f"cuda:{train.local_rank()}" if torch.cuda.is_available() else "cpu")
    if torch.cuda.is_available():
        torch.cuda.set_device(device)

    # Create model.
    torch.manual_seed(train.world_rank())  # different seeds; DDP broadcasts the weights of rank 0
    model = nn.Linear(4, 3)
    model = model.to(device)
    model = DistributedDataParallel(model, device_ids=[train.local_rank()] if torch.cuda.is_available() else None)

    inputs = torch.randn(101, 4, generator=torch.Generator().manual_seed(1))
    dataset = TensorDataset(inputs, inputs[:, :3].argmax(dim=1))
    data_loader = DataLoader(dataset, batch_size=config["batch_size"], sampler=DistributedSampler(dataset))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for epoch in range(config["num_epochs"]):
        data_loader.sampler.set_epoch(epoch)
        hits = seen = 0
        for X, y in data_loader:
            X, y = X.to(device), y.to(device)
            preds = model(X)
            optimizer.zero_grad()
            nn.functional.cross_entropy(preds, y).backward()
            optimizer.step()
            hits, seen = hits + (preds.argmax(dim=1) == y).sum().item(), seen + len(y)
        train.report(accuracy=hits / seen, seen=seen)
    return [weight.item() for weight in model.module.weight.flatten()], hits / seen


if __name__ == "__main__":
    trainer = Trainer(backend="torch", num_workers=2)
    trainer.start()
    returned = trainer.run(train_func, config={"num_epochs": 4, "batch_size": 8}, callbacks=[PrintingCallback()])
    trainer.shutdown()
    print("the same weights", returned[0][0] == returned[1][0], "learns", min(accuracy for _, accuracy in returned) > 0.6)
