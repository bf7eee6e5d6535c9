#!/usr/bin/python3
"""Tests with file systems that run out of space or inodes, and with exceeded quotas. Every message must name the exhausted resource and the
key that reduces its use; `check` must warn before the run."""
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

NO_PROGRESS = 76  # exit code of a run that can record neither a checkpoint nor its end
SHIM = BUILD / "tests/fault_shim.so"
NO_INODES = "no inodes are left there for new files"
FEWER_FILES = "checkpoint.layout = single"
FEWER_BYTES = "set checkpoint.num_to_keep to a small number"


def config_of(folder, storage, epochs=4, **checkpoint):
    return linear_config(folder, "run", {"epochs": epochs}, {"samples": 64, "features": 1500}, {"num_to_keep": 3, **checkpoint}, storage)


def alone(config, *words, prefix=(), env=None):
    return run([*prefix, TRAINRT, *words, "--config", config], env=env)


def in_small(storage, options, config, *words):
    """Runs in a separate file system at `storage`. Returns the exit code and the remaining resources."""
    return alone(config, *words, prefix=own_mount(storage, options))


def says(job, *words, never=()):
    for word in words:
        check(word in job.err, f"the message lacks {word!r}", job)
    for word in never:
        check(word not in job.err, f"the message contains {word!r}", job)


@test
def the_error_of_a_run_without_free_inodes_names_the_keys_that_need_fewer_files():
    storage = scratch()
    job = in_small(storage, "size=100m,nr_inodes=14", config_of(scratch(), storage))
    check_exit(job, NO_PROGRESS)
    dropped = [line for line in job.err.splitlines() if "is dropped" in line]
    check(dropped, "no checkpoint was dropped", job)
    for line in (dropped[0], dropped[-1]):
        for word in (NO_INODES, "MiB of space are free", FEWER_FILES, "checkpoint.num_to_keep"):
            check(word in line, f"{word!r} is not in {line!r}", job)


@test
def the_error_of_a_run_without_free_space_names_the_key_that_needs_less():
    storage = scratch()
    job = in_small(storage, "size=100k", config_of(scratch(), storage))
    check_exit(job, FAILED)
    says(job, "of space are left there: remove files", FEWER_BYTES, never=[NO_INODES, FEWER_FILES, "the warning above", "remove files; free space"])


@test
def a_run_on_full_storage_is_not_restarted_and_says_once_what_is_full():
    storage = scratch()
    job = run([*own_mount(storage, "size=300k"), "sh", "-c", '"$@"; code=$?; "$0" result "$RUN"; exit $code', TRAINRT, TRAINRT, "-n", "2", "--config",
               config_of(scratch(), storage, epochs=40, num_to_keep=0)], env={"RUN": storage / "run"})
    check(job.code in (FAILED, NO_PROGRESS), f"exit {job.code}", job)  # NO_PROGRESS if the record of the attempt found no space, either
    says(job, "ranks 0-1 on ", "of space are left there", "failure 3 in a row", "not restarted on full storage", "the run resumes from its last checkpoint, of step ",
         never=["restarting the run", "given up"])
    lines = [line for line in job.err.splitlines() if "is dropped" in line]
    equal(len(lines), 3, "messages", job)
    check(len(lines[1]) < 200 and len(max(lines, key=len)) < 900, "the messages are long", job)
    check(job.code == NO_PROGRESS or "killed" not in job.out and "attempt 2" not in job.out, "the attempt has no recorded end", job)


@test
def a_run_is_not_restarted_if_the_storage_has_no_space_for_the_record_of_its_attempt():
    storage, config = scratch(), scratch()
    # After the first report, another process takes all space. The records of attempts have a file system of their own, so that a dropped
    # checkpoint frees nothing there.
    script = """mkdir -p "$0/run/attempts"; mount -t tmpfs -o size=16k tmpfs "$0/run/attempts"
        (while [ ! -s "$0/run/result.json" ]; do sleep 0.05; done
         while [ -d "$0" ]; do for folder in "$0/run/attempts" "$0"; do cat /dev/zero >> "$folder/other"; done; sleep 0.002; done) 2>/dev/null &
        other=$!; "$@"; code=$?; kill $other; ls "$0/run/attempts"; exit $code"""
    job = run([*own_mount(storage, "size=2m"), "sh", "-c", script, storage, TRAINRT, "-n", "2", "--config",
               config_of(config, storage, epochs=400, num_to_keep=0), "--loop.step_pause=0.02"])
    check_exit(job, NO_PROGRESS)
    says(job, "not restarted on full storage", "the failure could not be recorded", never=["restarting the run", "given up"])
    check("000001.json" in job.out and "000002" not in job.out, "the attempts", job)


@test
def storage_without_free_inodes_is_an_error_before_the_first_step():
    storage = scratch()
    job = in_small(storage, "size=100m,nr_inodes=1", config_of(scratch(), storage))
    check(job.code != 0, "the command did not fail", job)
    says(job, NO_INODES, FEWER_FILES)


