#!/usr/bin/python3
"""A run counts as finished only if its last checkpoint can be read, in its own directory and in a mirror."""
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.trouble import *  # noqa: E402,F403
from runs.mirrors import *  # noqa: E402,F403

NEWEST, OLDER = "checkpoint_000005", "checkpoint_000002"
NOT_FINISHED = "The run is not finished: it continues from"


def flipped(data):
    return data[:len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1:]


# {damage of a checkpoint: (first letters of the name of a file, function that changes its bytes; None removes the file)}
DAMAGES = {"a bit of a shard differs": ("shard", flipped), "a shard is cut": ("shard", lambda data: data[:-9]), "a shard is missing": ("shard", None),
           "a bit of the manifest differs": ("manifest", flipped), "the manifest is missing": ("manifest", None)}

_whole = {}


def whole_run(ranks):
    """Returns the directory of an undamaged run."""
    if ranks not in _whole:
        config = linear_config(scratch(), "run", LOOP)
        check_exit(run_ranks(ranks, config), FINISHED)
        _whole[ranks] = run_dir_of(config)
    return _whole[ranks]


def finished_run(mirror, ranks=1, **keys):
    """Returns the config of a finished run; its directory and its mirror hold the checkpoints OLDER and NEWEST."""
    config = mirrored_config(mirror, num_to_keep=0, **keys)
    for epochs in (3, 6):
        check_exit(run_ranks(ranks, config, f"--loop.epochs={epochs}", env=mirror.env), FINISHED)
    check({OLDER, NEWEST} <= set(mirrored(mirror)), f"checkpoints are missing in the mirror: {mirror.names()}")
    return config


def damage(mirror, how):
    part, change = DAMAGES[how]
    name = next(name for name in mirror.names() if name.startswith(f"{NEWEST}/{part}"))
    mirror.remove(name) if change is None else mirror.change(name, change(mirror.read(name)))


def check_ends_whole(job, config, ranks, what):
    check_exit(job, FINISHED)
    check(NOT_FINISHED in job.err, f"{what}: the message that the run is not finished is missing", job)
    check(f"{NEWEST}" in job.err, f"{what}: the checkpoint is not named", job)
    check_same_bits(run_dir_of(config), whole_run(ranks))
    check_iterations(run_dir_of(config), 6)
    check_verifies(run_dir_of(config))
    equal(run_state(run_dir_of(config)), "finished", "state in run.json", job)


@both
def a_finished_run_with_a_damaged_last_checkpoint_continues_from_an_older_one_of_a(mirror):
    config = finished_run(mirror, layout="rank", ranks=2)
    for how in DAMAGES:
        shutil.rmtree(run_dir_of(config))
        damage(mirror, how)
        job = run_ranks(2, config, env=mirror.env)
        check_ends_whole(job, config, 2, how)
        check(NEWEST in mirrored(mirror), f"{how}: the last checkpoint is not mirrored again: {mirror.names()}", job)
    # Now the mirror is complete, so the run counts as finished.
    shutil.rmtree(run_dir_of(config))
    job = run_ranks(2, config, env=mirror.env)
    check_exit(job, FINISHED)
    check("has finished already" in job.out + job.err and NOT_FINISHED not in job.err, "a run with a complete mirror was trained again", job)


@test
def a_run_whose_last_checkpoint_was_not_mirrored_continues_from_an_older_one():
    mirror = Bucket()
    config = mirrored_config(mirror, num_to_keep=0)
    check_exit(run_ranks(1, config, "--loop.epochs=3", env=mirror.env), FINISHED)
    mirror.store.fail("403", times=10**6, method="PUT", part=NEWEST)
    for _ in range(2):  # the second start mirrors the records of the finished run
        check_exit(run_ranks(1, config, env=mirror.env), FINISHED)
    equal(json.loads(mirror.read("run.json"))["state"], "finished", "state in the mirror")
    check(NEWEST not in mirrored(mirror) and OLDER in mirrored(mirror), f"unexpected checkpoints in the mirror: {mirror.names()}")
    mirror.store.faults.clear()
    shutil.rmtree(run_dir_of(config))
    check_ends_whole(run_ranks(1, config, env=mirror.env), config, 1, "the last checkpoint was not mirrored")


