#!/usr/bin/env python3
"""Compares the steps of ResNet-18 and GPT-2 124M under trainrt with plain PyTorch. Runs tests/bench/bench_gpu.py once for each model and
precision, with the Python of this script. On the CPU, tiny models show that both programs run."""
import os
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench/bench_gpu.py"
on_cpu = ["--try-on-cpu"] if "TRAINRT_PARTS_ON_CPU" in os.environ else []
failed = []
for model, precision in (("gpt", "bf16"), ("resnet18", "bf16"), ("gpt", "fp32"), ("resnet18", "fp32")):
    done = subprocess.run([sys.executable, "-u", BENCH, *sys.argv[1:2], "--python", sys.executable, "--repetitions", "1", "--models", model, "--precisions", precision, *on_cpu])
    failed += [f"{model} {precision}"] if done.returncode != 0 else []
if failed:
    sys.exit(f"FAILED steps: {', '.join(failed)}")
