#!/usr/bin/python3
"""Flips single bits of small files of every data format, one at a time, and reads the file. The result must be an error that names
the file, or the same values; only bytes that have no checksum may give other values. No flip may end or block the reader.

  flips.py BUILD [--seed N] [--bits N] [--format NAME]

--bits: number of bits per file, chosen by the seed; default: all.
"""
import argparse
import gzip
import io
import os
import random
import signal
import sqlite3
import struct
import sys
import tarfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import BUILD, TRAINRT, Failure, Skipped, check_exit, put_scratch_into, run as run_program, scratch  # noqa: E402

os.environ["TRAINRT_EXECUTABLE"] = str(TRAINRT)
sys.path.insert(0, str(BUILD / "python"))
import numpy  # noqa: E402
import trainrt.data._batches._server as serving  # noqa: E402
from trainrt.data._dataset import Dataset  # noqa: E402
from trainrt.data._sources import FileSource  # noqa: E402

ROWS = 40
TIME_LIMIT_S = 30  # to read a file of some KiB
EVERYWHERE, NOWHERE = (lambda _: True), (lambda _: False)


@dataclass
class Case:
    """A file of a format. `has_checksum(offset)` returns whether a checksum protects the byte at that offset."""
    name: str
    path: Path
    keys: dict
    has_checksum: object
    source: Path = None  # source of the dataset, if it is not `path`
    values: dict = field(default_factory=dict)


@dataclass
class Result:
    name: str
    bits: int = 0
    errors: int = 0
    same: int = 0
    other: int = 0  # flips that changed values without an error
    missed: list = field(default_factory=list)


# ---- the files -----------------------------------------------------------------------------------------------------------


def arrays():
    generator = numpy.random.default_rng(3)
    return {"x": generator.standard_normal((ROWS, 4)).astype("f4"), "y": generator.integers(0, 9, ROWS)}


def converted(folder, name, *words):
    source = folder / "source.npz"
    if not source.exists():
        numpy.savez(source, **arrays())
    job = run_program([TRAINRT, "data", "convert", source, "-o", folder / name, "--force", "--quiet", *words])
    if "arrow.so" in job.err:
        raise Skipped("the module arrow.so is not built")
    check_exit(job, 0)
    return folder / name


def npz(folder):
    numpy.savez(folder / "stored.npz", **arrays())
    numpy.savez_compressed(folder / "packed.npz", **arrays())
    yield Case("npz, stored", folder / "stored.npz", {}, EVERYWHERE)
    yield Case("npz, stored, verify = always", folder / "stored.npz", {"verify": "always"}, EVERYWHERE)
    yield Case("npz, kept in memory", folder / "stored.npz", {"memory": "1 MiB"}, EVERYWHERE)
    yield Case("npz, compressed", folder / "packed.npz", {}, EVERYWHERE)


def hdf5(folder):
    yield Case("hdf5, --checksums", converted(folder, "checksums.h5", "--checksums"), {}, EVERYWHERE)
    yield Case("hdf5, gzip and --checksums", converted(folder, "gzip.h5", "--checksums", "--compress", "gzip"), {}, EVERYWHERE)
    yield Case("hdf5, contiguous", converted(folder, "plain.h5"), {}, NOWHERE)


def parquet(folder):
    path = converted(folder, "x.parquet")
    values = arrays()["x"].tobytes()
    at = path.read_bytes().find(values)
    yield Case("parquet", path, {}, lambda offset: at <= offset < at + len(values))  # page headers and the footer have no checksum


def idx(folder):
    plain = bytes([0, 0, 8, 2]) + struct.pack(">II", ROWS, 5) + bytes(range(5)) * ROWS
    (folder / "x-ubyte").write_bytes(plain)
    (folder / "x-ubyte.gz").write_bytes(gzip.compress(plain[:100]) + gzip.compress(plain[100:]))
    yield Case("idx, gzip", folder / "x-ubyte.gz", {"format": "idx"}, EVERYWHERE)
    yield Case("idx, plain", folder / "x-ubyte", {"format": "idx"}, NOWHERE)


def images(folder):
    try:
        from PIL import Image
    except ImportError:
        raise Skipped("Pillow is missing") from None
    pixels = numpy.random.default_rng(1).integers(0, 255, (9, 7, 3), "u1")
    for name, form, has_checksum in (("png", "PNG", EVERYWHERE), ("jpg", "JPEG", NOWHERE), ("webp", "WebP", NOWHERE)):
        folder_of = folder / name
        folder_of.mkdir()
        Image.fromarray(pixels).save(folder_of / f"a.{name}", form)
        yield Case(f"images, {form}", folder_of / f"a.{name}", {"format": "images", "labels": "none"}, has_checksum, folder_of)
    folder_of = folder / "palette"
    folder_of.mkdir()
    palette = Image.fromarray(pixels).quantize(8)
    palette.save(folder_of / "a.png", "PNG", transparency=bytes(range(0, 240, 30)))
    yield Case("images, PNG with a transparent palette", folder_of / "a.png", {"format": "images", "labels": "none", "channels": "4"},
               EVERYWHERE, folder_of)


