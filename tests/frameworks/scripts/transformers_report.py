"""Transformers' Trainer under a TorchTrainer of trainrt.train: `transformers_report.py NAME`. $KILL_AT: the step at which rank 1 is killed,
once; $DATA: torch or shard, or rows for a TransformersTrainer; $RUNS. Prints the digest of the weights."""
import hashlib
import json
import os
import signal
import sys

import numpy
import torch
import trainrt
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments, set_seed
from trainrt import train
from trainrt.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
from trainrt.train.huggingface.transformers import RayTrainReportCallback, TransformersTrainer, prepare_trainer
from trainrt.train.torch import TorchTrainer

NAME, OVER_SHARDS = sys.argv[1], os.environ.get("DATA") == "shard"


class Kills(TrainerCallback):
    def on_step_end(self, args, state, control, **others):
        marker = os.path.join(os.environ["RUNS"], f"killed-{NAME}")
        if state.global_step == int(os.environ.get("KILL_AT", 0)) and args.process_index == 1 and not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)


def collate(rows):
    tokens = torch.stack(rows)
    return {"input_ids": tokens, "labels": tokens}


class Digests(TrainerCallback):
    def on_train_end(self, args, state, control, model=None, **others):
        if args.process_index == 0:
            with open(os.path.join(os.environ["RUNS"], f"digest-{NAME}"), "w") as file:
                file.write(digest_of(model))


def digest_of(model):
    return hashlib.sha256(b"".join(value.detach().numpy().tobytes() for value in model.parameters())).hexdigest()


def trainer_init_per_worker(train_dataset, eval_dataset, accumulation):
    torch.set_num_threads(1)
    set_seed(1)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, attention_dropout=0.1))
    args = TrainingArguments(os.path.join(os.environ["RUNS"], f"out-{NAME}"), num_train_epochs=3, per_device_train_batch_size=4, learning_rate=0.01, save_steps=10,
                             save_strategy="steps", logging_steps=6, eval_strategy="epoch", report_to="none", disable_tqdm=True, use_cpu=True,
                             gradient_accumulation_steps=accumulation)
    return Trainer(model=model, args=args, train_dataset=train_dataset, eval_dataset=eval_dataset, callbacks=[Kills(), Digests()])


def loop():
    torch.set_num_threads(1)
    set_seed(1)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, attention_dropout=0.1))
    args = TrainingArguments(os.path.join(os.environ["RUNS"], f"out-{NAME}"), max_steps=30, per_device_train_batch_size=4, learning_rate=0.01, save_steps=6,
                             save_strategy="steps", logging_steps=3, save_total_limit=2, report_to="none", disable_tqdm=True, use_cpu=True)
    if OVER_SHARDS:
        shard = train.get_dataset_shard("train").iter_torch_batches(batch_size=4, device="cpu")
        trainer = Trainer(model=model, args=args, train_dataset=shard, callbacks=[Kills(), RayTrainReportCallback()])
    else:
        texts = list(torch.randint(64, (256, 12), generator=torch.Generator().manual_seed(2)))
        trainer = Trainer(model=model, args=args, train_dataset=texts, data_collator=collate, callbacks=[Kills(), RayTrainReportCallback()])
    trainer = prepare_trainer(trainer)
    found = train.get_checkpoint()
    with found.as_directory() if found else open(os.devnull) as folder:
        trainer.train(resume_from_checkpoint=os.path.join(folder, RayTrainReportCallback.CHECKPOINT_NAME) if found else None)
    return {"size": trainer.args.world_size, "digest": digest_of(model)}


if __name__ == "__main__":
    run_config = RunConfig(name=NAME, storage_path=os.environ["RUNS"], checkpoint_config=CheckpointConfig(num_to_keep=2),
                           failure_config=FailureConfig(max_failures=2))
    tokens = numpy.random.default_rng(3).integers(64, size=(256, 12))
    data = trainrt.data.from_numpy({"input_ids": tokens, "labels": tokens})
    if os.environ.get("DATA") == "rows":
        result = TransformersTrainer(trainer_init_per_worker, trainer_init_config={"accumulation": int(os.environ["ACCUMULATION"])}, run_config=run_config,
                                     scaling_config=ScalingConfig(num_workers=2), datasets={"train": data.random_shuffle(), "evaluation": data.limit(30)}).fit()
        with open(os.path.join(os.environ["RUNS"], f"digest-{NAME}")) as file:
            print("RESULT", json.dumps({"size": 2, "digest": file.read(), "metrics": result.metrics, "files": sorted(os.listdir(result.checkpoint.path))}))
        sys.exit()
    datasets = {"train": data.random_shuffle()} if OVER_SHARDS else None
    result = TorchTrainer(loop, scaling_config=ScalingConfig(num_workers=2), run_config=run_config, datasets=datasets).fit()
    print("RESULT", json.dumps({**result.return_value, "metrics": result.metrics, "files": sorted(os.listdir(os.path.join(result.checkpoint.path, "checkpoint")))}))
