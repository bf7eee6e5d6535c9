#!/usr/bin/python3
"""A small file that expands without bound, or a damaged HDF5 file that makes libhdf5 crash, loop or take all memory, gives an error that
names the file, with little time and memory. A failing test uses at most 4 GiB of memory."""
import struct
import sys
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403
from fakes.object_store import Store  # noqa: E402
import h5py  # noqa: E402
import numpy  # noqa: E402

MEMORY = 4 << 30


def limited(*words, timeout=60):
    return run(["prlimit", f"--as={MEMORY}", TRAINRT, *map(str, words)], timeout)


def check_named(job, *says):
    """Checks for a normal exit with an error that contains all words of `says`."""
    check(job.code in (USAGE, FAILED), f"exit {job.code}", job)
    for word in says:
        check(word in job.out + job.err, f"the message lacks {word!r}", job)


def plain_h5(path):
    """Writes a file with HDF5's older structures: groups with local heaps of names, and strings in a global heap."""
    with h5py.File(path, "w") as file:
        file["x"] = numpy.arange(120, dtype="i4").reshape(40, 3)
        group = file.create_group("more")
        for number in range(20):
            group[f"d{number}"] = numpy.arange(40, dtype="i2")
        file["names"] = ["one", "two"] * 20
    return bytearray(path.read_bytes())


def with_circle_of_free_blocks(path):
    """Writes a file in which the free block of a local heap points to itself: libhdf5 appends it to a list until memory runs out."""
    data = plain_h5(path)
    heap = data.index(b"HEAP")
    _, free, begin = struct.unpack_from("<QQQ", data, heap + 8)
    check(free != 1, "the heap has no free block")
    struct.pack_into("<Q", data, begin + free, free)
    path.write_bytes(data)
    return path


def with_free_space_of_no_size(path):
    """Writes a file in which the free space at the end of a global heap has size 0: libhdf5 searches it for the next object forever."""
    data = plain_h5(path)
    begin = data.index(b"GCOL")
    at = begin + 16
    while struct.unpack_from("<H", data, at)[0] != 0:
        at += 16 + (struct.unpack_from("<Q", data, at + 8)[0] + 7) // 8 * 8
    struct.pack_into("<Q", data, at + 8, 0)
    path.write_bytes(data)
    return path


@test
def a_damaged_hdf5_file_that_makes_libhdf5_take_all_memory_is_an_error_that_names_it():
    folder = scratch()
    path = with_circle_of_free_blocks(folder / "circle.h5")
    config = linear_config(folder, "run", data={"format": "hdf5", "source": path})
    for words in (["data", "inspect", path], ["data", "convert", path, "-o", folder / "out.h5"], ["check", "--config", config], ["--config", config],
                  ["verify", path]):
        begin = time.monotonic()
        job = limited(*words)
        check_named(job, "circle.h5", "HDF5 needs more memory than")
        check(time.monotonic() - begin < 20, "the command took too long", job)
    equal(sorted(entry.name for entry in folder.iterdir()), ["circle.h5", "run.ini"], "remaining files")


@test
def a_damaged_hdf5_file_that_makes_libhdf5_loop_is_an_error_that_names_it():
    path = with_free_space_of_no_size(scratch() / "loop.h5")
    check_named(limited("data", "inspect", path), "loop.h5", "HDF5 does not finish reading its structure within 5 s")


@test
def a_damaged_link_that_makes_libhdf5_crash_is_an_error_that_names_the_file():
    """With this link, libhdf5 before 1.14 frees a pointer that it has not set. Later versions refuse the link."""
    folder = scratch()
    (folder / "a.csv").write_text("x,yx\n1,2\n3,4\n")
    path = folder / "link.h5"
    check_exit(limited("data", "convert", folder / "a.csv", "-o", path), FINISHED)
    content = bytearray(path.read_bytes())
    link = content.index(b"\x01\x10\x01\x01x")  # version, flags, character set, length, name
    content[link + 2] ^= 8
    path.write_bytes(content)
    job = limited("data", "inspect", path)
    check_named(job, "link.h5", "cannot be read: cannot list a group" if "bad cset" in job.err else "HDF5 crashes while reading its structure")


