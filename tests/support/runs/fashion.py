"""FashionMNIST, small: the first images of Debian's package, and a config that trains on them."""
import gzip
import struct
from pathlib import Path

from harness import BUILD, skip, write_config

_DATA = Path("/usr/share/datasets/fashion-mnist")
_FILES = {"train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"), "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")}


def require_fashion():
    """Skips the test if the images or the train function are missing."""
    if not (BUILD / "modules/torch.so").exists():
        skip("the torch module is not built")
    if not (_DATA / f"{_FILES['train'][0]}.gz").exists():
        skip("FashionMNIST not found (package dataset-fashion-mnist)")


def _first(name, path, count):
    """Returns the first images or labels of an IDX file as an uncompressed file."""
    if not path.exists():
        with gzip.open(_DATA / f"{name}.gz") as file:
            head = file.read(4)
            shape = struct.unpack(f">{head[3]}I", file.read(4 * head[3]))
            size = count
            for extent in shape[1:]:
                size *= extent
            path.write_bytes(head + struct.pack(f">{head[3]}I", count, *shape[1:]) + file.read(size))
    return path


def fashion_config(folder, name, loop=None, images=6144, storage=None, data_folder=None, **sections):
    """Returns the config of a run of fashion_mnist on `images` images, with a tenth of that number for evaluation. Its run directory is in
    folder/runs. The images are written to `data_folder` (default: `folder`) and reused by later runs."""
    require_fashion()
    place = data_folder or folder
    counts = {"train": images, "test": images // 10}
    data = {f"data.{part}": {"source": _first(pair[0], place / pair[0], counts[part]), "labels": _first(pair[1], place / pair[1], counts[part]),
                             "shuffle": part == "train"} for part, pair in _FILES.items()}
    return write_config(folder / f"{name}.ini", {
        "run": {"name": name, "storage_path": storage or folder / "runs", "seed": 3}, "train": {"function": "fashion_mnist"},
        "loop": {"epochs": 4, "batch_size": 64, "lr": 0.05, "hidden": 64, "dropout": 0.1, **(loop or {})}, **data,
        **{"checkpoint": {"num_to_keep": 2}, **sections}})
