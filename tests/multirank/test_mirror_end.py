#!/usr/bin/python3
"""A run is finished only while the checkpoint that it finished with can be read: in a mirror, and in its own directory."""
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from runs.trouble import *  # noqa: E402,F403
from runs.mirrors import *  # noqa: E402,F403

NEWEST, OLDER = "checkpoint_000005", "checkpoint_000002"
NOT_FINISHED = "The run is not finished: it continues from"


def flipped(data):
    return data[:len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1:]


# What is done to a checkpoint: to a file of it that begins so. None: it is removed.
DAMAGES = {"a bit of a shard differs": ("shard", flipped), "a shard is cut": ("shard", lambda data: data[:-9]), "a shard is missing": ("shard", None),
           "a bit of the manifest differs": ("manifest", flipped), "the manifest is missing": ("manifest", None)}

_whole = {}


def whole_run(ranks):
    """The run that nothing happened to."""
    if ranks not in _whole:
        config = linear_config(scratch(), "run", LOOP)
        check_exit(run_ranks(ranks, config), FINISHED)
        _whole[ranks] = run_dir_of(config)
    return _whole[ranks]


def finished_run(mirror, ranks=1, **keys):
    """The config of a finished run with the checkpoints OLDER and NEWEST, here and in the mirror."""
    config = mirrored_config(mirror, num_to_keep=0, **keys)
    for epochs in (3, 6):
        check_exit(run_ranks(ranks, config, f"--loop.epochs={epochs}", env=mirror.env), FINISHED)
    check({OLDER, NEWEST} <= set(mirrored(mirror)), f"not what was to be there: {mirror.names()}")
    return config


def damage(mirror, how):
    part, change = DAMAGES[how]
    name = next(name for name in mirror.names() if name.startswith(f"{NEWEST}/{part}"))
    mirror.remove(name) if change is None else mirror.change(name, change(mirror.read(name)))


def check_ends_whole(job, config, ranks, what):
    check_exit(job, FINISHED)
    check(NOT_FINISHED in job.err, f"{what}: no line says that the run is not finished", job)
    check(f"{NEWEST}" in job.err, f"{what}: the checkpoint is not named", job)
    check_same_bits(run_dir_of(config), whole_run(ranks))
    check_iterations(run_dir_of(config), 6)
    check_verifies(run_dir_of(config))
    equal(run_state(run_dir_of(config)), "finished", "state in run.json", job)


@both
def a_finished_run_whose_end_cannot_be_read_goes_on_from_an_older_checkpoint_of_a(mirror):
    config = finished_run(mirror, layout="rank", ranks=2)
    for how in DAMAGES:
        shutil.rmtree(run_dir_of(config))
        damage(mirror, how)
        job = run_ranks(2, config, env=mirror.env)
        check_ends_whole(job, config, 2, how)
        check(NEWEST in mirrored(mirror), f"{how}: the end is not mirrored again: {mirror.names()}", job)
    # And then nothing is missing.
    shutil.rmtree(run_dir_of(config))
    job = run_ranks(2, config, env=mirror.env)
    check_exit(job, FINISHED)
    check("has finished already" in job.out + job.err and NOT_FINISHED not in job.err, "a copy that holds its end is computed again", job)


@test
def a_run_whose_last_copy_was_not_sent_goes_on_from_an_older_checkpoint_of_its_mirror():
    mirror = Bucket()
    config = mirrored_config(mirror, num_to_keep=0)
    check_exit(run_ranks(1, config, "--loop.epochs=3", env=mirror.env), FINISHED)
    mirror.store.fail("403", times=10**6, method="PUT", part=NEWEST)
    for _ in range(2):  # the second start sends the records of a finished run
        check_exit(run_ranks(1, config, env=mirror.env), FINISHED)
    equal(json.loads(mirror.read("run.json"))["state"], "finished", "state in the mirror")
    check(NEWEST not in mirrored(mirror) and OLDER in mirrored(mirror), f"not what was to be there: {mirror.names()}")
    mirror.store.faults.clear()
    shutil.rmtree(run_dir_of(config))
    check_ends_whole(run_ranks(1, config, env=mirror.env), config, 1, "the last copy was not sent")


@test
def records_that_name_no_end_are_completed_by_the_last_attempts():
    mirror = Folder()
    config = finished_run(mirror)
    record = json.loads(mirror.read("run.json"))
    equal(record["completed_by"], {"checkpoint": 5, "step": record["completed_by"]["step"], "iteration": 6}, "end of the run")
    del record["completed_by"]  # as older versions wrote it
    mirror.change("run.json", json.dumps(record).encode())
    shutil.rmtree(run_dir_of(config))
    job = run_ranks(1, config)
    check_exit(job, FINISHED)
    check("has finished already" in job.out + job.err, "a copy that holds its end is computed again", job)
    mirror.change("run.json", json.dumps(record).encode())
    for how in ("a bit of a shard differs", "the manifest is missing"):
        shutil.rmtree(run_dir_of(config))
        mirror.change("run.json", json.dumps(record).encode())
        damage(mirror, how)
        check_ends_whole(run_ranks(1, config), config, 1, how)


@test
def a_run_directory_whose_last_checkpoint_is_damaged_is_not_finished():
    for ranks in (1, 2):
        for how, (part, change) in DAMAGES.items():
            config = linear_config(scratch(), "run", LOOP, checkpoint={"layout": "rank"})
            check_exit(run_ranks(ranks, config), FINISHED)
            path = next((run_dir_of(config) / NEWEST).glob(f"{part}*"))
            path.unlink() if change is None else path.write_bytes(change(path.read_bytes()))
            check_ends_whole(run_ranks(ranks, config), config, ranks, f"{ranks} ranks, {how}")


