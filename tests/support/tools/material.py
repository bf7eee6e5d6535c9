"""Files that examples of the guides read: data files by their extension, configs, programs and run directories, made when an example names
one that does not exist."""
import json
import shutil
import sqlite3
import struct
from pathlib import Path

SAMPLES = 64
HEADER = ("id", "price", "area", "age", "rooms", "city", "year", "label", "y", "f0", "f1", "f2", "station", "temperature", "pressure")


def row(number):
    x = number % 7
    return (number, 100 + 3 * x, 40 + x, 20 + x, 1 + x % 4, ("Bonn", "Bern", "Graz")[number % 3], 1980 + number, number % 2, 0.5 * x, x, 2 * x, x * x,
            number // 32, 15 + 0.5 * x, 1000 + x)


def csv(path, without=()):
    kept = [column for column, name in enumerate(HEADER) if name not in without]
    rows = [HEADER, *(row(number) for number in range(SAMPLES))]
    path.write_text("".join(",".join(str(cells[column]) for column in kept) + "\n" for cells in rows))


def numeric_csv(path):
    csv(path, without=("city",))


def jsonl(path):
    path.write_text("".join(json.dumps({**dict(zip(HEADER, row(number))), "text": f"text {number}"}) + "\n" for number in range(SAMPLES)))


def arrays():
    import numpy
    random = numpy.random.default_rng(1)
    return {"id": numpy.arange(SAMPLES), "x": random.standard_normal((SAMPLES, 8), numpy.float32), "y": (numpy.arange(SAMPLES) % 2).astype(numpy.float32),
            "images": random.integers(0, 255, (SAMPLES, 28, 28), numpy.uint8), "labels": numpy.arange(SAMPLES, dtype=numpy.uint8) % 10}


def npy(path):
    import numpy
    numpy.save(path, arrays()["x"])


def npz(path):
    import numpy
    numpy.savez(path, **arrays())


def h5(path):
    import h5py
    with h5py.File(path, "w") as file:
        for group in (file, file.create_group("train")):
            for name, values in arrays().items():
                group[name] = values


def tokens(path):
    path.write_bytes(struct.pack(f"<{1 << 13}H", *(number % 97 for number in range(1 << 13))))


def sqlite(path):
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE houses ({', '.join(HEADER)})")
        database.executemany(f"INSERT INTO houses VALUES ({', '.join('?' * len(HEADER))})", map(row, range(SAMPLES)))
    database.close()


def jpeg(path):
    from PIL import Image
    Image.new("RGB", (32, 24), (200, 100, 50)).save(path, "JPEG")


def class_folders(path):
    for name in ("n01440764", "n01443537"):
        (path / name).mkdir(parents=True)
        for number in range(4):
            jpeg(path / name / f"{number}.JPEG")


def tar(path):
    import tarfile
    folder = path.parent / "samples"
    folder.mkdir(exist_ok=True)
    with tarfile.open(path, "w") as file:
        for number in range(8):
            jpeg(folder / f"{number}.jpg")
            (folder / f"{number}.cls").write_text(str(number % 2))
            for name in (f"{number}.jpg", f"{number}.cls"):
                file.add(folder / name, name)


PROGRAM = """#!/usr/bin/python3
import trainrt
ctx = trainrt.context()
state = trainrt.State()
state["epoch"] = 0
ctx.restore(state)
while state["epoch"] < 2:
    state["epoch"] += 1
    print(f"step {state['epoch']} loss 0.5")
    ctx.report({"loss": 0.5})
"""


def program(path):
    path.write_text(PROGRAM)
    path.chmod(0o755)


CONFIG = """[run]
name = {name}
storage_path = runs
[train]
function = linear
[loop]
epochs = 2
[data.train]
format = synthetic
samples = 256
"""
SWEEP = """[tune]
metric = loss
mode = min
num_samples = 2
[tune.space]
lr = loguniform(1e-4, 0.3)
"""
IMAGES = """[run]
name = template
storage_path = runs
[train]
function = fashion_mnist
[loop]
epochs = 10
hidden = 16
[checkpoint]
num_to_keep = 0
score_attribute = test_accuracy
[data.train]
source = train.npz
fields = images, labels
[data.test]
source = train.npz
fields = images, labels
"""


def config(path):
    path.write_text(CONFIG.format(name=path.stem))


def sweep_config(path):
    path.write_text(CONFIG.format(name=path.stem) + SWEEP)



def image_list(path):
    """Writes a list of images with labels, and the images in class folders next to the list."""
    class_folders(path.parent / "pictures")
    images = sorted(image for image in (path.parent / "pictures").rglob("*") if image.is_file())
    path.write_text("".join(f"{image.relative_to(path.parent)},{number % 2}\n" for number, image in enumerate(images)))


MAKERS = {".csv": csv, ".jsonl": jsonl, ".npy": npy, ".npz": npz, ".h5": h5, ".bin": tokens, ".db": sqlite, ".tar": tar, ".py": program, ".ini": config}
NEEDED_BY = {".parquet": ".csv"}  # trainrt makes the first from the second


def concrete(path):
    """Returns a path that the pattern matches: train-0.csv for train-*.csv."""
    return Path(str(path).replace("*", "0"))


def make_file(path, convert, maker=None):
    """Makes the data file, or a file that the pattern `path` matches, unless it exists. `convert(source, target)` converts a data file.
    Returns False if no maker is known for its extension."""
    path = Path(path)
    if (list(path.parent.glob(path.name)) if "*" in path.name else path.exists()) or path.is_symlink():
        return True
    path = concrete(path)
    maker = maker or (image_list if path.name == "images.csv" else MAKERS.get(path.suffix, class_folders if not path.suffix else None))
    if maker is None and path.suffix not in NEEDED_BY:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    if maker is not None:
        maker(path)
        return True
    source = path.with_suffix(NEEDED_BY[path.suffix])
    make_file(source, convert)
    convert(source, path)
    return True


def copy_run(template, path):
    """Copies a template run or sweep to `path`, unless it exists."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(template, path)
