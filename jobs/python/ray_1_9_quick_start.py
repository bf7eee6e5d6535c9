"""The quick start of Ray 1.9: a train function for one process, and the changes for several workers."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import trainrt.train.torch
from trainrt.train import Trainer

num_samples, input_size, layer_size, output_size, num_epochs = 20, 10, 15, 5, 3


class NeuralNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Linear(input_size, layer_size)
        self.relu = nn.ReLU()
        self.layer2 = nn.Linear(layer_size, output_size)

    def forward(self, inputs):
        return self.layer2(self.relu(self.layer1(inputs)))


def made_up_data():
    draw = torch.Generator().manual_seed(0)
    return TensorDataset(torch.randn(num_samples, input_size, generator=draw), torch.randn(num_samples, output_size, generator=draw))


def train_epochs(model, loader):
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(num_epochs):
        for inputs, labels in loader:
            loss = loss_fn(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    return losses


def train_func():
    return train_epochs(NeuralNetwork(), DataLoader(made_up_data(), batch_size=10))


def train_func_distributed():
    model = trainrt.train.torch.prepare_model(NeuralNetwork())
    loader = trainrt.train.torch.prepare_data_loader(DataLoader(made_up_data(), batch_size=5))
    return train_epochs(model, loader)


if __name__ == "__main__":
    print("alone", len(train_func()), "losses")
    trainer = Trainer(backend="torch", num_workers=2)
    trainer.start()
    results = trainer.run(train_func_distributed)
    trainer.shutdown()
    print("workers", [len(losses) for losses in results], "learns", all(losses[-1] < losses[0] for losses in results))
