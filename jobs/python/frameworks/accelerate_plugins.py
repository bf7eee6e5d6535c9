"""Ray Train's guide for Accelerate, the part about its configuration: DeepSpeed's or FSDP's plugin, configured in the function of a TorchTrainer.

    python3 accelerate_plugins.py --plugin deepspeed                      # starts the workers
    srun trainrt -- python3 accelerate_plugins.py --plugin fsdp           # runs on the workers of srun; FSDP needs GPUs
"""
import argparse
import tempfile

import torch
from accelerate import Accelerator, DeepSpeedPlugin, FullyShardedDataParallelPlugin
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from trainrt import train
from trainrt.train import Checkpoint, CheckpointConfig, RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer

EPOCHS = 8
DEEPSPEED_CONFIG = {"fp16": {"enabled": torch.cuda.is_available()}, "zero_optimization": {"stage": 3}, "gradient_accumulation_steps": "auto",
                    "gradient_clipping": "auto", "train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto", "zero_allow_untested_optimizer": True}


def plugin_of(name):
    if name == "deepspeed":
        return {"deepspeed_plugin": DeepSpeedPlugin(hf_ds_config=DEEPSPEED_CONFIG)}
    return {"fsdp_plugin": FullyShardedDataParallelPlugin(state_dict_type="SHARDED_STATE_DICT")}


def train_func(config):
    torch.set_num_threads(1)
    set_seed(1)
    inputs, order = torch.randn(512, 8), torch.Generator()
    accelerator = Accelerator(**plugin_of(config["plugin"]))
    loader = DataLoader(TensorDataset(inputs, inputs[:, :1] * inputs[:, 1:2]), batch_size=16, shuffle=True, generator=order)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=0.01), loader)
    first, checkpoint = 0, train.get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as folder:
            accelerator.load_state(folder)
        first = checkpoint.get_metadata()["epoch"]
    for epoch in range(first, EPOCHS):
        order.manual_seed(epoch)  # the same order after a restart
        total = torch.zeros((), device=accelerator.device)
        for batch, targets in loader:
            loss = nn.functional.mse_loss(model(batch), targets)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            total += loss.detach()
        with tempfile.TemporaryDirectory() as folder:
            accelerator.save_state(folder)  # saves this worker's part
            accelerator.wait_for_everyone()
            given = Checkpoint.from_directory(folder)
            given.set_metadata({"epoch": epoch + 1})
            train.report({"loss": accelerator.reduce(total, "mean").item() / len(loader)}, checkpoint=given)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", choices=("deepspeed", "fsdp"), default="deepspeed")
    result = TorchTrainer(train_func, train_loop_config=vars(parser.parse_args()), scaling_config=ScalingConfig(num_workers=2),
                          run_config=RunConfig(name="accelerate_plugins", checkpoint_config=CheckpointConfig(num_to_keep=2))).fit()
    print("last report:", result.metrics)