@test
def a_damaged_hdf5_file_in_an_object_store_is_an_error_that_names_it():
    folder, own = scratch(), Store()
    own.put("data", "circle.h5", with_circle_of_free_blocks(folder / "circle.h5").read_bytes())
    own.put("data", "good.h5", bytes(plain_h5(folder / "good.h5")))
    job = run([TRAINRT, "data", "inspect", "s3://data/good.h5", "--fields=x"], env=own.environment())
    if job.code != FINISHED and "libcurl" in job.err:
        skip("built without object stores")
    check_exit(job, FINISHED)
    check_named(run(["prlimit", f"--as={MEMORY}", TRAINRT, "data", "inspect", "s3://data/circle.h5"], env=own.environment()), "s3://data/circle.h5",
                "HDF5 needs more memory than")


@test
def files_after_a_damaged_file_are_read_if_errors_are_skipped():
    folder = scratch()
    plain_h5(folder / "a.h5"), plain_h5(folder / "c.h5")
    with_circle_of_free_blocks(folder / "b.h5")
    job = limited("data", "inspect", folder / "*.h5", "--fields=x", "--on_error=skip")
    check_exit(job, FINISHED)
    check("b.h5" in job.err and "HDF5 needs more memory" in job.err, "the skipped file is not named", job)
    check("80 samples" in job.out + job.err, "the other files are not read", job)


@test
def a_missing_h5_examiner_gives_one_warning():
    folder = scratch()
    plain_h5(folder / "a.h5")
    job = run([TRAINRT, "data", "inspect", folder / "a.h5", "--fields=x"], env={**os.environ, "TRAINRT_MODULE_PATH": str(folder)})
    check_exit(job, FINISHED)
    equal(job.err.count("h5_examiner"), 1, "number of warnings", job)


def zeros_deflated(bytes_of_zeros):
    """Returns raw deflate data of `bytes_of_zeros` zeros, a multiple of 16 MiB, by repeating one compressed block."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(16 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (bytes_of_zeros // (16 << 20)) + b"\x03\x00"


@test
def a_small_gzip_file_that_expands_to_4_gib_is_refused_with_file_and_limit():
    path = scratch() / "bomb-idx2-ubyte.gz"
    zeros = zeros_deflated(4 << 30)
    header = struct.pack(">HBBII", 0, 8, 2, 1 << 20, 4095)
    stored = struct.pack("<BHH", 0, len(header), len(header) ^ 0xFFFF) + header
    path.write_bytes(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + stored + zeros + struct.pack("<II", 0, 12 + (4095 << 20)))
    check(path.stat().st_size < 5_000_000, "the file is not small")
    check_named(limited("data", "inspect", path), "bomb-idx2-ubyte.gz", "max_expanded_bytes = 1073741824")


@test
def a_huge_hdf5_dataset_without_stored_values_is_refused_with_dataset_and_limit():
    folder = scratch()
    with h5py.File(folder / "empty.h5", "w") as file:
        file.create_dataset("x", (1 << 40, 8), "f4", chunks=(1024, 8), compression="gzip")
    check((folder / "empty.h5").stat().st_size < 10_000, "the file is not small")
    job = limited("data", "convert", folder / "empty.h5", "-o", folder / "out.npz")
    check_named(job, "dataset 'x' of", "empty.h5", "max_expanded_bytes = 1073741824")
    with h5py.File(folder / "chunk.h5", "w") as file:
        file.create_dataset("x", (600, 1 << 20), "f4", chunks=(600, 1 << 20), compression="gzip")
    check_named(limited("data", "inspect", folder / "chunk.h5"), "dataset 'x' of", "chunk.h5", "max_expanded_bytes")


main()
