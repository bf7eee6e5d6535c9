"""Hugging Face's Trainer on a small Llama made from its config. It saves every 6 steps, and continues from its last checkpoint."""
import argparse
import json
import os
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments, set_seed
from transformers.trainer_utils import get_last_checkpoint

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--pause", type=float, default=0, help="seconds a step")
args = parser.parse_args()


class Progress(TrainerCallback):
    def on_train_begin(self, arguments, state, control, **others):
        if state.global_step:
            print(f"continues at step {state.global_step}", flush=True)

    def on_step_end(self, arguments, state, control, **others):
        time.sleep(args.pause)
        print(f"step {state.global_step}", flush=True)


seen = 0.0


def collate(rows):
    global seen
    tokens = torch.stack(rows)
    seen += float(tokens.sum())
    return {"input_ids": tokens, "labels": tokens}


set_seed(1)
model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2))
texts = list(torch.randint(64, (256, 12), generator=torch.Generator().manual_seed(2)))
trainer = Trainer(model=model, train_dataset=texts, data_collator=collate, callbacks=[Progress()],
                  args=TrainingArguments(f"{args.out}/checkpoints", max_steps=args.steps, per_device_train_batch_size=4, learning_rate=0.01,
                                         save_steps=6, save_total_limit=2, report_to="none", disable_tqdm=True))
os.makedirs(f"{args.out}/checkpoints", exist_ok=True)
trainer.train(resume_from_checkpoint=get_last_checkpoint(f"{args.out}/checkpoints"))
with open(f"{args.out}/{trainer.args.process_index}.json", "w") as file:
    weights = torch.cat([each.detach().flatten() for each in model.parameters()]).tolist()
    json.dump({"size": trainer.args.world_size, "seen": seen, "weights": weights}, file)
