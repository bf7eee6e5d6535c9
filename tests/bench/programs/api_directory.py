"""Handles a directory of argv[1] MiB in 8 files, which are on disk and in the page cache, in four ways in turn, argv[2] times: as a
checkpoint of train.report() on rank 0, by cp -r and sync, by reading it into memory, and by a copy in memory. Rank 0 prints the seconds of
each, and for the checkpoint those until report() returns (stall) and until it is committed (durable)."""
import os
import shutil
import subprocess
import sys
import time

from trainrt import train
from trainrt.train import Checkpoint, CheckpointConfig, DataParallelTrainer, RunConfig, collective

FILES = 8
PIECE = 1 << 20


def written(folder, mebibytes):
    os.makedirs(folder)
    for number in range(FILES):
        with open(os.path.join(folder, f"part-{number}.bin"), "wb") as file:
            for _ in range(mebibytes // FILES):
                file.write(os.urandom(PIECE))
            file.flush()
            os.fsync(file.fileno())
    return folder


def seconds_of(work):
    start = time.monotonic()
    work()
    return time.monotonic() - start


def copied_and_synced(source, target):
    subprocess.run(["cp", "-r", source, target], check=True)
    subprocess.run(["sync", "-f", target], check=True)


def read_all(source, memory):
    at = 0
    for name in os.listdir(source):
        with open(os.path.join(source, name), "rb", buffering=0) as file:
            while count := file.readinto(memory[at:at + 8 * PIECE]):
                at += count


def reported(source, number):
    """Reports with the checkpoint; returns (stall, durable) in seconds."""
    start = time.monotonic()
    train.report({"number": number}, checkpoint=Checkpoint(source))
    stall = time.monotonic() - start
    train.get_checkpoint()  # waits for the commit
    return stall, time.monotonic() - start


def train_function():
    mebibytes, repetitions = int(sys.argv[1]), int(sys.argv[2])
    is_first = train.get_context().get_world_rank() == 0
    bench_folder = os.path.join(train.get_context().get_storage().storage_path, "bench_folder")
    if is_first:
        source = written(os.path.join(bench_folder, "source"), mebibytes)
        memory, copy = (memoryview(bytearray(mebibytes * PIECE)) for _ in range(2))
    for number in range(repetitions + 1):
        collective.barrier()
        if not is_first:
            train.report({})
            continue
        memcpy = seconds_of(lambda: copy.__setitem__(slice(None), memory))
        read = seconds_of(lambda: read_all(source, memory))
        stall, durable = reported(source, number)
        cp = seconds_of(lambda: copied_and_synced(source, os.path.join(bench_folder, "copy")))
        shutil.rmtree(os.path.join(bench_folder, "copy"))
        if number > 0:  # the first one warms up
            print(f"times memcpy {memcpy:.4f} read {read:.4f} stall {stall:.4f} durable {durable:.4f} cp {cp:.4f}", flush=True)


DataParallelTrainer(train_function, run_config=RunConfig(checkpoint_config=CheckpointConfig(num_to_keep=1))).fit()
