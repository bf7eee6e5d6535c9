#!/usr/bin/python3
"""The ranks of a node share one copy of the values of a dataset, in any format. Killed ranks leave no shared memory. If the ranks cannot
share memory, the run continues without it."""
import gzip
import os
import shutil
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

RANKS = 4
SAMPLES, SIDE = 4096, 128  # 64 MiB
MIB = SAMPLES * SIDE * SIDE >> 20
_library = None


def library():
    global _library
    if _library is None:
        if shutil.which("g++") is None:
            skip("g++ is not installed")
        _library = scratch() / "libnode_memory.so"
        built = run(["g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{SOURCE / 'include'}",
                     SOURCE / "tests/support/programs/node_memory.cpp", "-o", _library], timeout=120)
        check(built.code == 0, "the module was not built", built)
    return _library


def rows():
    rest = os.urandom(1024) * (SIDE * SIDE // 1024)
    return [bytes([n % 251]) + rest[1:] for n in range(SAMPLES)]


def idx_bytes():
    return struct.pack(">BBBBIII", 0, 0, 8, 3, SAMPLES, SIDE, SIDE) + b"".join(rows())


def write_plain(folder):
    (folder / "x-images-idx3-ubyte").write_bytes(idx_bytes())
    return folder / "x-images-idx3-ubyte"


def write_gzip(folder):
    with gzip.open(folder / "x-images-idx3-ubyte.gz", "wb", compresslevel=1) as file:
        file.write(idx_bytes())
    return folder / "x-images-idx3-ubyte.gz"


def write_chunked(folder):
    try:
        import h5py
        import numpy
    except ImportError:
        skip("h5py is not installed (package python3-h5py)")
    with h5py.File(folder / "x.h5", "w") as file:
        values = numpy.frombuffer(b"".join(rows()), "u1").reshape(SAMPLES, SIDE, SIDE)
        file.create_dataset("images", data=values, chunks=(100, SIDE, SIDE), compression="gzip", compression_opts=1)
    return folder / "x.h5"


def write_texts(folder):
    texts = (bytes([ord("0") + n % 64]) * (SIDE * SIDE - n % 100) for n in range(SAMPLES))
    (folder / "x.csv").write_bytes(b"images\n" + b"\n".join(texts))
    return folder / "x.csv"


def config_of(folder, source, loop=None, **data):
    return write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": library()},
                                             "loop": loop or {}, "checkpoint": {"every": "off"},
                                             "data.train": {"source": source, "shuffle": True, "split": False, **data}})


def taken_by(job):
    """Returns the memory in MiB that all ranks together have taken."""
    check_exit(job, FINISHED)
    found = re.search(r"taken_kib=(-?\d+) read=(\d+)", job.out)
    equal(int(found[2]), 2 * SAMPLES, "samples that each rank has read", job)
    return int(found[1]) / 1024


def four_ranks_take_one_copy(write):
    folder = scratch()
    taken = taken_by(run_ranks(RANKS, config_of(folder, write(folder)), timeout=120))
    print(f"     {RANKS} ranks have taken {taken:.0f} MiB for {MIB} MiB")
    check(0.95 * MIB < taken < 1.6 * MIB, f"{RANKS} ranks have taken {taken:.0f} MiB for {MIB} MiB of values")


for form in (write_plain, write_gzip, write_chunked, write_texts):
    add_test(f"four_ranks_take_about_one_copy_of_the_values{form.__name__.removeprefix('write')}", four_ranks_take_one_copy, form)


@test
def all_ranks_together_keep_within_the_key_memory():
    folder = scratch()
    taken = taken_by(run_ranks(RANKS, config_of(folder, write_plain(folder), memory="6 MiB"), timeout=120))
    check(taken < 6 + 16, f"{RANKS} ranks have taken {taken:.0f} MiB, and memory is 6 MiB")  # 16 MiB for batches, stacks and code


@test
def killed_ranks_leave_nothing_in_dev_shm():
    """The ranks get their own /dev/shm, because other programs on this machine also create files there."""
    folder = scratch()
    listed = ["sh", "-c", f'"$@"; ls /dev/shm > {folder}/left', "sh"]
    job = Job([*own_mount("/dev/shm"), *listed, *ranks_command(RANKS, config_of(folder, write_plain(folder), {"wait": True}))])
    job.wait_for("taken_kib=", 60)
    check(any("memfd:trainrt" in line and int(line.split("-")[1].split()[0], 16) - int(line.split("-")[0], 16) >= MIB << 20
              for pid in job.ranks().values() for line in Path(f"/proc/{pid}/maps").read_text().splitlines()), "no rank maps shared values", job)
    kill(job.ranks().values())
    wait_until(lambda: (folder / "left").exists() and job.ended(), 60, "mpiexec to end", job)
    of_mpi = ("mpich", "MPICH", "ucx", "hwloc", "yaksa", "vader", "ompi")
    equal([name for name in (folder / "left").read_text().split() if not any(word in name for word in of_mpi)], [], "names in /dev/shm")


@test
def a_node_without_enough_memory_for_the_values_reads_files_with_a_warning():
    try:
        import h5py
    except ImportError:
        skip("h5py is not installed (package python3-h5py)")
    folder = scratch()
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("images", shape=(1 << 21, 1 << 20), dtype="u1")  # not written, so it reads as zeros
    config = config_of(folder, folder / "x.h5", {"batches": 1}, memory="4 TiB", subset="0", max_expanded_bytes="2 TiB")
    job = run_ranks(2, config, timeout=120)
    check_exit(job, FINISHED)
    check("read=2" in job.out, "the sample was not read in both epochs", job)
    check(re.search(r"\[data\.train\]: the ranks of a node cannot share memory for the values of this dataset.*2048\.\d GiB", job.err), "the warning is missing", job)


main()
