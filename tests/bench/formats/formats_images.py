#!/usr/bin/python3
"""Images and archives: samples per second that a train function receives from [data.train] on one rank, in batches of 64, with a warm page
cache and no samples kept in memory. The rates of images are per second of CPU time of all threads, those of archives per second of wall
time. Arguments after the build directory select rows of this table.

jpeg_224    JPEG images of 224 x 224, quality 90, compared with turbojpeg's C interface in a loop over the files, and with Pillow's
            Image.open().convert(), both into an array of a batch
jpeg_500    the same for images of 375 x 500
resized     images of 375 x 500 resized to 224 x 224, compared with Pillow's resize() with the same filter, which computes the same values
tar         an archive of 20,000 samples, each an array of 784 bytes and a label, compared with WebDataset, which returns bytes, and with its
            decode()
"""
import io
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench import BUILD, SOURCE, TRAINRT, Bench, need, ratio, skip, with_file  # noqa: E402

LIBRARY = BUILD / "bench/data_loop.so"
WEBDATASET = "webdataset==1.0.2"


def photo(numbers, height, width):
    """Returns an image with smooth areas, edges and some noise, like a photograph: about 2 bits per pixel at quality 90."""
    y, x = numpy.mgrid[0:height, 0:width]
    image = numpy.zeros((height, width, 3))
    for _ in range(40):
        angle, scale, phase = numbers.uniform(0, 3), numbers.uniform(10, 100), numbers.uniform(0, 6, 3)
        wave = (x * numpy.cos(angle) + y * numpy.sin(angle))[..., None] / scale + phase
        image += numpy.sin(wave) * numbers.uniform(2, 15)
        if numbers.random() < 0.3:
            image += (wave % 6 < 2) * numbers.uniform(5, 20, 3)
    return numpy.clip(110 + image + numbers.normal(0, 4, image.shape), 0, 255).astype("u1")


def write_images(folder, height, width, count):
    from PIL import Image
    numbers = numpy.random.default_rng(height)
    folder.mkdir()
    different = [photo(numbers, height, width) for _ in range(20)]
    for number in range(count):
        Image.fromarray(numpy.roll(different[number % 20], number, axis=(0, 1))).save(folder / f"{number:04}.jpg", quality=90)
    return folder


def write_archive(path, count):
    numbers = numpy.random.default_rng(1)
    with tarfile.open(path, "w") as tar:
        for number in range(count):
            array = io.BytesIO()
            numpy.save(array, numbers.integers(0, 256, 784, "u1"))
            for ending, content in (("npy", array.getvalue()), ("cls", str(number % 10).encode())):
                info = tarfile.TarInfo(f"{number:06}.{ending}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return path


def with_webdataset():
    """Returns the Python of an environment with WebDataset and Debian's packages (torch), or None if it cannot be installed."""
    environment = BUILD / "bench/webdataset"
    python = environment / "bin/python"
    if not python.exists():
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", environment], check=True)
    if subprocess.run([python, "-c", "import webdataset"], capture_output=True).returncode != 0:
        done = subprocess.run([python, "-m", "pip", "install", "-q", WEBDATASET], capture_output=True, text=True)
        if done.returncode != 0:
            return None
    return python


def rate(label, output):
    unit = "s" if label.startswith(("tar", "webdataset")) else "cpu_s"
    return float(re.search(rf"samples_per_{unit}=([0-9]+)", output)[1])


def main():
    need(TRAINRT, "trainrt")
    need(LIBRARY, "data_loop.so")
    try:
        import PIL  # noqa: F401
    except ImportError:
        skip("Pillow is not installed (package python3-pil)")
    bench = Bench("formats_images", __doc__.strip())
    figures = {}
    small, large = write_images(bench.work / "small", 224, 224, 960), write_images(bench.work / "large", 375, 500, 2400)
    archive = write_archive(bench.work / "small.tar", 20_000)

    def ours(label, keys):
        text = "".join(f"{key} = {value}\n" for key, value in {"memory": "8 MB", **keys}.items())
        config = with_file(bench.work / "data.ini", f"[run]\nname = {label}\nstorage_path = {bench.fresh('runs')}\n[train]\nlibrary = {LIBRARY}\n"
                           f"[loop]\nbatch_size = 64\n[checkpoint]\nevery = off\n[data.train]\n{text}")
        figures.setdefault(label, []).append(rate(label, bench.run(label, [TRAINRT, "--config", config])[1]))

    def peer(label, what, path, python="/usr/bin/python3"):
        figures.setdefault(label, []).append(rate(label, bench.run(label, [python, SOURCE / "tests/bench/peers/peer_images.py", what, path])[1]))

    def jpeg(label, folder):
        ours(label, {"source": folder, "labels": "none"})
        peer(f"{label}_turbojpeg", "turbojpeg", folder)
        peer(f"{label}_pillow", "pillow", folder)

    def tar():
        ours("tar", {"source": archive})
        ours("tar_shuffled", {"source": archive, "shuffle": "true"})
        peer("webdataset", "webdataset", archive, webdataset)
        peer("webdataset_decoded", "webdataset_decoded", archive, webdataset)

    rows = {"jpeg_224": lambda: jpeg("jpeg_224", small), "jpeg_500": lambda: jpeg("jpeg_500", large),
            "resized": lambda: (ours("resized", {"source": large, "labels": "none", "size": "224x224"}),
                                peer("resized_pillow", "pillow_resized", large)),
            "tar": tar}
    claims = [(f"jpeg_{size}", f"vs_{name}", f"jpeg_{size}", f"jpeg_{size}_{name}", target)
              for size in (224, 500) for name, target in (("turbojpeg", 0.97), ("pillow", 1.15))]
    claims += [("resized", "vs_pillow", "resized", "resized_pillow", 1.15), ("tar", "vs_webdataset", "tar", "webdataset", 20),
               ("tar", "shuffled_vs_webdataset", "tar_shuffled", "webdataset", 20),
               ("tar", "vs_webdataset_decoded", "tar", "webdataset_decoded", 20)]
    asked = sys.argv[2:] or list(rows)
    if set(asked) - set(rows):
        sys.exit(f"no such row: {', '.join(sorted(set(asked) - set(rows)))}; valid rows are {', '.join(rows)}")
    webdataset = with_webdataset() if "tar" in asked else None
    if "tar" in asked and webdataset is None:
        print(f"skipped: tar: {WEBDATASET} cannot be installed", flush=True)
        asked.remove("tar")
    for _ in range(3):
        for row in asked:
            rows[row]()
    bench.note(figures)
    for row, name, own, other, target in claims:
        if row in asked:
            bench.claim(f"{row}_{name}", ratio(figures[own], figures[other]), ">=", target)
    bench.finish()


main()
