#!/usr/bin/python3
"""A run that stops anywhere within an epoch resumes with each remaining sample exactly once, in any order and on any number of
ranks. A change of the data in the meantime is reported."""
import random
import shutil
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

SAMPLES = 103
EPOCHS = 2
IN_FILES = {"memory": "0 B"}  # keeps no data in memory, so batches are read ahead from the files
ORDERS = {"in order": {}, "shuffled": {"shuffle": "true"}, "in blocks": {"shuffle": "true", "block": 7, "window": 3}}
_library = None


def library():
    global _library
    if _library is None:
        if shutil.which("g++") is None:
            skip("g++ is not installed")
        _library = scratch() / "libsamples.so"
        built = run(["g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{SOURCE / 'include'}",
                     SOURCE / "tests/support/programs/samples.cpp", "-o", _library], timeout=120)
        check(built.code == 0, "the module was not built", built)
    return _library


def write_files(folder, counts=(40, 0, 60, 3)):
    """Writes IDX files; sample n, counted over all files, begins with n modulo 251."""
    first = 0
    for number, count in enumerate(counts):
        if count:
            rows = b"".join(bytes([n % 251]) + bytes(15) for n in range(first, first + count))
            (folder / f"{number}-images-idx3-ubyte").write_bytes(struct.pack(">BBBBIII", 0, 0, 8, 3, count, 4, 4) + rows)
        first += count
    equal(first, SAMPLES, "samples written")


def config_of(folder, name="run", **data):
    return write_config(folder / f"{name}.ini", {"run": {"name": name, "storage_path": folder / "runs"}, "train": {"library": library()},
                                                 "scaling": {"on_resize": "keep_global_batch"},
                                                 "data.train": {"source": folder / "*-images-idx3-ubyte", **data}})


def seen(config):
    data = state_of(run_dir_of(config))["seen"][2]
    return list(struct.unpack(f"{len(data) // 8}q", data))


def check_each_once(config, job):
    check(seen(config) == [1] * SAMPLES * EPOCHS, "a sample was missed or seen twice", job)


@test
def every_sample_occurs_once_per_epoch_in_any_order_on_any_number_of_ranks():
    for ranks, (name, order) in zip((1, 2, 3), ORDERS.items()):
        for place in ({}, IN_FILES):
            folder = scratch()
            write_files(folder)
            config = config_of(folder, **order, **place)
            job = run_ranks(ranks, config)
            check_exit(job, FINISHED)
            check_each_once(config, job)


@test
def a_run_that_stops_at_any_step_resumes_after_it_on_any_number_of_ranks():
    for name, order in ORDERS.items():
        folder = scratch()
        write_files(folder)
        config = config_of(folder, **order, **IN_FILES)
        steps = [random.randint(first, first + 2) for first in (1, 6, 11, 16)]  # a run stops one step after the request
        print(f"{name}: stopped at {steps}")
        for step, ranks in zip(steps, (2, 1, 3, 2)):
            job = run_ranks(ranks, config, f"--loop.stop_at={step}")
            check_exit(job, STOPPED)
        job = run_ranks(2, config, "--loop.stop_at=0")
        check_exit(job, FINISHED)
        check_each_once(config, job)


def stopped_inside(folder, **data):
    write_files(folder)
    config = config_of(folder, **data)
    check_exit(run_ranks(2, config, "--loop.stop_at=3"), STOPPED)
    return config


@test
def files_or_an_order_that_changed_within_an_epoch_are_an_error_that_names_the_change():
    folder = scratch()
    config = stopped_inside(folder, shuffle="true")
    before = run_dir_of(config)
    for words, named in ((["--data.train.block=5"], ("103 samples, shuffled", "in blocks of 5")), (["--data.train.shuffle=false"], ("in their order",))):
        job = run_ranks(2, config, *words)
        check_exit(job, USAGE)
        check(all(word in job.err for word in ("[data.train]", "inside an epoch", *named)), "the change is not named", job)
    file = folder / "2-images-idx3-ubyte"
    content = file.read_bytes()
    file.write_bytes(content[:100] + bytes([77]) + content[101:])
    job = run_ranks(2, config)
    check_exit(job, USAGE)
    check("2-images-idx3-ubyte have changed" in job.err, "the changed file is not named", job)
    file.write_bytes(content)
    job = run_ranks(2, config, "--loop.stop_at=0")
    check_exit(job, FINISHED)
    check(run_dir_of(config) == before, "a new run was started")
    check_each_once(config, job)


@test
def a_run_on_samples_selected_by_a_condition_resumes_inside_an_epoch():
    for order in ORDERS.values():
        config = stopped_inside(scratch(), where="images[0] < 60 and images[0] != 200", **order, **IN_FILES)
        job = run_ranks(2, config, "--data.train.where=images[0] >= 43")
        check_exit(job, USAGE)
        check(job.err.count("60 of 103 samples with digest") == 2, "the changed condition is not named", job)
        job = run_ranks(3, config)
        check_exit(job, FINISHED)
        check(seen(config) == [1] * 60 * EPOCHS, "a sample was missed or seen twice", job)


