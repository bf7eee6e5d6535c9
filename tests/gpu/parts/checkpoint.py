#!/usr/bin/env python3
"""Compares saves and loads of GPU memory by trainrt with torch.save and torch.distributed.checkpoint, for states of 1, 4 and 16 GiB.

The files are on the disk of $TMPDIR, or in /dev/shm if that disk is slow: a slow disk would not change the stalls, but the part would not
end in time."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

SCRIPT = Path(__file__).resolve().parents[1] / "scripts/save_times.py"
SIZES = (1, 4, 16)  # GiB
SLOW_DISK = 1e9     # bytes/s
FAKE_GPUS = {name: value for name, value in os.environ.items() if name == "TRAINRT_TEST_FAKE_GPUS"}  # run() would remove it
END = time.monotonic() + float(os.environ.get("TRAINRT_PART_SECONDS", "100"))


def write_rate(path):
    block, blocks = bytes(64 << 20), 8
    start = time.monotonic()
    try:
        with open(path, "wb") as file:
            for _ in range(blocks):
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
        return blocks * len(block) / (time.monotonic() - start)
    finally:
        os.unlink(path)


def saves(gib, program):
    folder = scratch("save")
    needed = 3 * (gib << 30)  # two checkpoints while one replaces the other, and a third as a margin
    if FAKE_GPUS:
        needed //= 512  # sized() of gpu_test.hpp
    if shutil.disk_usage(folder).free < needed:
        skip(f"{folder} has less than {needed >> 30} GiB free")
    if END - time.monotonic() < 5:
        skip("no time is left")
    try:
        job = run(program, END - time.monotonic() - 2, env={"TRAINRT_GPU_GIB": gib, "TRAINRT_GPU_FOLDER": folder, **FAKE_GPUS})
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for line in job.out.splitlines():
        if line.startswith(("figure ", "claim ")):
            print(line)
    if skipped := re.search(r"^skipped: (.*)$", job.out, re.M):
        skip(skipped[1])
    check(job.code == 0, "the program failed", job)


def choose_folder():
    disk = Path(os.environ.get("TMPDIR", "/tmp"))
    rate = write_rate(disk / f"trainrt-probe-{os.getpid()}")
    print(f"figure writes to the disk of {disk} {rate / 1e9:.3f} GB/s")
    if rate < SLOW_DISK and os.path.isdir("/dev/shm"):
        print("note the disk is slow - checkpoints are written to /dev/shm")
        put_scratch_into("/dev/shm")


for size in SIZES:  # trainrt's saves of all sizes come first, since the time may not suffice for both
    add_test(f"saves of {size} GiB by trainrt", saves, size, [BUILD / "tests/test_gpu", "[checkpoint]"])
for size in SIZES:
    add_test(f"saves of {size} GiB by PyTorch", saves, size, [sys.executable, SCRIPT])

main(choose_folder)
