#!/usr/bin/python3
"""trainrt never follows symbolic links in run directories and mirror folders. Files that it writes get their permissions from the umask,
and their group from the set-group-ID bit of the folder."""
import ctypes
import os
import random
import shutil
import stat
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.trouble import *  # noqa: E402,F403
from runs.sweeps import *  # noqa: E402,F403

SHIM = BUILD / "tests/fault_shim.so"
OLD_KERNEL = {"LD_PRELOAD": SHIM, "TRAINRT_FAULTS": "openat2:ENOSYS"}


def home_of_somebody():
    """Creates a folder with files of the same names as in a run; returns its path and its contents."""
    home = scratch("home")
    for name in ("manifest.json", "run.json", "result.json", "sweep.json", "000001.json", "shard-00000.h5", "thesis.tex", "photos/a.jpg", "checkpoint_000000/manifest.json"):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text("precious")
    return home, contents(home)


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def plant(link, home):
    if link.is_dir() and not link.is_symlink():
        shutil.rmtree(link)
    link.unlink(missing_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(home / link.name if link.suffix == ".json" else home)


def check_names_the_link(job, link):
    check(f"'{link}' is a symbolic link" in job.err and "remove the link" in job.err, f"the message lacks {link} or the hint", job)


def mirrored_config(mirror, **keys):
    return linear_config(scratch(), "run", {"epochs": 4}, checkpoint={"mirror": mirror, "num_to_keep": 2, **keys})


# ---- mirror folders --------------------------------------------------------------------------------------------------


def is_not_followed_in_a_mirror(name, code, env):
    home, before = home_of_somebody()
    mirror = scratch("mirror")
    config = mirrored_config(mirror)
    link = mirror / "run" / name if name else mirror / "run"
    plant(link, home)
    job = run_ranks(2, config, env=env)
    check_exit(job, code)
    check_names_the_link(job, link)
    equal(contents(home), before, "the target of the link", job)
    check(link.is_symlink(), "the link was replaced", job)
    link.unlink()
    job = run_ranks(2, config, "--loop.epochs=5", env=env)
    check_exit(job, FINISHED)
    check((mirror / "run/checkpoint_000004/manifest.json").is_file(), "without the link the run is not mirrored", job)


for kind, env in (("", {}), ("_on_a_kernel_without_openat2", OLD_KERNEL)):
    for name, code in (("checkpoint_000000", FINISHED), ("checkpoint_000000/manifest.json", FINISHED), ("checkpoint_000007", FINISHED),
                       ("attempts", USAGE), ("result.json", FINISHED), ("run.json", USAGE), ("", USAGE)):
        add_test(f"a_link_{name.replace('/', '_').replace('.', '_') or 'instead_of_the_run'}_in_a_mirror_is_not_followed{kind}", is_not_followed_in_a_mirror, name, code, env)


@test
def a_run_is_not_restored_from_a_linked_checkpoint_in_the_mirror():
    mirror = scratch("mirror")
    config = mirrored_config(mirror)
    check_exit(run_ranks(1, config), FINISHED)
    elsewhere = scratch("elsewhere") / "checkpoint"
    newest = mirror / "run/checkpoint_000003"
    newest.rename(elsewhere)
    newest.symlink_to(elsewhere)
    shutil.rmtree(run_dir_of(config))
    job = run_ranks(1, config)
    check_exit(job, USAGE)
    check_names_the_link(job, newest)
    check(not run_dir_of(config).exists(), "part of the run was restored", job)


@test
def the_mirror_in_the_config_may_be_a_link():
    folder = scratch()
    (folder / "real").mkdir()
    (folder / "link").symlink_to(folder / "real")
    config = mirrored_config(folder / "link")
    check_exit(run_ranks(1, config), FINISHED)
    check((folder / "real/run/checkpoint_000003/manifest.json").is_file(), "the run is not mirrored to the target of the link")
    shutil.rmtree(run_dir_of(config))
    job = run_ranks(1, config, "--loop.epochs=5")
    check_exit(job, FINISHED)
    check("restored" in job.err, "the run was not restored", job)


# ---- run directories ---------------------------------------------------------------------------------------------------


def is_not_followed_in_a_run_directory(name, env):
    config = linear_config(scratch(), "run", {"epochs": 2})
    check_exit(run_ranks(2, config), FINISHED)
    home, before = home_of_somebody()
    link = run_dir_of(config) / name
    plant(link, home)
    job = run_ranks(2, config, "--loop.epochs=3", env=env)
    check_exit(job, USAGE)
    check_names_the_link(job, link)
    equal(contents(home), before, "the target of the link", job)


for kind, env in (("", {}), ("_on_a_kernel_without_openat2", OLD_KERNEL)):
    for name in ("attempts", "logs"):
        add_test(f"a_link_{name}_in_a_run_directory_is_not_followed{kind}", is_not_followed_in_a_run_directory, name, env)


@test
def a_linked_checkpoint_is_not_loaded_and_only_the_link_is_removed():
    config = linear_config(scratch(), "run", {"epochs": 3}, checkpoint={"num_to_keep": 0})
    check_exit(run_ranks(2, config), FINISHED)
    newest = run_dir_of(config) / "checkpoint_000002"
    elsewhere = scratch("elsewhere") / "checkpoint"
    newest.rename(elsewhere)
    newest.symlink_to(elsewhere)
    before = contents(elsewhere)
    job = run_ranks(2, config, "--loop.epochs=5", "--checkpoint.num_to_keep=2")
    check_exit(job, FINISHED)
    check("continuing from" in job.out + job.err and "checkpoint_000001" in job.out + job.err, "the run does not continue from the previous checkpoint", job)
    check(f"'{newest}' is a symbolic link" in job.err, "the link is not named", job)
    equal(contents(elsewhere), before, "the target of the link", job)


# ---- sweeps ----------------------------------------------------------------------------------------------------------------


def is_not_followed_in_a_sweep(name):
    home, before = home_of_somebody()
    config = sweep_config(scratch(), "sweep", {"num_samples": 2}, loop={"epochs": 2})
    link = run_dir_of(config) / name
    plant(link, home)
    job = tune(config)
    check(job.code != FINISHED or f"{name} (" in job.err and "failed: exit 64" in job.err, "the sweep finished in spite of the link", job)
    logs = "".join(path.read_text() for path in run_dir_of(config).glob("trial_*.log"))
    check(f"'{link}' is a symbolic link" in job.err + logs, f"{link} is not named: {logs}", job)
    equal(contents(home), before, "the target of the link", job)


for name in ("trial_00000", "journal", "claims", "sweep.json"):
    add_test(f"a_link_{name.replace('.', '_')}_in_a_sweep_is_not_followed", is_not_followed_in_a_sweep, name)


# ---- folders that are exchanged for links -----------------------------------------------------------------------------------------------------------


class Exchanger(threading.Thread):
    """Thread that replaces each folder in `folder` by a link to `home` and puts it back, in a loop until stop()."""

    def __init__(self, folder, home):
        super().__init__(daemon=True)
        self.folder, self.home, self.done, self.count = folder, home, threading.Event(), 0
        self.call = ctypes.CDLL(None, use_errno=True).renameat2

    def exchange(self, one, other):
        AT_FDCWD, RENAME_EXCHANGE = -100, 2
        return self.call(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0

    def run(self):
        link = scratch("exchange") / "link"
        link.symlink_to(self.home)
        while not self.done.is_set():
            for path in [path for path in self.folder.glob("*") if path.is_dir()] if self.folder.is_dir() else []:
                if self.exchange(path, link):
                    time.sleep(random.uniform(0, 0.002))
                    self.count += 1
                    if not self.exchange(path, link):  # the path no longer exists
                        link.is_symlink() or link.rename(link.with_name(f"left-{self.count}"))
                        link.is_symlink() or link.symlink_to(self.home)

    def stop(self):
        self.done.set()
        self.join()


def nothing_is_written_outside(which, env):
    home, before = home_of_somebody()
    mirror = scratch("mirror")
    config = linear_config(scratch(), "run", {"epochs": 60}, checkpoint={"mirror": mirror, "num_to_keep": 2})
    exchanger = Exchanger(mirror / "run" if which == "mirror" else run_dir_of(config), home)
    exchanger.start()
    try:
        job = start_ranks(2, config, env=env)
        wait_until(job.ended, 60, "the end of the run", job)
    finally:
        exchanger.stop()
    check(exchanger.count > 5, f"only {exchanger.count} exchanges", job)
    equal(contents(home), before, "the target of the links", job)


for kind, env in (("", {}), ("_on_a_kernel_without_openat2", OLD_KERNEL)):
    for which in ("mirror", "run_directory"):
        add_test(f"nothing_is_written_outside_a_{which}_whose_folders_are_exchanged_for_links{kind}", nothing_is_written_outside, which, env)


@test
def the_artifacts_folder_may_be_a_link():
    config = linear_config(scratch(), "run")
    run_dir_of(config).mkdir(parents=True)
    (run_dir_of(config) / "artifacts").symlink_to(scratch("artifacts"))
    (run_dir_of(config) / "attempts").mkdir()
    check_exit(run_ranks(2, config), FINISHED)


@test
def the_python_package_obeys_the_umask_and_follows_no_link():
    sys.path.insert(0, str(SOURCE / "src/python"))
    from trainrt.data import _files
    from trainrt.train._results import _validation_file
    from trainrt.train import Checkpoint
    folder, home = shared_folder(), home_of_somebody()[0]
    before = os.umask(0o027)
    try:
        _files.put(folder / ".datasets", b"rows", "rows", "digest")
        (folder / "checkpoint_000001").mkdir()
        _validation_file.write(folder / "checkpoint_000001", {"loss": 1})
        Checkpoint(folder / "checkpoint_000001").set_metadata({"a": 1})
    finally:
        os.umask(before)
    check_rights(folder, 0o027)
    equal(sorted(path.name for path in (folder / "checkpoint_000001").iterdir()), [".metadata.json", "validation.json"], "files")
    for name, write in ((".datasets", lambda path: _files.put(path, b"rows", "rows", "other")),
                        ("checkpoint_000001", lambda path: _validation_file.write(path, {"loss": 2}))):
        kept = contents(home)
        plant(folder / name, home)
        raises(OSError, "is a symbolic link", name, of=lambda write=write, name=name: write(folder / name))
        equal(contents(home), kept, "the target of the link")


# ---- permissions -------------------------------------------------------------------------------------------------------------


def shared_folder():
    """Creates a folder of another group with the set-group-ID bit, so that new files get its group."""
    folder = scratch("shared")
    if os.geteuid() == 0:
        os.chown(folder, -1, 12345)
    folder.chmod(0o2777)
    return folder


def check_rights(folder, umask, private=()):
    group = folder.stat().st_gid
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or any(part in private for part in path.relative_to(folder).parts):
            continue
        info = path.stat()
        wanted = (0o2777 if path.is_dir() else 0o666) & ~umask
        equal((f"{stat.S_IMODE(info.st_mode):o}", info.st_gid), (f"{wanted:o}", group), f"permissions and group of {path.relative_to(folder)}")


def permissions_obey_the_umask(umask):
    folder, mirror = shared_folder(), shared_folder()
    before = os.umask(umask)
    try:
        config = linear_config(folder, "run", {"epochs": 3}, checkpoint={"mirror": mirror, "num_to_keep": 2})
        check_exit(run_ranks(2, config), FINISHED)
        check_exit(run_ranks(2, config, "--loop.epochs=4"), FINISHED)
        sweep = sweep_config(folder, "sweep", {"num_samples": 3}, loop={"epochs": 2}, checkpoint={"mirror": mirror})
        check_exit(tune(sweep), 0)
        shutil.rmtree(run_dir_of(config))
        job = run_ranks(2, config, "--loop.epochs=5")
        check_exit(job, FINISHED)
        check("restored" in job.err, "the run was not restored", job)
    finally:
        os.umask(before)
    check_rights(folder, umask)
    check_rights(mirror, umask)


for umask in (0o002, 0o027, 0o077):
    add_test(f"permissions_of_all_files_of_runs_sweeps_and_mirrors_obey_the_umask_{umask:03o}", permissions_obey_the_umask, umask)


if __name__ == "__main__":
    main()
