# limit: 240; environment: transformers4
"""Transformers' Trainer in a train function, with `evaluation_strategy`: RayTrainReportCallback, and a callback of the script. A small BERT and random
tokens replace bert-base-cased and Yelp; the accuracy is computed without the package evaluate."""
import importlib.util
import os
import sys

if importlib.util.find_spec("transformers") is None:
    print("skipped: Transformers is not installed")
    sys.exit()

import numpy as np
import torch
import transformers
import trainrt.train.huggingface.transformers
from trainrt import train
from trainrt.train import Checkpoint, CheckpointConfig, RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer
from transformers import AutoConfig, AutoModelForSequenceClassification, Trainer, TrainingArguments
from transformers.trainer_callback import TrainerCallback

if "evaluation_strategy" not in TrainingArguments.__dataclass_fields__:
    print(f"skipped: Transformers {transformers.__version__} has no evaluation_strategy")
    sys.exit()


class MyTrainReportCallback(TrainerCallback):
    def __init__(self):
        super().__init__()
        self.metrics = {}

    def on_log(self, args, state, control, model=None, logs=None, **kwargs):
        self.metrics.update(logs)

    def on_save(self, args, state, control, **kwargs):
        checkpoint = None
        if train.get_context().get_world_rank() == 0:
            checkpoint_path = transformers.trainer.get_last_checkpoint(args.output_dir)
            checkpoint = Checkpoint.from_directory(checkpoint_path)
        trainrt.train.report(metrics=self.metrics, checkpoint=checkpoint)
        self.metrics = {}


def train_func(config):
    torch.set_num_threads(1)
    random = np.random.default_rng(1)
    rows = [{"input_ids": random.integers(32, size=12).tolist(), "label": number % 5} for number in range(48)]
    model = AutoModelForSequenceClassification.from_config(AutoConfig.for_model(
        "bert", hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, vocab_size=32, num_labels=5))

    def compute_metrics(eval_pred):
        logits, labels = eval_pred
        predictions = np.argmax(logits, axis=-1)
        return {"accuracy": float((predictions == labels).mean())}

    training_args = TrainingArguments(
        output_dir=config["output_dir"],
        evaluation_strategy="epoch",
        save_strategy="epoch",
        report_to="none",
    )
    trainer = Trainer(
        model=model,
        args=training_args,
        train_dataset=rows[:32],
        eval_dataset=rows[32:],
        compute_metrics=compute_metrics,
    )
    if config["is_custom"]:
        trainer.add_callback(MyTrainReportCallback())
    else:
        callback = trainrt.train.huggingface.transformers.RayTrainReportCallback()
        trainer.add_callback(callback)
    trainer = trainrt.train.huggingface.transformers.prepare_trainer(trainer)
    trainer.train()


def result_of(name, is_custom):
    trainer = TorchTrainer(
        train_func,
        train_loop_config={"output_dir": f"test_trainer_{name}", "is_custom": is_custom},
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(
            name=name,
            checkpoint_config=CheckpointConfig(
                num_to_keep=3,
                checkpoint_score_attribute="eval_loss",
                checkpoint_score_order="min",
            )
        ),
    )
    return trainer.fit()


result = result_of("callback", False)
assert {"eval_loss", "eval_accuracy"} <= set(result.metrics), result.metrics
with result.checkpoint.as_directory() as checkpoint_dir:
    checkpoint_path = os.path.join(
        checkpoint_dir,
        trainrt.train.huggingface.transformers.RayTrainReportCallback.CHECKPOINT_NAME,
    )
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint_path)
assert model.config.num_labels == 5
result = result_of("custom", True)
assert "model.safetensors" in os.listdir(result.checkpoint.path) and "eval_loss" in result.reports[0], result.reports
print("ok")