@test
def a_run_directory_without_its_last_checkpoint_is_refused_until_that_is_accepted():
    config = linear_config(scratch(), "run", LOOP)
    check_exit(run_ranks(1, config), FINISHED)
    shutil.rmtree(run_dir_of(config) / NEWEST)
    shown = run([TRAINRT, "result", run_dir_of(config)])
    check("WARNING" in shown.out, "result says nothing of it", shown)
    words = "--failure.storage_timeout=1"
    check_exit(run_ranks(1, config, words), USAGE)
    job = run_ranks(1, config, words, "--run.missing_checkpoints=accept")
    check_exit(job, FINISHED)
    check_same_bits(run_dir_of(config), whole_run(1))


@test
def result_and_predict_print_the_iteration_that_a_copy_shows():
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
        check(missing in shown.out and "stopped" in shown.out, "result does not say what is missing", shown)
    check("is of iteration 3, but the last metrics are of iteration 6" in run([TRAINRT, "result", copy]).out, "result does not print the iteration")
    shutil.rmtree(copy / NEWEST)
    job = run([TRAINRT, "predict", copy, "-o", scratch() / "out.csv", "--dataset", "train"])
    check_exit(job, FINISHED)
    for words in ("checkpoint_000002 (iteration 3)", missing, "The prediction uses the model of iteration 3"):
        check(words in job.err, f"predict does not say {words!r}", job)


@test
def the_python_package_takes_no_run_for_finished_whose_last_checkpoint_lacks_a_file():
    config = linear_config(scratch(), "run", LOOP)
    check_exit(run_ranks(1, config), FINISHED)
    text = f"from trainrt.train._results import _run_directory; print(_run_directory.is_finished({str(run_dir_of(config))!r}))"
    for says in ("True", "False"):
        job = run(["/usr/bin/python3", "-c", text], env={"PYTHONPATH": SOURCE / "src/python"})
        equal(job.out.strip(), says, "what is_finished() returns", job)
        for shard in (run_dir_of(config) / NEWEST).glob("shard*"):
            shard.unlink()


@both
def a_copy_whose_files_are_missing_is_sent_again_by_a_finished_run_to_a(mirror):
    config = mirrored_config(mirror)
    check_exit(run_ranks(1, config, env=mirror.env), FINISHED)
    shard = next(name for name in mirror.names() if name.startswith(f"{NEWEST}/shard"))
    for change in (lambda data: None, lambda data: data[:-9]):
        data = mirror.read(shard)
        mirror.remove(shard) if change(data) is None else mirror.change(shard, change(data))
        check_exit(run_ranks(1, config, env=mirror.env), FINISHED)
        equal(mirror.read(shard), data, "the shard in the mirror")


@test
def a_mirror_without_a_good_record_of_the_run_is_refused_and_left_as_it_is():
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
        equal([path.name for path in run_dir_of(config).parent.iterdir()], [], "what is left beside the run directory")
        mirror.change(name, data)
    job = run_ranks(1, config)  # and then nothing is in the way
    check_exit(job, FINISHED)
    check("has finished already" in job.out + job.err, "it was trained again", job)


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
def a_checkpoint_whose_reports_the_mirror_lacks_is_passed_over():
    """A run that went back to an older checkpoint was killed before a new one was sent."""
    mirror = Folder()
    config = finished_run(mirror)
    lines = mirror.read("result.json").splitlines(keepends=True)
    mirror.change("result.json", b"".join(lines[:4]))
    shutil.rmtree(run_dir_of(config))
    job = run_ranks(1, config)
    check(f"{NEWEST} cannot be used: result.json does not hold the reports of iterations 1 to 6" in job.err, "it is not said why", job)
    check_ends_whole(job, config, 1, "reports are missing")


def kill_while_it_restores(config, mirror):
    """Leaves what a killed restore leaves; returns its folder."""
    injector = BUILD / "tests/attack_injector"
    if not injector.exists():
        skip("the injector was not built: it knows Linux on x86-64 only")
    run_dir = run_dir_of(config)
    job = run([injector, "--watch", run_dir.parent, "--log", config.parent / "calls", "--at", "rename", f".{run_dir.name}.tmp>{run_dir.name}", "1", "kill-before",
               TRAINRT, "--config", config], env=mirror.env)
    if job.code == 97:
        skip(f"system calls cannot be traced here: {job.err.strip()}")
    check("hit\n" in (config.parent / "calls").read_text(), "the restore was not killed", job)
    return next(run_dir.parent.glob(f".{run_dir.name}.tmp.*"))


@test
def a_restore_that_was_killed_is_repeated_and_leaves_nothing():
    mirror = Folder()
    config = finished_run(mirror)
    shutil.rmtree(run_dir_of(config))
    left = kill_while_it_restores(config, mirror)
    shown = run([TRAINRT, "result", run_dir_of(config).parent])
    check(shown.code == USAGE, "result takes what a killed restore has left for a run", shown)
    job = run_ranks(1, config)
    check_exit(job, FINISHED)
    check("has finished already" in job.out + job.err, "it was trained again", job)
    check(not left.exists(), f"{left} is left")


main(teardown=end_stores)
