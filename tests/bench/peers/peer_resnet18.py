"""ResNet-18 (He et al., 2015) for 28x28 images with one channel and 10 classes: torchvision's blocks after a 3x3 stem of stride 1
without pooling. The same network as the train function resnet18."""
from torch import nn


class Block(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or channels_in != channels:
            self.downsample = nn.Sequential(nn.Conv2d(channels_in, channels, 1, stride, bias=False),
                                            nn.BatchNorm2d(channels))

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(x)) + shortcut)


def make_resnet18():
    layers = [nn.Unflatten(1, (1, 28)), nn.Conv2d(1, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64),
              nn.ReLU(inplace=True)]
    channels_in = 64
    for channels in (64, 128, 256, 512):
        stride = 1 if channels == 64 else 2
        layers += [Block(channels_in, channels, stride), Block(channels, channels, 1)]
        channels_in = channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))
