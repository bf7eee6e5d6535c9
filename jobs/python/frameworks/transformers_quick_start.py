"""Ray Train's guide for Hugging Face Transformers with a small model that needs no download: the Trainer with two additions.

    python3 transformers_quick_start.py                      # starts the workers
    srun trainrt -- python3 transformers_quick_start.py      # runs on the workers of srun
"""
import os

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

from trainrt import train
from trainrt.train import CheckpointConfig, RunConfig, ScalingConfig
from trainrt.train.huggingface.transformers import RayTrainReportCallback, prepare_trainer
from trainrt.train.torch import TorchTrainer


def texts(count):
    """Returns sequences that the model can learn to continue: each counts up in steps of its own size, modulo 64."""
    first, step = torch.arange(count) % 64, torch.arange(count) % 7 + 1
    return [(first[i] + step[i] * torch.arange(12)) % 64 for i in range(count)]


def collate(rows):
    tokens = torch.stack(rows)
    return {"input_ids": tokens, "labels": tokens}


def train_func():
    torch.set_num_threads(1)
    set_seed(1)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2))
    arguments = TrainingArguments(
        os.path.join(train.get_context().get_trial_dir(), "transformers"), max_steps=96, per_device_train_batch_size=8, learning_rate=0.01,
        save_strategy="steps", save_steps=12, logging_steps=12, save_total_limit=1, report_to="none", disable_tqdm=True, use_cpu=not torch.cuda.is_available())
    trainer = prepare_trainer(Trainer(model=model, args=arguments, train_dataset=texts(512), data_collator=collate, callbacks=[RayTrainReportCallback()]))
    checkpoint = train.get_checkpoint()
    if checkpoint is None:
        trainer.train()
    else:
        with checkpoint.as_directory() as folder:
            trainer.train(resume_from_checkpoint=os.path.join(folder, RayTrainReportCallback.CHECKPOINT_NAME))


if __name__ == "__main__":
    result = TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2),
                          run_config=RunConfig(name="transformers_quick_start", checkpoint_config=CheckpointConfig(num_to_keep=2))).fit()
    print("last report:", result.metrics)
