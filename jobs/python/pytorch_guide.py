"""Ray Train's guide for PyTorch, 'PyTorch + Ray Train', with a small network in place of ResNet18.

    python3 pytorch_guide.py                      # starts the workers
    srun trainrt -- python3 pytorch_guide.py      # runs on the workers of srun

The images are Debian's FashionMNIST (package dataset-fashion-mnist), or random if it is not installed.
"""
import gzip
import os
import tempfile

import torch
from torch import nn
from torch.optim import Adam
from torch.utils.data import DataLoader, TensorDataset

import trainrt.train.torch

FASHION = "/usr/share/datasets/fashion-mnist/train-"


def fashion_mnist(count):
    """Returns images as torchvision's FashionMNIST does after ToTensor() and Normalize((0.5,), (0.5,))."""
    if not os.path.exists(f"{FASHION}images-idx3-ubyte.gz"):
        labels = torch.arange(count) % 10
        return TensorDataset(torch.randn(count, 1, 28, 28) + nn.functional.one_hot(labels, 28).reshape(count, 1, 1, 28), labels)
    with gzip.open(f"{FASHION}images-idx3-ubyte.gz") as images, gzip.open(f"{FASHION}labels-idx1-ubyte.gz") as labels:
        pixels = torch.frombuffer(bytearray(images.read(16 + 784 * count)), dtype=torch.uint8)[16:]
        kinds = torch.frombuffer(bytearray(labels.read(8 + count)), dtype=torch.uint8)[8:]
    return TensorDataset(pixels.reshape(-1, 1, 28, 28).float() / 127.5 - 1, kinds.long())


def network():
    return nn.Sequential(nn.Conv2d(1, 8, 5, stride=2), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 12 * 12, 10))


def train_func():
    # Model, loss, optimizer
    model = network()
    model = trainrt.train.torch.prepare_model(model)  # [1] model.to("cuda") and DistributedDataParallel are done here
    criterion = nn.CrossEntropyLoss()
    optimizer = Adam(model.parameters(), lr=0.001)

    # Data
    train_loader = DataLoader(fashion_mnist(2000), batch_size=64, shuffle=True)
    train_loader = trainrt.train.torch.prepare_data_loader(train_loader)  # [2]

    # Training
    for epoch in range(3):
        if trainrt.train.get_context().get_world_size() > 1:
            train_loader.sampler.set_epoch(epoch)
        for images, labels in train_loader:  # already on the model's device
            outputs = model(images)
            loss = criterion(outputs, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        # [3] Report metrics and checkpoint from one worker; each worker has its own running means of BatchNorm.
        metrics = {"loss": loss.item(), "epoch": epoch}
        with tempfile.TemporaryDirectory() as temp_checkpoint_dir:
            checkpoint = None
            if trainrt.train.get_context().get_world_rank() == 0:
                torch.save(getattr(model, "module", model).state_dict(), os.path.join(temp_checkpoint_dir, "model.pt"))
                checkpoint = trainrt.train.Checkpoint.from_directory(temp_checkpoint_dir)
            trainrt.train.report(metrics, checkpoint=checkpoint)


if __name__ == "__main__":
    scaling_config = trainrt.train.ScalingConfig(num_workers=2, use_gpu=torch.cuda.is_available())  # [4]
    trainer = trainrt.train.torch.TorchTrainer(train_func, scaling_config=scaling_config,
                                               run_config=trainrt.train.RunConfig(name="pytorch_guide"))  # [5]
    result = trainer.fit()
    with result.checkpoint.as_directory() as checkpoint_dir:  # [6] Load the trained model.
        model = network()
        model.load_state_dict(torch.load(os.path.join(checkpoint_dir, "model.pt")))
    print("loaded the model of epoch", int(result.metrics["epoch"]))