@test
def the_error_of_a_sweep_without_free_inodes_names_them():
    folder, storage = scratch(), scratch()
    config = write_config(folder / "sweep.ini", {
        "run": {"name": "sweep", "storage_path": storage}, "train": {"function": "linear"}, "loop": {"epochs": 2},
        "data.train": {"format": "synthetic", "samples": 64}, "tune": {"metric": "loss", "num_samples": 2}, "tune.space": {"lr": "uniform(0.001, 0.01)"}})
    job = in_small(storage, "size=100m,nr_inodes=10", config, "tune")
    check(job.code != 0, "the command did not fail", job)
    says(job, NO_INODES)


@test
def errors_of_tools_without_free_inodes_name_them():
    folder, full = scratch(), scratch()
    (folder / "in.csv").write_text("x,y\n" + "1,2\n" * 100)
    config = config_of(folder, None)
    check_exit(alone(config), FINISHED)
    run_dir, data = run_dir_of(config), folder / "in.csv"
    commands = [["data", "convert", data, "-o", full / "out.h5"], ["data", "convert", data, "-o", full / "out.h5", "--compress", "gzip"],
                ["data", "convert", data, "-o", full / "out.csv"], ["export", checkpoints(run_dir)[-1], "-o", full / "state.npz"],
                ["predict", run_dir, "-o", full / "out.csv", "--data.new.format=synthetic", "--data.new.samples=8", "--data.new.features=1500"],
                ["report", run_dir, "-o", full / "page.html"]]
    for command in commands:
        job = run([*own_mount(full, "size=10m,nr_inodes=1"), TRAINRT, *command])
        check(job.code != 0, f"{command[:2]} did not fail", job)
        says(job, NO_INODES, "set -o to a file on another file system", never=["checkpoint."])


@test
def the_error_of_a_conversion_without_free_space_names_it_also_if_libhdf5_writes():
    folder, full, drawn = scratch(), scratch(), random.Random(1)
    (folder / "in.csv").write_text("x,y\n" + "".join(f"{drawn.random()},{number}\n" for number in range(100_000)))
    for words in ([], ["--compress", "gzip"]):
        job = run([*own_mount(full, "size=200k"), TRAINRT, "data", "convert", folder / "in.csv", "-o", full / "out.h5", *words])
        check_exit(job, FAILED)
        says(job, "No space left on device", "of space are left there", never=["checkpoint.", "errno", "HDF5 reports"])


@test
def an_unknown_quota_is_reported_as_one_of_space_or_files():
    if not SHIM.exists():
        skip("the library that injects faults was not built (builds with sanitizers leave it out)")
    config = config_of(scratch(), scratch())
    job = alone(config, env={"LD_PRELOAD": SHIM, "TRAINRT_FAULTS": "pwrite:EDQUOT:shard-"})
    check_exit(job, FAILED)
    says(job, "Disk quota exceeded", "your quota of space or of the number of files is used up", FEWER_BYTES, FEWER_FILES, never=[NO_INODES])


@test
def a_quota_of_btrfs_is_reported():
    """Uses quotas of btrfs, which does not report them to users."""
    if shutil.which("mkfs.btrfs") is None or os.geteuid() != 0:
        skip("needs root and mkfs.btrfs (package btrfs-progs)")
    folder, storage = scratch(), scratch()
    image = folder / "image"
    script = (f"truncate -s 128M {image} && mkfs.btrfs -q {image} && mount -o loop {image} {storage} && btrfs quota enable {storage} && "
              f"btrfs subvolume create {storage}/mine && btrfs qgroup limit 200k {storage}/mine && exec \"$@\"")
    config = config_of(folder, storage / "mine", num_to_keep=0, epochs=12)
    job = alone(config, prefix=["unshare", "-m", "sh", "-c", script, "sh"])
    if "mount:" in job.err:
        skip("this machine cannot mount btrfs")
    check(job.code in (FAILED, NO_PROGRESS), f"exit {job.code}", job)  # the quota may have room for the record of the attempt
    says(job, "Disk quota exceeded", "your quota of space or of the number of files is used up")


@test
def check_compares_the_size_of_num_to_keep_checkpoints_with_the_free_space():
    storage = scratch()
    config = config_of(scratch(), storage, epochs=2)
    script = ["sh", "-c", '"$@" >/dev/null && exec "$1" check --config "$3" --checkpoint.num_to_keep="$NUMBER"', "sh", TRAINRT, "--config", config]
    for number, options, words, never in (("3", "size=100m", ["checkpoint.num_to_keep = 3 needs"], ["WARNING"]),
                                          ("500", "size=1m", ["WARNING: the file system has", "lower checkpoint.num_to_keep"], []),
                                          ("20", "size=100m,nr_inodes=50", ["WARNING: the file system has", "checkpoint.layout = single"], []),
                                          ("0", "size=100m", ["all are kept (checkpoint.num_to_keep = 0); there is space for"], ["WARNING"])):
        job = run([*own_mount(storage, options), *script], env={"NUMBER": number})
        check_exit(job, FINISHED)
        line = next((line for line in job.out.splitlines() if line.startswith("checkpoints ")), "")
        for word in words:
            check(word in line, f"{word!r} is not in {line!r}", job)
        for word in never:
            check(word not in job.out.replace("WARNING: files are in the memory", ""), f"the output contains {word!r}", job)
    fresh = alone(config, "check")
    check("checkpoints     their size will be known after the first save" in fresh.out, "the line for a new run is missing", fresh)


main()
