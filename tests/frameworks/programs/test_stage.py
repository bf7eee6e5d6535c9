#!/usr/bin/python3
"""A tree of `program.stage` is on the node before the programs start. It is read once for any number of ranks, and never incomplete."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.stage import *  # noqa: E402,F403

PYTHON = "/usr/bin/python3"


def places():
    """Returns folders: the base, the node's storage and the output of the programs."""
    folder = scratch()
    local, out = folder / "local", folder / "out"
    local.mkdir()
    out.mkdir()
    return folder, local, out


def command(source, ranks, places, *words, prefix=(), keys=()):
    folder, local, _ = places
    return [*prefix, TRAINRT, "-n", ranks, f"--run.storage_path={folder / 'runs'}", "--run.name=staged", f"--program.stage={source}",
            f"--program.stage_dir={local}", *keys, "--", *words]


def importing(source, ranks, where, **options):
    return run(command(source, ranks, where, PYTHON, "-c", IMPORTER, where[2], **options))


def programs_import_from(make):
    folder = tree()
    source = make(folder)
    where = places()
    job = importing(source, 3, where)
    check_exit(job, FINISHED)
    for each in found_by(where[2], 3, job):
        check(each["file"].startswith(str(where[1])), f"the module was imported from {each['file']}", job)
        equal((each["value"], each["data"]), (42, "text"), "imported values", job)
    check(re.search(rf"staged {source}: 0\.\d MB, 22 files on 1 node in ", job.err), "the staged tree is not logged", job)
    equal(staged_folders(where[1]), [], "remaining folders on the node", job)


add_test("programs_import_from_a_staged_folder", programs_import_from, lambda folder: folder)
add_test("programs_import_from_a_staged_tar", programs_import_from, tar_of)
add_test("programs_import_from_a_staged_squashfs", programs_import_from, squashfs_of)


@test
def only_one_rank_reads_the_source():
    if shutil.which("strace") is None:
        skip("strace is not installed")
    counts = []
    for ranks in (1, 3):
        folder, where = tree(), places()
        log = where[0] / "trace"
        job = importing(folder, ranks, where, prefix=["strace", "-ff", "-e", "trace=open,openat", "-e", "signal=none", "-o", log])
        check_exit(job, FINISHED)
        counts.append(sum(len(re.findall(r'openat\([^,]*, "(?:[^"]*/packages/)?module_\d+\.py", O_RDONLY', path.read_text()))
                          for path in where[0].glob("trace.*")))
    equal(counts[0], counts[1], "opened files of the source with 1 and 3 ranks")
    equal(counts[0], 20, "number of opened files")


@test
def a_staged_virtual_environment_provides_the_interpreter():
    folder = scratch("venv") / "venv"
    if subprocess.run([PYTHON, "-m", "venv", "--without-pip", folder], capture_output=True).returncode != 0:
        skip("venv is not installed")
    packages = next(folder.glob("lib/python3*/site-packages"))
    (packages / "only_in_the_tree.py").write_text("VALUE = 42\n")
    (folder / "data").write_text("text")
    for word in ("python3", str(folder / "bin/python3")):
        where = places()
        job = run(command(folder, 2, where, word, "-c", "import sys, os; print('prefix', sys.prefix, os.environ['VIRTUAL_ENV']);" + IMPORTER, where[2]))
        check_exit(job, FINISHED)
        for each in found_by(where[2], 2, job):
            check(each["file"].startswith(each["stage"] + "/lib/python3") and each["stage"].startswith(str(where[1])), f"found {each}", job)
            check(f"prefix {each['stage']} {each['stage']}" in job.out, "the interpreter has another prefix", job)


@test
def a_run_killed_during_staging_restarts_and_leaves_no_files():
    folder, where = tree(files=3000, size=2000), places()
    job = Job(command(folder, 2, where, PYTHON, "-c", IMPORTER, where[2]))
    wait_until(lambda: any(".part-" in name for name in staged_folders(where[1])), 30, "an incomplete tree", job)
    job.end()
    check(any(".part-" in name for name in staged_folders(where[1])), "the tree was complete before the kill", job)
    check(not list(where[2].iterdir()), "programs have started")
    job = importing(folder, 2, where)
    check_exit(job, FINISHED)
    found_by(where[2], 2, job)
    equal(staged_folders(where[1]), [], "remaining folders on the node", job)


@test
def the_tree_of_a_failed_attempt_is_reused_unless_the_source_changed():
    folder, where = tree(), places()
    fails_once = f"import os, pathlib; m = pathlib.Path('{where[0]}/' + os.environ['RANK']); n = m.exists(); m.touch(); os._exit(0 if n else 3)"
    for change, staged in ((False, 0), (True, 1)):
        for mark in where[0].glob("[01]"):
            mark.unlink()
        first = run(command(folder, 2, where, PYTHON, "-c", fails_once, keys=["--failure.max_failures=0"]))
        check_exit(first, FAILED)
        check(len(staged_folders(where[1])) == 3, f"folders for the restart: {staged_folders(where[1])}", first)
        if change:
            (folder / "data").write_text("other")
        again = run(command(folder, 2, where, PYTHON, "-c", fails_once))
        check_exit(again, FINISHED)
        equal(again.err.count(": staged "), staged, "number of staged trees", again)
        equal(staged_folders(where[1]), [], "remaining folders on the node", again)
        shutil.rmtree(where[0] / "runs")


@test
def a_full_disk_is_an_error_that_names_the_node_and_the_key():
    folder, where = tree(files=30, size=100_000), places()
    job = importing(folder, 2, where, prefix=own_mount(where[1], "size=1m,mode=700"), keys=["--failure.max_failures=0"])
    check_exit(job, FAILED)
    for word in ("cannot unpack", "No space left on device", "program.stage_dir = DIR", " free)"):
        check(word in job.err, f"the message lacks {word!r}", job)
    equal(list(where[2].iterdir()), [], "programs that were started")


@test
def an_invalid_stage_source_is_an_error_before_the_run_starts():
    folder, where = scratch(), places()
    text = folder / "text.tar"
    text.write_text("no tar")
    for source, words in ((text, ["has an unknown format", "squashfs"]), (folder / "away", ["No such file"])):
        job = run([TRAINRT, "check", f"--run.storage_path={folder}", f"--program.stage={source}", "--", "true"])
        check_exit(job, USAGE)
        for word in ("program.stage", str(source), *words):
            check(word in job.err, f"the message lacks {word!r}", job)
        job = importing(source, 2, where)
        check_exit(job, USAGE)
        check(str(source) in job.err, "the source is not named", job)


@test
def a_node_without_unsquashfs_is_an_error_that_names_it():
    where = places()
    bare = scratch("bare")
    for tool in ("sh", "python3", "env"):
        (bare / tool).symlink_to(shutil.which(tool, path="/usr/bin:/bin"))
    job = run(command(squashfs_of(tree()), 2, where, PYTHON, "-c", IMPORTER, where[2], keys=["--failure.max_failures=0"]), env={"PATH": bare})
    check_exit(job, FAILED)
    for word in ("unsquashfs was not found in the PATH of", os.uname().nodename, "squashfs-tools"):
        check(word in job.err, f"the message lacks {word!r}", job)


main()
