"""The number of workers and their resources: ScalingConfig, get_device(), and the backend and environment of torch.distributed."""

import os

import torch

import trainrt
from trainrt import train
from trainrt.train import RunConfig, ScalingConfig
from trainrt.train.torch import TorchConfig, TorchTrainer, get_device, get_devices

use_gpu = torch.cuda.is_available()

OTHERS = [
    ScalingConfig(num_workers=8),
    ScalingConfig(num_workers=8, use_gpu=True),
    ScalingConfig(num_workers=8, use_gpu=True, resources_per_worker={"CPU": 4, "GPU": 2}),
    ScalingConfig(num_workers=8, use_gpu=True, resources_per_worker={"CPU": 4, "GPU": 0.5}),  # two workers share a GPU
    ScalingConfig(num_workers=1, use_gpu=True, accelerator_type="A100"),  # request it from Slurm by --constraint or --gres
    ScalingConfig(num_workers=(2, 8)),  # elastic: a restarted job may have fewer workers
]


def train_func():
    device = get_device()
    devices = get_devices()
    assert device.type == ("cuda" if use_gpu else "cpu") and device in devices
    context = train.get_context()
    total = torch.ones(1)
    torch.distributed.all_reduce(total)
    train.report({"workers": total.item(), "world_size": context.get_world_size(), "local_world_size": context.get_local_world_size(),
                  "backend": torch.distributed.get_backend(), "interface": os.environ["NCCL_SOCKET_IFNAME"]})


if __name__ == "__main__":
    trainrt.init(runtime_env={"env_vars": {"NCCL_SOCKET_IFNAME": "ens5"}})  # also set on the workers
    for each in OTHERS:
        print(each.num_workers, "workers take", each.total_resources)
    trainer = TorchTrainer(
        train_func,
        scaling_config=ScalingConfig(num_workers=2, use_gpu=use_gpu, resources_per_worker={"CPU": 1}, trainer_resources={"CPU": 0}),
        torch_config=TorchConfig(backend="gloo"),  # the default with GPUs is NCCL
        run_config=RunConfig(name="scale_and_gpus"),
    )
    metrics = trainer.fit().metrics
    print("workers", int(metrics["workers"]), "backend", metrics["backend"], "interface", metrics["interface"])
