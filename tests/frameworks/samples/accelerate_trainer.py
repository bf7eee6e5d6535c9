# limit: 480; environment: torch
"""AccelerateTrainer as the guide of Ray 2.5 uses it, with a smaller dataset; and Accelerate's DeepSpeed plugin in the guide of Ray 2.7, on the CPU."""
import importlib.util
import sys

if importlib.util.find_spec("accelerate") is None:
    print("skipped: Accelerate is not installed")
    sys.exit()

import torch
import torch.nn as nn

from accelerate import Accelerator

import trainrt
from trainrt import train
from trainrt.train import Checkpoint, RunConfig, ScalingConfig
from trainrt.train.huggingface import AccelerateTrainer
from trainrt.train.torch import TorchTrainer

use_gpu = False
input_size = 1
layer_size = 15
output_size = 1
num_epochs = 3


class NeuralNetwork(nn.Module):
    def __init__(self):
        super(NeuralNetwork, self).__init__()
        self.layer1 = nn.Linear(input_size, layer_size)
        self.relu = nn.ReLU()
        self.layer2 = nn.Linear(layer_size, output_size)

    def forward(self, input):
        return self.layer2(self.relu(self.layer1(input)))


def train_loop_per_worker():
    torch.manual_seed(1)
    accelerator = Accelerator()
    dataset_shard = train.get_dataset_shard("train")
    model = NeuralNetwork()
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    model, optimizer = accelerator.prepare(model, optimizer)

    for epoch in range(num_epochs):
        for batches in dataset_shard.iter_torch_batches(
            batch_size=32, dtypes=torch.float
        ):
            inputs, labels = torch.unsqueeze(batches["x"], 1), batches["y"]
            output = model(inputs)
            loss = loss_fn(output, labels)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()

        train.report(
            metrics={"epoch": epoch, "loss": loss.item(), "size": accelerator.num_processes, "precision": accelerator.mixed_precision},
            checkpoint=Checkpoint.from_dict(
                dict(epoch=epoch, model=accelerator.unwrap_model(model).state_dict())
            ),
        )


def deepspeed_loop():
    from accelerate import Accelerator, DeepSpeedPlugin
    accelerator = Accelerator(deepspeed_plugin=DeepSpeedPlugin(hf_ds_config={
        "zero_optimization": {"stage": 2}, "gradient_accumulation_steps": "auto", "train_batch_size": "auto", "train_micro_batch_size_per_gpu": 4,
        "zero_allow_untested_optimizer": True}))
    model = NeuralNetwork()
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
    loss = model(torch.ones(4, 1)).square().mean()
    accelerator.backward(loss)
    optimizer.step()
    train.report({"type": str(accelerator.distributed_type), "size": accelerator.num_processes, "engine": type(model).__name__})


def plain_loop():
    accelerator = Accelerator()
    train.report({"type": str(accelerator.distributed_type), "size": accelerator.num_processes, "device": accelerator.device.type})


train_dataset = trainrt.data.from_items([{"x": x / 100, "y": 2 * x / 100 + 1} for x in range(64)])
scaling_config = ScalingConfig(num_workers=2, use_gpu=use_gpu)
trainer = AccelerateTrainer(
    train_loop_per_worker=train_loop_per_worker,
    # Instead of using a dict, you can run ``accelerate config``.
    # The default value of None will then load that configuration
    # file.
    accelerate_config={"mixed_precision": "bf16"},
    scaling_config=scaling_config,
    datasets={"train": train_dataset},
    run_config=RunConfig(name="trainer"),
)
result = trainer.fit()
assert (result.metrics["size"], result.metrics["precision"], result.metrics["epoch"]) == (2, "bf16", 2), result.metrics
assert set(result.checkpoint.to_dict()["model"]) == {"layer1.weight", "layer1.bias", "layer2.weight", "layer2.bias"}
found = TorchTrainer(plain_loop, scaling_config=scaling_config, run_config=RunConfig(name="plain")).fit().metrics
assert (found["type"], found["size"], found["device"]) == ("DistributedType.MULTI_CPU", 2, "cpu"), found
if importlib.util.find_spec("deepspeed") is not None:
    found = TorchTrainer(deepspeed_loop, scaling_config=scaling_config, run_config=RunConfig(name="deepspeed")).fit().metrics
    assert (found["type"], found["size"], found["engine"]) == ("DistributedType.DEEPSPEED", 2, "DeepSpeedEngine"), found
print("ok")