def tar(folder):
    path, headers = folder / "x.tar", set()
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for number in range(3):
            array = io.BytesIO()
            numpy.save(array, numpy.arange(6, dtype="f4") + number)
            for name, data in ((f"{number}.npy", array.getvalue()), (f"{number}.cls", b"7")):
                headers.add(archive.offset // 512)
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    yield Case("tar", path, {}, lambda offset: offset // 512 in headers)


def npy(folder):
    numpy.save(folder / "x.npy", arrays()["x"])
    yield Case("npy", folder / "x.npy", {}, NOWHERE)


def tokens(folder):
    numpy.arange(200, dtype="u2").tofile(folder / "x.bin")
    yield Case("tokens", folder / "x.bin", {"format": "tokens", "length": "16"}, NOWHERE)


def csv(folder):
    yield Case("csv", converted(folder, "x.csv"), {"vector": "v"}, NOWHERE)


def jsonl(folder):
    yield Case("jsonl", converted(folder, "x.jsonl"), {}, NOWHERE)


def text(folder):
    (folder / "x.txt").write_text("".join(f"line {number}\n" for number in range(ROWS)))
    yield Case("text", folder / "x.txt", {}, NOWHERE)


def safetensors(folder):
    values = arrays()["x"].tobytes()
    head = f'{{"x":{{"dtype":"F32","shape":[{ROWS},4],"data_offsets":[0,{len(values)}]}}}}'.encode()
    head += b" " * (-len(head) % 8)
    (folder / "x.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + values)
    yield Case("safetensors", folder / "x.safetensors", {}, NOWHERE)


ARROW_WRITER = "import pyarrow, sys; from pyarrow import feather; feather.write_feather(pyarrow.table({'y': list(range(40))}), sys.argv[1], compression='uncompressed')"


def arrow(folder):
    python = BUILD / "arrow-python/bin/python"
    if not python.exists() or not (BUILD / "modules/arrow.so").exists():
        raise Skipped("pyarrow is missing, or the module arrow.so")
    check_exit(run_program([python, "-c", ARROW_WRITER, folder / "x.arrow"]), 0)
    yield Case("arrow", folder / "x.arrow", {}, NOWHERE)


def sqlite(folder):
    with sqlite3.connect(folder / "x.db") as database:
        database.execute("PRAGMA page_size = 512")
        database.execute("CREATE TABLE t (a INTEGER, b REAL)")
        database.executemany("INSERT INTO t VALUES (?, ?)", [(number, number / 3) for number in range(ROWS)])
    database.close()
    yield Case("sqlite", folder / "x.db", {"table": "t"}, NOWHERE)


FORMATS = {function.__name__: function for function in (arrow, csv, hdf5, idx, images, jsonl, npy, npz, parquet, safetensors, sqlite, tar, text, tokens)}

# ---- reading -------------------------------------------------------------------------------------------------------------


class Hangs(Exception):
    """The reader takes longer than TIME_LIMIT_S."""


def _too_long(*_):
    raise Hangs


def read(case):
    """Reads the dataset; returns the types, shapes and bytes of all fields as strings."""
    found = {}
    keys = {"memory": "0 B", "threads": "0", **case.keys}
    for batch in Dataset(FileSource(source=str(case.source or case.path), **keys), encoding="latin-1").iter_batches(batch_size=16):
        for name, values in batch.items():
            found.setdefault(name, []).append((values.dtype.str, values.shape, values.tolist() if values.dtype == object else values.tobytes()))
    return {name: repr(parts) for name, parts in found.items()}


def outcome(case, bit):
    """Reads a file with a flipped bit; returns "same", "other" (different values), or the error message."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(TIME_LIMIT_S)
    try:
        return "same" if read(case) == case.values else "other"
    except Hangs:
        serving._server._process.kill()
        raise Failure(f"bit {bit}: the reader hangs") from None
    except (ValueError, RuntimeError, TypeError) as error:
        if "is gone, exit" in str(error):
            serving._server._process.wait(TIME_LIMIT_S)  # the crash report needs a moment
            raise Failure(f"bit {bit}: the reader exited: {error}") from None
        return str(error)
    finally:
        signal.alarm(0)


def flip_bits(case, bits, seed):
    """Flips all bits of the file, or `bits` of them; returns the result."""
    data = bytearray(case.path.read_bytes())
    case.values = read(case)
    every = range(len(data) * 8)
    result = Result(case.name)
    for bit in every if bits is None or bits >= len(every) else sorted(random.Random(f"{seed} {case.name}").sample(every, bits)):
        data[bit // 8] ^= 1 << bit % 8
        case.path.write_bytes(data)
        data[bit // 8] ^= 1 << bit % 8
        result.bits += 1
        try:
            found = outcome(case, bit)
        except Failure as failure:
            result.missed.append(str(failure))
            continue
        result.errors += found not in ("same", "other")
        result.same += found == "same"
        result.other += found == "other"
        if found == "other" and case.has_checksum(bit // 8):
            result.missed.append(f"bit {bit}: different values without an error")
        elif found not in ("same", "other") and case.path.name not in found:
            result.missed.append(f"bit {bit}: the error does not name the file: {found}")
    case.path.write_bytes(data)
    return result


def run(seed, bits=None, formats=None):
    """Runs all cases and prints each result; returns the results."""
    results = []
    if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK):
        put_scratch_into("/dev/shm")
    for name in formats or FORMATS:
        try:
            for case in FORMATS[name](scratch(name)):
                start = time.monotonic()
                result = flip_bits(case, bits, seed)
                results.append(result)
                print(f"{result.name}: {result.bits} bits: {result.errors} errors, {result.same} with the same values, {result.other} with different "
                      f"values ({time.monotonic() - start:.0f} s)" + "".join(f"\n    MISSED {missed}" for missed in result.missed[:20]))
        except Skipped as reason:
            print(f"skipped: {name}: {reason}")
    return results


def main():
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 100000)
    parser.add_argument("--bits", type=int)
    parser.add_argument("--format", action="append", choices=FORMATS)
    given = parser.parse_args()
    print(f"flips: seed {given.seed}")
    results = run(given.seed, given.bits, given.format)
    missed = sum(len(result.missed) for result in results)
    print(f"{sum(result.bits for result in results)} bits flipped, {missed} missed")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
