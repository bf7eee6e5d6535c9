# limit: 240; environment: transformers4
"""TransformersTrainer as the guides of Ray 2.1 to 2.7 use it, with `evaluation_strategy` and `no_cuda`; a small Llama and tokens replace GPT-2 and Wikitext."""
import importlib.util
import sys

if importlib.util.find_spec("transformers") is None:
    print("skipped: Transformers is not installed")
    sys.exit()

import numpy
import torch
import transformers
import trainrt
from transformers import AutoConfig, AutoModelForCausalLM
from trainrt.train import ScalingConfig
from trainrt.train.huggingface import TransformersTrainer

if "evaluation_strategy" not in {each.name for each in transformers.TrainingArguments.__dataclass_fields__.values()}:
    print(f"skipped: Transformers {transformers.__version__} has no evaluation_strategy")
    sys.exit()

torch.set_num_threads(1)
use_gpu = False
block_size = 16
tokens = numpy.random.default_rng(1).integers(32, size=(56, block_size))
ray_train_ds = trainrt.data.from_numpy({"input_ids": tokens[:40], "labels": tokens[:40]})
ray_evaluation_ds = trainrt.data.from_numpy({"input_ids": tokens[40:], "labels": tokens[40:]})


def trainer_init_per_worker(train_dataset, eval_dataset, **config):
    model_config = AutoConfig.for_model("llama", hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, vocab_size=32)
    model = AutoModelForCausalLM.from_config(model_config)
    args = transformers.TrainingArguments(
        output_dir="gpt2-wikitext2",
        evaluation_strategy="epoch",
        save_strategy="epoch",
        logging_strategy="epoch",
        learning_rate=2e-5,
        weight_decay=0.01,
        no_cuda=(not use_gpu),
    )
    return transformers.Trainer(
        model=model,
        args=args,
        train_dataset=train_dataset,
        eval_dataset=eval_dataset,
    )


scaling_config = ScalingConfig(num_workers=2, use_gpu=use_gpu)
trainer = TransformersTrainer(
    trainer_init_per_worker=trainer_init_per_worker,
    scaling_config=scaling_config,
    datasets={"train": ray_train_ds, "evaluation": ray_evaluation_ds},
)
result = trainer.fit()
assert result.metrics["epoch"] == 3 and result.metrics["step"] == 9, result.metrics
assert {"loss", "eval_loss", "train_loss", "learning_rate"} <= set(result.metrics), result.metrics
assert [metrics["step"] for _, metrics in result.best_checkpoints] == [3, 6, 9], result.best_checkpoints
assert result.best_checkpoints[2][1]["eval_loss"] == result.metrics["eval_loss"], result.best_checkpoints
model = result.checkpoint.get_model(AutoModelForCausalLM)
assert model.config.hidden_size == 16
print("ok")
