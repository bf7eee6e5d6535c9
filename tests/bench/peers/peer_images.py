"""Prints the samples per second of another library. argv[1] is turbojpeg, pillow, pillow_resized, webdataset or webdataset_decoded; argv[2] is a
folder of images of the same size, or an archive. Images are decoded in batches of 64 into one array, and every byte is read. The second pass is
measured."""
import sys
import time
from pathlib import Path

import numpy

peer, path = sys.argv[1:3]
BATCH = 64


def turbojpeg():
    """Decodes by the C interface into the array of the batch. A call from Python takes about 1 % of the time of an image."""
    import ctypes
    library = ctypes.CDLL("libturbojpeg.so.0")
    library.tjInitDecompress.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(library.tjInitDecompress())
    width, height, sampling = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()

    def decode(file, out):
        with open(file, "rb") as opened:
            data = opened.read()
        if library.tjDecompressHeader2(handle, data, ctypes.c_ulong(len(data)), ctypes.byref(width), ctypes.byref(height), ctypes.byref(sampling)):
            sys.exit("turbojpeg cannot read a header")
        if library.tjDecompress2(handle, data, ctypes.c_ulong(len(data)), ctypes.c_void_p(out.ctypes.data), width.value, 0, height.value, 0, 0):
            sys.exit("turbojpeg cannot decode an image")
    return decode


def pillow(size=None):
    from PIL import Image

    def decode(file, out):
        image = Image.open(file).convert("RGB")
        out[:] = numpy.asarray(image.resize(size, Image.BILINEAR) if size else image)
    return decode


def images(decode, size=None):
    from PIL import Image
    files = sorted(Path(path).rglob("*.jpg"))
    width, height = size or Image.open(files[0]).size
    batch = numpy.empty((BATCH, height, width, 3), "u1")

    def walk():
        for first in range(0, len(files), BATCH):
            for number, file in enumerate(files[first:first + BATCH]):
                decode(file, batch[number])
            batch.reshape(-1).view("u8").sum()
        return len(files)
    return walk


def webdataset(is_decoded):
    import webdataset
    dataset = webdataset.WebDataset(path, shardshuffle=False)
    dataset = (dataset.decode() if is_decoded else dataset).to_tuple("npy", "cls")
    return lambda: sum(1 for _ in dataset)


walk = {"turbojpeg": lambda: images(turbojpeg()), "pillow": lambda: images(pillow()), "pillow_resized": lambda: images(pillow((224, 224)), (224, 224)),
        "webdataset": lambda: webdataset(False), "webdataset_decoded": lambda: webdataset(True)}[peer]()
walk()
begin, cpu_begin = time.monotonic(), time.process_time()
seen = walk()
print(f"samples_per_s={seen / (time.monotonic() - begin):.0f} samples_per_cpu_s={seen / (time.process_time() - cpu_begin):.0f}")
