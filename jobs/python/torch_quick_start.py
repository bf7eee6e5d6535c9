"""Ray Train's quick start: a network on random data, on 2 workers. After a kill, a restart resumes from the last step.

    python3 torch_quick_start.py                      # starts the workers
    srun trainrt -- python3 torch_quick_start.py      # runs on the workers of srun
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from trainrt.train import RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer, load_state, prepare_data_loader, prepare_model, save_point, save_state

EPOCHS, SAMPLES, INPUTS, LAYER, OUTPUTS = 10, 400, 10, 15, 5


def made_up_data():
    draw = torch.Generator().manual_seed(1)
    inputs = torch.randn(SAMPLES, INPUTS, generator=draw)
    return TensorDataset(inputs, inputs @ torch.randn(INPUTS, OUTPUTS, generator=draw))


def train_function():
    torch.set_num_threads(1)  # another number of threads may give other bits
    torch.manual_seed(0)  # seeds the initial weights
    model = prepare_model(nn.Sequential(nn.Linear(INPUTS, LAYER), nn.ReLU(), nn.Linear(LAYER, OUTPUTS)))
    loader = prepare_data_loader(DataLoader(made_up_data(), batch_size=10, shuffle=True))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    at = load_state(model, optimizer, data=loader, epoch=0)  # loads the last checkpoint, if there is one
    for epoch in range(at["epoch"], EPOCHS):
        for inputs, labels in loader:  # after a restart: the batches after those already seen
            loss = nn.functional.mse_loss(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            save_point()  # the run may stop here without losing anything
        with torch.no_grad():
            whole = nn.functional.mse_loss(model(made_up_data().tensors[0]), made_up_data().tensors[1])
        save_state(model, optimizer, data=loader, epoch=epoch + 1, metrics={"epoch": epoch, "loss": whole.item()})


if __name__ == "__main__":
    trainer = TorchTrainer(train_function, scaling_config=ScalingConfig(num_workers=2), run_config=RunConfig(name="torch_quick_start"))
    print("last report:", trainer.fit().metrics)
