#!/usr/bin/env python3
"""Compares the speed of batches from files to the GPU, for JPEG images and windows of tokens: a program under trainrt and PyTorch's DataLoader with
pinned memory."""
from concurrent.futures import ThreadPoolExecutor

from gpu_runs import *  # noqa: F403

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
REPETITIONS, SECONDS, BATCH = 1, 4, 64
IMAGES, TOKENS = (256, 2_000_000) if ON_CPU else (2048, 60_000_000)
WORKERS = min(8, len(os.sched_getaffinity(0)))
FOLDER = scratch("data")


def write_jpegs():
    import numpy
    from PIL import Image
    random_numbers = numpy.random.default_rng(1)
    folder = FOLDER / "images/noise"
    folder.mkdir(parents=True)
    small = random_numbers.integers(0, 256, (IMAGES, 14, 14, 3), "u1")

    def write(number):  # enlarged noise is as smooth as photographs
        Image.fromarray(small[number]).resize((224, 224), Image.BICUBIC).save(folder / f"{number:05}.jpg", quality=90)

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(write, range(len(small))))
    return FOLDER / "images"


def write_tokens():
    import numpy
    numpy.random.default_rng(2).integers(0, 50_000, TOKENS, "u2").tofile(FOLDER / "train.bin")
    return FOLDER / "train.bin"


def rate_of(job):
    check_exit(job, 0)
    found = re.search(r"samples_per_s=(\d+)", job.out + job.err)
    check(found, "the script printed no rate", job)
    return float(found[1])


def by_trainrt(keys):
    folder = scratch()
    config = write_config(folder / "data.ini", {
        "run": {"name": "data", "storage_path": folder / "runs"}, "train": {"program": f"{sys.executable} {SCRIPTS / 'device_batches.py'}"},
        "loop": {"seconds": SECONDS, "batch": BATCH}, "data.train": {**keys, "shuffle": True, "threads": WORKERS},
        "scaling": GPU, "failure": {"max_failures": 0}})
    return rate_of(run(command(config), START_SECONDS))


def by_loader(kind, path):
    return rate_of(run([sys.executable, SCRIPTS / "loader_batches.py", kind, path, BATCH, WORKERS, SECONDS], START_SECONDS))


def compare(kind, path, keys):
    ours, theirs = [], []
    for _ in range(REPETITIONS):
        ours.append(by_trainrt(keys))
        theirs.append(by_loader(kind, path))
    print(f"figure {kind} to the GPU by trainrt, {WORKERS} threads {max(ours):.0f} samples/s")
    print(f"figure {kind} to the GPU by DataLoader, {WORKERS} processes {max(theirs):.0f} samples/s")
    claim(f"{kind} to the GPU, trainrt over DataLoader", max(ours) / max(theirs), ">=", 1.0)


@test
def windows_of_tokens_reach_the_gpu_as_fast_as_by_the_data_loader():
    path = write_tokens()
    compare("tokens", path, {"source": path, "length": 1024, "memory": "8 MB"})


@test
def images_reach_the_gpu_as_fast_as_by_the_data_loader():
    folder = write_jpegs()
    compare("images", folder, {"format": "images", "source": folder})


main()
