#!/usr/bin/env python3
"""Runs every case of test_gpu in a separate process, so that a case that crashes or hangs does not affect the others."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

PROGRAM = BUILD / "tests/test_gpu"
FAKE_GPUS = {name: value for name, value in os.environ.items() if name == "TRAINRT_TEST_FAKE_GPUS"}  # run() would remove it
CASE_SECONDS = 600 if "TRAINRT_PARTS_ON_CPU" in os.environ else 60


def run_case(name):
    escaped = re.sub(r"([,\\\[])", r"\\\1", name)
    job = run([PROGRAM, escaped], CASE_SECONDS, env=FAKE_GPUS)
    for line in job.out.splitlines():
        if line.startswith(("figure ", "claim ", "GPU ")):
            print(line if not line.startswith("GPU ") else f"note {line}")
    if skipped := re.search(r"^skipped: (.*)$", job.out, re.M):
        skip(skipped[1])
    check(job.code == 0, "test_gpu failed", job)


def names():
    job = run([PROGRAM, "--list-test-names-only"], CASE_SECONDS)
    return [line.strip() for line in job.out.splitlines() if line.strip()]


for each in names():
    add_test(each.replace(":", " -"), run_case, each)

main()
