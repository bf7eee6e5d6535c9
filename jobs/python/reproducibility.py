"""enable_reproducibility(): two runs of the same function with shuffling and dropout give the same bits."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from trainrt import train
from trainrt.train import RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer


class NeuralNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.layers(x)


def train_func():
    train.torch.enable_reproducibility()

    model = NeuralNetwork()
    model = train.torch.prepare_model(model)
    data = torch.randn(64, 8)
    loader = train.torch.prepare_data_loader(DataLoader(TensorDataset(data, data.sum(1, keepdim=True)), batch_size=8, shuffle=True))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(3):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        train.report({"loss": loss.item()})


def losses(name):
    trainer = TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2), run_config=RunConfig(name=name))
    return [report["loss"] for report in trainer.fit().reports]


if __name__ == "__main__":
    first = losses("reproducibility_1")
    print("the same", first == losses("reproducibility_2"), "of", len(first))
