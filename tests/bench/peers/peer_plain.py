"""One process of plain PyTorch, started by bench_gpu.py: only forward, backward and update, to measure the time of a step without a
runtime. Batches are slices of tensors on the device. Prints the seconds of each epoch as a JSON list at the end.

--model resnet18      the model of peer_resnet18.py with SGD and momentum, on idx.gz files of images; evaluates one batch after each
                      epoch, like the train function
--model gpt           the GPT-2 of the train function gpt (learned positions, pre-norm, tied embedding) with AdamW and gradients
                      clipped to norm 1, on an IDX file of i32 windows of tokens
--deterministic       use only deterministic algorithms, like trainrt
--precision           fp32 (TF32 is off), or bf16 by autocast
"""
import argparse
import json
import os
import time
from pathlib import Path

import numpy
import torch
from torch import nn
from torch.nn import functional

from peer_ddp import read_part
from peer_resnet18 import make_resnet18


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, t, width = x.shape
        q, k, v = (part.view(n, t, self.heads, width // self.heads).transpose(1, 2) for part in self.qkv(x).split(width, 2))
        if hasattr(functional, "scaled_dot_product_attention"):
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            later = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
            weights = q @ k.transpose(2, 3) / (width // self.heads) ** 0.5
            y = weights.masked_fill(later, float("-inf")).softmax(3) @ v
        return self.out(y.transpose(1, 2).reshape(n, t, width))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(width), Attention(width, heads), nn.LayerNorm(width)
        self.fc, self.out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.out(functional.gelu(self.fc(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(options.vocabulary, options.width), nn.Embedding(options.block, options.width)
        self.layers = nn.Sequential(*(Layer(options.width, options.heads) for _ in range(options.layers)))
        self.norm = nn.LayerNorm(options.width)

    def forward(self, tokens):
        x = self.layers(self.tokens(tokens) + self.positions.weight[:tokens.shape[1]])
        return functional.linear(self.norm(x), self.tokens.weight)


def read_windows(path):
    data = path.read_bytes()
    return numpy.frombuffer(data, ">i4", offset=4 + 4 * data[3]).reshape(numpy.frombuffer(data, ">u4", data[3], 4).astype(int)).astype(numpy.int64)


def autocast(options):
    return torch.autocast(options.device, torch.bfloat16, enabled=options.precision == "bf16")


def resnet_steps(options):
    images, labels = (torch.from_numpy(part.copy()).to(options.device) for part in read_part(options.data, "train"))
    model = make_resnet18().to(options.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def step(first, end):
        optimizer.zero_grad(set_to_none=True)
        with autocast(options):
            loss = functional.cross_entropy(model(images[first:end].float().div(255)), labels[first:end].long())
        loss.backward()
        optimizer.step()

    @torch.no_grad()
    def evaluate():
        model.eval()
        with autocast(options):
            logits = model(images[:options.batch_size].float().div(255))
        correct = (logits.argmax(1) == labels[:options.batch_size].long()).sum().item()
        model.train()
        return correct

    return len(labels), step, evaluate


def gpt_steps(options):
    windows = torch.from_numpy(read_windows(options.data)).to(options.device)
    model = Gpt(options).to(options.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1)

    def step(first, end):
        optimizer.zero_grad(set_to_none=True)
        with autocast(options):
            logits = model(windows[first:end, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1), windows[first:end, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return len(windows), step, lambda: None


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--model", choices=("resnet18", "gpt"), required=True)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--device", default="cuda")
    options.add_argument("--deterministic", action="store_true")
    options.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    options.add_argument("--epochs", type=int, required=True)
    options.add_argument("--batch-size", type=int, required=True)
    for name in ("vocabulary", "block", "layers", "heads", "width"):
        options.add_argument(f"--{name}", type=int)
    options = options.parse_args()
    torch.manual_seed(0)
    if options.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
        torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    samples, step, evaluate = resnet_steps(options) if options.model == "resnet18" else gpt_steps(options)
    epochs = []
    for _ in range(options.epochs):
        start = time.monotonic()
        for first in range(0, samples, options.batch_size):
            step(first, min(first + options.batch_size, samples))
        evaluate()
        if options.device == "cuda":
            torch.cuda.synchronize()
        epochs.append(time.monotonic() - start)
    print(json.dumps(epochs))


if __name__ == "__main__":
    main()
