"""Saves one rank's share of the state by torch.save and fsync, started by bench_checkpoint.py. Each file is removed after the save.

    peer_torch_save.py FILE BYTES TENSORS

Each line on standard input requests a save; the answer is its begin and end on the system's monotonic clock.
"""
import os
import sys
import time

import torch


def save(state, path):
    begin = time.monotonic()
    torch.save(state, path)  # with a path, torch uses its C++ writer and no Python file object
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.close(file)
    end = time.monotonic()
    os.unlink(path)
    return begin, end


def main():
    path, size, tensors = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    elements = size // tensors // 4
    state = {f"model/layer{i}/weight": torch.rand(elements) for i in range(tensors)}
    print("ready", flush=True)
    for _ in sys.stdin:
        print(*save(state, path), flush=True)


main()
