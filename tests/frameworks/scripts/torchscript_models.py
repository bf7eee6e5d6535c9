"""Writes the models of test_torchscript.py into the current folder with torch.jit.save()."""
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 5, stride=3)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.1)
        self.last = nn.Linear(256, 10)

    def forward(self, images):
        x = images.to(torch.float32).div(255).unsqueeze(1)
        return self.last(self.drop(torch.relu(self.norm(self.conv(x)))).flatten(1))


class Line(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 8)
        self.last = nn.Linear(8, 1)
        self.frozen = nn.Parameter(torch.ones(1), requires_grad=False)

    def forward(self, x):
        return self.last(torch.tanh(self.first(x))) * self.frozen


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = Line()

    def forward(self, x, y):
        return (self.line(x).squeeze(1) - y).pow(2).mean()


class Pair(Line):
    def forward(self, x):
        return x, x


torch.manual_seed(5)
for model in (Classifier(), Line(), TwoInputs(), Pair()):
    torch.jit.script(model).save(f"{type(model).__name__}.pt")