@test
def a_record_without_completed_by_gets_it_from_the_last_attempt():
    mirror = Folder()
    config = finished_run(mirror)
    record = json.loads(mirror.read("run.json"))
    equal(record["completed_by"], {"checkpoint": 5, "step": record["completed_by"]["step"], "iteration": 6}, "end of the run")
    del record["completed_by"]  # older versions did not write it
    mirror.change("run.json", json.dumps(record).encode())
    shutil.rmtree(run_dir_of(config))
    job = run_ranks(1, config)
    check_exit(job, FINISHED)
    check("has finished already" in job.out + job.err, "a run with a complete mirror was trained again", job)
    mirror.change("run.json", json.dumps(record).encode())
    for how in ("a bit of a shard differs", "the manifest is missing"):
        shutil.rmtree(run_dir_of(config))
        mirror.change("run.json", json.dumps(record).encode())
        damage(mirror, how)
        check_ends_whole(run_ranks(1, config), config, 1, how)


@test
def a_run_directory_with_a_damaged_last_checkpoint_is_not_finished():
    for ranks in (1, 2):
        for how, (part, change) in DAMAGES.items():
            config = linear_config(scratch(), "run", LOOP, checkpoint={"layout": "rank"})
            check_exit(run_ranks(ranks, config), FINISHED)
            path = next((run_dir_of(config) / NEWEST).glob(f"{part}*"))
            path.unlink() if change is None else path.write_bytes(change(path.read_bytes()))
            check_ends_whole(run_ranks(ranks, config), config, ranks, f"{ranks} ranks, {how}")


@test
def a_run_directory_without_its_last_checkpoint_needs_missing_checkpoints_accept():
    config = linear_config(scratch(), "run", LOOP)
    check_exit(run_ranks(1, config), FINISHED)
    shutil.rmtree(run_dir_of(config) / NEWEST)
    shown = run([TRAINRT, "result", run_dir_of(config)])
    check("WARNING" in shown.out, "`trainrt result` prints no warning", shown)
    words = "--failure.storage_timeout=1"
    check_exit(run_ranks(1, config, words), USAGE)
    job = run_ranks(1, config, words, "--run.missing_checkpoints=accept")
    check_exit(job, FINISHED)
    check_same_bits(run_dir_of(config), whole_run(1))


@test
def result_and_predict_print_the_iteration_of_the_newest_readable_checkpoint():
    mirror = Folder()
    finished_run(mirror)
    copy = scratch("copy") / "run"
    shutil.copytree(mirror.path / "run", copy)
    for path in checkpoints(copy):
        if OLDER < path.name < NEWEST:
            shutil.rmtree(path)
    (copy / NEWEST / "manifest.json").unlink()
    missing = "the run finished with checkpoint_000005 (iteration 6), which cannot be read"
    for words in ((), ("--json",)):
        shown = run([TRAINRT, "result", copy, *words])
        check_exit(shown, FINISHED)
        check(missing in shown.out and "stopped" in shown.out, "result does not name the missing checkpoint", shown)
    check("is of iteration 3, but the last metrics are of iteration 6" in run([TRAINRT, "result", copy]).out, "result does not print the iteration")
    shutil.rmtree(copy / NEWEST)
    job = run([TRAINRT, "predict", copy, "-o", scratch() / "out.csv", "--dataset", "train"])
    check_exit(job, FINISHED)
    for words in ("checkpoint_000002 (iteration 3)", missing, "The prediction uses the model of iteration 3"):
        check(words in job.err, f"the output of predict lacks {words!r}", job)


@test
def is_finished_of_the_python_package_is_false_if_the_last_checkpoint_lacks_a_file():
    config = linear_config(scratch(), "run", LOOP)
    check_exit(run_ranks(1, config), FINISHED)
    text = f"from trainrt.train._results import _run_directory; print(_run_directory.is_finished({str(run_dir_of(config))!r}))"
    for says in ("True", "False"):
        job = run(["/usr/bin/python3", "-c", text], env={"PYTHONPATH": SOURCE / "src/python"})
        equal(job.out.strip(), says, "value of is_finished()", job)
        for shard in (run_dir_of(config) / NEWEST).glob("shard*"):
            shard.unlink()


