"""FashionMNIST for the benchmarks: the installed files, or only their first samples."""
import gzip
import struct

from bench import FASHION_MNIST, need

FILES = {"train": ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
         "test": ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")}


def need_fashion_mnist():
    for images, labels in FILES.values():
        need(FASHION_MNIST / images, "FashionMNIST (package dataset-fashion-mnist)")
        need(FASHION_MNIST / labels, "FashionMNIST (package dataset-fashion-mnist)")


def first_samples(folder, counts):
    """Writes the first `counts[part]` samples of each part into `folder`, as idx.gz files with the same names."""
    for part, names in FILES.items():
        for name in names:
            data = gzip.decompress((FASHION_MNIST / name).read_bytes())
            rank = data[3]
            extents = list(struct.unpack(f">{rank}I", data[4:4 + 4 * rank]))
            sample = 1
            for extent in extents[1:]:
                sample *= extent
            count = min(counts[part], extents[0])
            header = data[:4] + struct.pack(f">{rank}I", count, *extents[1:])
            body = data[4 + 4 * rank:4 + 4 * rank + count * sample]
            (folder / name).write_bytes(gzip.compress(header + body, 1))


def data_sections(folder, shuffle=False):
    """Returns the [data.NAME] sections of a config."""
    return "".join(f"[data.{part}]\nformat = idx\nsource = {folder / images}\nlabels = {folder / labels}\n"
                   f"shuffle = {'true' if shuffle and part == 'train' else 'false'}\n"
                   for part, (images, labels) in FILES.items())
