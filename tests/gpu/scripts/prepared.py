"""A training by trainrt.train.torch on a GPU, with prepare_model() and prepare_data_loader(). Each step adds random noise and is a save point."""
import hashlib
import statistics
import time

import torch
import trainrt
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from trainrt.train import torch as tt

ctx = trainrt.context()
tt.enable_reproducibility(1)
torch.manual_seed(1)
model = tt.prepare_model(nn.Sequential(nn.Linear(64, 512), nn.BatchNorm1d(512), nn.ReLU(), nn.Dropout(0.2), nn.Linear(512, 64)))
inputs = torch.randn(2048, 64, generator=torch.Generator().manual_seed(1))
loader = tt.prepare_data_loader(DataLoader(TensorDataset(inputs, inputs.roll(1, 1)), batch_size=32, shuffle=True))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
at = tt.load_state(model, optimizer, data=loader, epoch=0)
print(f"device {tt.get_device()} begins with epoch {at['epoch']}", flush=True)
times = []
for epoch in range(at["epoch"], ctx.config("epochs", 4)):
    for x, y in loader:
        start = time.monotonic()
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x + 0.01 * torch.randn_like(x)), y).backward()
        optimizer.step()
        if tt.get_device().type == "cuda":
            torch.cuda.synchronize()
        times.append(time.monotonic() - start)
        tt.save_point()
    tt.save_state(model, optimizer, data=loader, epoch=epoch + 1, metrics={"epoch": epoch})
ctx.save()
weights = torch.cat([each.detach().flatten() for each in model.parameters()]).cpu().numpy().tobytes()
print(f"size {ctx.world_size} step {statistics.median(times):.6f} weights {hashlib.sha256(weights).hexdigest()}", flush=True)