@both
def a_start_of_a_finished_run_repairs_missing_and_short_files_in_a(mirror):
    config = mirrored_config(mirror)
    check_exit(run_ranks(1, config, env=mirror.env), FINISHED)
    shard = next(name for name in mirror.names() if name.startswith(f"{NEWEST}/shard"))
    for change in (lambda data: None, lambda data: data[:-9]):
        data = mirror.read(shard)
        mirror.remove(shard) if change(data) is None else mirror.change(shard, change(data))
        check_exit(run_ranks(1, config, env=mirror.env), FINISHED)
        equal(mirror.read(shard), data, "the shard in the mirror")


@test
def a_mirror_without_a_valid_record_of_the_run_is_refused_and_not_changed():
    mirror = Folder()
    config = finished_run(mirror)
    for name, change, words in (("run.json", lambda data: data[:-40], ["run.json is not a run record"]), ("run.json", None, ["run.json does not exist"]),
                                ("result.json", lambda data: data[40:], ["result.json does not hold the reports", NEWEST]), ("result.json", None, ["result.json does not exist", NEWEST])):
        shutil.rmtree(run_dir_of(config), ignore_errors=True)
        data = mirror.read(name)
        mirror.remove(name) if change is None else mirror.change(name, change(data))
        before = {each: mirror.read(each) for each in mirror.names()}
        job = run_ranks(1, config, "--failure.storage_timeout=1")
        check_exit(job, USAGE)
        for word in (*words, "Nothing was restored", "to start the run again at step 0"):
            check(word in job.err, f"{name}: the message lacks {word!r}", job)
        equal({each: mirror.read(each) for each in mirror.names()}, before, "the mirror")
        equal([path.name for path in run_dir_of(config).parent.iterdir()], [], "entries left in the folder of the run directory")
        mirror.change(name, data)
    job = run_ranks(1, config)  # all records are valid again
    check_exit(job, FINISHED)
    check("has finished already" in job.out + job.err, "the run was trained again", job)


@test
def a_mirror_without_records_of_attempts_is_restored_and_the_run_can_start():
    mirror = Folder()
    config = finished_run(mirror)
    for name in mirror.names():
        if name.startswith("attempts/"):
            mirror.remove(name)
    shutil.rmtree(run_dir_of(config))
    for epochs in (6, 7):
        job = run_ranks(1, config, f"--loop.epochs={epochs}", "--failure.storage_timeout=1")
        check_exit(job, FINISHED)
    check_iterations(run_dir_of(config), 7)


@test
def a_checkpoint_without_its_reports_in_the_mirror_is_not_used():
    """This happens if a run continues from an older checkpoint and is killed before it mirrors a new one."""
    mirror = Folder()
    config = finished_run(mirror)
    lines = mirror.read("result.json").splitlines(keepends=True)
    mirror.change("result.json", b"".join(lines[:4]))
    shutil.rmtree(run_dir_of(config))
    job = run_ranks(1, config)
    check(f"{NEWEST} cannot be used: result.json does not hold the reports of iterations 1 to 6" in job.err, "the reason is not printed", job)
    check_ends_whole(job, config, 1, "reports are missing")


def kill_while_it_restores(config, mirror):
    """Kills a restore before its last rename; returns the temporary folder that it leaves."""
    injector = BUILD / "tests/attack_injector"
    if not injector.exists():
        skip("the injector was not built: it supports only Linux on x86-64")
    run_dir = run_dir_of(config)
    job = run([injector, "--watch", run_dir.parent, "--log", config.parent / "calls", "--at", "rename", f".{run_dir.name}.tmp>{run_dir.name}", "1", "kill-before",
               TRAINRT, "--config", config], env=mirror.env)
    if job.code == 97:
        skip(f"this machine does not allow tracing of system calls: {job.err.strip()}")
    check("hit\n" in (config.parent / "calls").read_text(), "the restore was not killed", job)
    return next(run_dir.parent.glob(f".{run_dir.name}.tmp.*"))


@test
def a_killed_restore_is_repeated_and_its_temporary_folder_is_removed():
    mirror = Folder()
    config = finished_run(mirror)
    shutil.rmtree(run_dir_of(config))
    left = kill_while_it_restores(config, mirror)
    shown = run([TRAINRT, "result", run_dir_of(config).parent])
    check(shown.code == USAGE, "result treats the temporary folder of a killed restore as a run", shown)
    job = run_ranks(1, config)
    check_exit(job, FINISHED)
    check("has finished already" in job.out + job.err, "the run was trained again", job)
    check(not left.exists(), f"{left} still exists")


main(teardown=end_stores)
