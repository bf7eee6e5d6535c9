"""Metrics of all workers. By default, report() uses the metrics of rank 0. Here, report() or the train function combines those of all workers."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import trainrt
from trainrt import train
from trainrt.train import RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer, prepare_data_loader, prepare_model


def line(count, seed):
    draw = torch.Generator().manual_seed(seed)
    x = torch.rand(count, 1, generator=draw)
    return TensorDataset(x, 2 * x + 5 + 0.01 * torch.randn(count, 1, generator=draw))


class R2Score:
    """The coefficient of determination (R2) over all workers. As in TorchMetrics, the sums of all workers are added first."""

    def __init__(self):
        self.sums = torch.zeros(4)  # sums of squared errors, targets and squared targets; number of targets

    def update(self, predictions, targets):
        self.sums += torch.stack([((predictions - targets) ** 2).sum(), targets.sum(), (targets**2).sum(), torch.tensor(float(len(targets)))])

    def compute(self):
        sums = self.sums.clone()
        if torch.distributed.is_initialized():
            torch.distributed.all_reduce(sums)
        errors, total, squares, count = sums.tolist()
        return 1 - errors / (squares - total**2 / count)


def train_func(config):
    torch.manual_seed(0)
    model = prepare_model(nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
    train_loader = prepare_data_loader(DataLoader(line(400, 1), batch_size=10, shuffle=True))
    valid_loader = prepare_data_loader(DataLoader(line(100, 2), batch_size=10))
    for epoch in range(config["epochs"]):
        for x, y in train_loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        r2_score, losses = R2Score(), []
        with torch.no_grad():
            for x, y in valid_loader:
                predictions = model(x)
                r2_score.update(predictions, y)
                losses.append(nn.functional.mse_loss(predictions, y).item())
        train.report({"r2": r2_score.compute(),  # the same on all workers, so the mean keeps it
                      "valid_loss": sum(losses) / len(losses),  # the default: the mean over the workers
                      "samples": trainrt.Number(10 * len(losses), "sum"),
                      "worst_batch": trainrt.Number(max(losses), "max")}, aggregate=True)


if __name__ == "__main__":
    trainer = TorchTrainer(train_func, train_loop_config={"lr": 0.1, "epochs": 5}, scaling_config=ScalingConfig(num_workers=2),
                           run_config=RunConfig(name="aggregated_metrics"))
    metrics = trainer.fit().metrics
    print("samples", int(metrics["samples"]), "good", metrics["r2"] > 0.9 and metrics["worst_batch"] >= metrics["valid_loss"])
