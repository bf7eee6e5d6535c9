"""Horovod with PyTorch under a HorovodTrainer of trainrt.train: `horovod_report.py NAME`. $KILL_AT: the epoch in which rank 1 is killed, once;
$RUNS; $FITS: the number of fit() calls, each for another run. Prints the digest of the weights."""
import hashlib
import json
import os
import signal
import sys

import horovod.torch as hvd
import torch
from torch import nn
from trainrt import train
from trainrt.train import Checkpoint, CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
from trainrt.train.horovod import HorovodConfig, HorovodTrainer

NAME, EPOCHS = sys.argv[1], 5


def die_once(epoch, step):
    marker = os.path.join(os.environ["RUNS"], f"killed-{NAME}")
    if epoch == int(os.environ.get("KILL_AT", -1)) and step == 2 and hvd.rank() == 1 and not os.path.exists(marker):
        open(marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)


def loop():
    hvd.init()
    torch.manual_seed(hvd.rank())  # ranks have different weights until the broadcast of rank 0
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
    epoch, found = 0, train.get_checkpoint()
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9), named_parameters=model.named_parameters())
    if found is not None:  # the state of Horovod's optimizer
        saved = torch.load(os.path.join(found.path, "state.pt"))
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        epoch = saved["epoch"]
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    while epoch < EPOCHS:
        generator = torch.Generator().manual_seed(100 * epoch + hvd.rank())
        for step in range(6):
            inputs, targets = torch.randn(16, 8, generator=generator), torch.randn(16, 2, generator=generator)
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(inputs), targets)
            loss.backward()
            optimizer.step()
            die_once(epoch, step)
        epoch += 1
        folder = os.path.join(os.environ["RUNS"], f"{NAME}-{hvd.rank()}")
        os.makedirs(folder, exist_ok=True)
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, os.path.join(folder, "state.pt"))
        train.report({"loss": loss.item(), "step": 6 * epoch}, checkpoint=Checkpoint.from_directory(folder) if hvd.rank() == 0 else None)
    weights = torch.cat([each.detach().flatten() for each in model.parameters()])
    return {"size": hvd.size(), "digest": hashlib.sha256(weights.numpy().tobytes()).hexdigest(), "same": bool((hvd.allgather(weights[None])[0] == weights).all())}


if __name__ == "__main__":
    for fit in range(int(os.environ.get("FITS", 1))):
        run_config = RunConfig(name=f"{NAME}-fit-{fit}", storage_path=os.environ["RUNS"], checkpoint_config=CheckpointConfig(num_to_keep=2),
                               failure_config=FailureConfig(max_failures=2))
        result = HorovodTrainer(loop, horovod_config=HorovodConfig(nics={"lo"}), scaling_config=ScalingConfig(num_workers=2), run_config=run_config).fit()
        print("RESULT", json.dumps({**result.return_value, "metrics": result.metrics, "files": sorted(os.listdir(result.checkpoint.path))}))