@test
def check_reports_a_wrong_condition_with_its_position_and_the_valid_fields():
    folder = scratch()
    write_files(folder)
    for condition, words in {"images[0] >": ("at character 12",), "image > 3": ("at character 1", "no field 'image'", "the fields are: images"),
                             "images > 3": ("images[0]",), "images[0] > 'a'": ("a text and a number",)}.items():
        job = run([TRAINRT, "check", "--config", config_of(folder, where=condition)])
        check(job.code != 0 and all(word in job.out + job.err for word in ("[data.train]", "where", *words)), condition, job)


@test
def files_that_changed_between_epochs_are_used_with_a_warning():
    folder = scratch()
    write_files(folder)
    config = config_of(folder)
    check_exit(run_ranks(2, config, "--loop.epochs=1"), FINISHED)
    file = folder / "0-images-idx3-ubyte"
    content = file.read_bytes()
    file.write_bytes(content[:20] + bytes([9]) + content[21:])
    job = run_ranks(2, config, "--loop.epochs=2")
    check_exit(job, FINISHED)
    check("0-images-idx3-ubyte have changed" in job.err and "continues with the new data" in job.err, "the file is not named", job)
    check_each_once(config, job)


@test
def check_prints_the_content_of_a_dataset():
    folder = scratch()
    write_files(folder)
    job = run([TRAINRT, "check", "--config", config_of(folder)])
    check("dataset         train: ok, 103 samples in 3 files (idx): images u8[4, 4]" in job.out, "the content is not printed", job)


@test
def unreadable_samples_stop_a_run_or_are_skipped_and_counted_over_all_ranks():
    folder = scratch()
    bad = {3, 50, 51, 99}
    rows = "".join(f"{'?' if n in bad else n % 251}\n" for n in range(SAMPLES))
    (folder / "x.csv").write_text("images\n" + rows)
    config = config_of(folder, source=folder / "x.csv", types="images:u8", shuffle="true")
    job = run_ranks(2, config)
    check_exit(job, USAGE)
    check("x.csv', row 5" in job.err and "'?'" in job.err, "the position is not named", job)
    job = run_ranks(2, config, "--data.train.on_error=skip")
    check_exit(job, FINISHED)
    equal(seen(config), [0 if n in bad else 1 for n in range(SAMPLES)] * EPOCHS, "how often each sample was seen")
    equal([row["_data_skipped"] for row in reports(run_dir_of(config))], [len(bad), 2 * len(bad)], "samples counted as skipped")
    check(job.err.count("is skipped: ") >= 2 * len(bad), "the skipped samples are not named", job)


def write_arrays(folder, damaged):
    """Writes uncompressed a.npz and b.npz. b.npz holds the last samples, and one bit of one of its images is flipped."""
    try:
        import numpy
    except ImportError:
        skip("numpy is missing")
    images = numpy.zeros((SAMPLES, 4, 4), "u1")
    images[:, 0, 0] = numpy.arange(SAMPLES) % 251
    images[:, 3, 3] = 77
    numpy.savez(folder / "a.npz", images=images[:-len(damaged)])
    numpy.savez(folder / "b.npz", images=images[-len(damaged):])
    data = bytearray((folder / "b.npz").read_bytes())
    data[data.rindex(77)] ^= 64
    (folder / "b.npz").write_bytes(data)


@test
def an_array_with_a_wrong_checksum_fails_before_the_first_step_or_its_samples_are_skipped():
    folder, damaged = scratch(), range(SAMPLES - 3, SAMPLES)
    write_arrays(folder, damaged)
    config = config_of(folder, source=folder / "*.npz", shuffle="true")
    damage = "b.npz: the member 'images.npy' is damaged: its checksum is wrong"
    for ranks, keys in ((1, {}), (2, {}), (2, IN_FILES), (3, {"verify": "always", **IN_FILES})):
        job = run_ranks(ranks, config, *[f"--data.train.{key}={value}" for key, value in keys.items()])
        check_exit(job, USAGE)
        equal(job.err.count(damage), 1, f"messages of {ranks} ranks with {keys}", job)
    for words in (["inspect", "--all"], ["convert", "-o", folder / "out.h5"], ["inspect", "--verify=always", "--rows", "1", "--first", "0", "--data.subset=102"]):
        job = run([TRAINRT, "data", words[0], folder / "*.npz", "--format=npz", *words[1:]])
        check_exit(job, USAGE)
        check(damage in job.err and not (folder / "out.h5").exists(), "the damage is not named", job)
    job = run_ranks(2, config_of(folder, "off", source=folder / "*.npz"), "--data.train.verify=off")
    check_exit(job, FINISHED)
    skipping = config_of(folder, "skipping", source=folder / "*.npz", shuffle="true")
    job = run_ranks(2, skipping, "--data.train.on_error=skip")
    check_exit(job, FINISHED)
    check(damage in job.err, "the warning is missing", job)
    equal(seen(skipping), [0 if n in damaged else 1 for n in range(SAMPLES)] * EPOCHS, "how often each sample was seen")


main()
