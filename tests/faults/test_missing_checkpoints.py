#!/usr/bin/python3
"""Tests that a run with checkpoints never starts from the beginning without permission. An empty, truncated or failed listing of its
directory is read again; if it stays wrong, the start is refused before anything is changed."""
import shutil
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

SHIM = BUILD / "tests/fault_shim.so"
EPOCHS = 4
LOOP = {"optimizer": "adamw"}
DATA = {"samples": 64}
_kept = {}


def config_of(folder, name="lost", epochs=EPOCHS, pause=0.0, **failure):
    return linear_config(folder, name, {**LOOP, "epochs": epochs, "step_pause": pause}, DATA, failure={"storage_timeout": 20, **failure})


def finished(epochs=EPOCHS, ranks=1):
    """Returns the directory of a finished run. The run is made only once, so tests must copy the directory."""
    if (epochs, ranks) not in _kept:
        config = config_of(scratch(), epochs=epochs)
        check_exit(run_ranks(ranks, config), FINISHED)
        _kept[epochs, ranks] = run_dir_of(config)
    return _kept[epochs, ranks]


def begun(ranks=1, **keys):
    """Returns the config of a run that has done half of its epochs: 8 steps on one rank, 4 on two."""
    config = config_of(scratch(), **keys)
    shutil.copytree(finished(EPOCHS // 2, ranks), run_dir_of(config), symlinks=True)
    return config


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in Path(folder).rglob("*")}


def start(config, faults, *words, ranks=1):
    if not SHIM.exists():
        skip("the library that injects faults was not built (builds with sanitizers leave it out)")
    return run_ranks(ranks, config, *words, first_env={"LD_PRELOAD": SHIM, "TRAINRT_FAULTS": faults})


def check_continued(config, job):
    check_exit(job, FINISHED)
    run_dir = run_dir_of(config)
    check_same_bits(run_dir, finished())
    check_iterations(run_dir, EPOCHS)
    equal(attempts(run_dir)[-1]["first_step"], attempts(finished(EPOCHS // 2))[-1]["last_step"], "first step of the attempt", job)
    equal([path.name for path in checkpoints(run_dir)], [path.name for path in checkpoints(finished())], "checkpoints", job)
    check_no_debris(run_dir, keep=2)
    check_verifies(run_dir)


def check_refused(config, job, *words):
    check_exit(job, USAGE)
    equal(job.err.count("error:"), 1, "number of messages", job)
    for word in ("--run.missing_checkpoints=accept", *words):
        check(word in job.err, f"the message lacks {word!r}", job)


def move_away(config, *names):
    """Moves files of the run into another folder; returns that folder."""
    away = config.parent / "away"
    away.mkdir(exist_ok=True)
    for name in names:
        (run_dir_of(config) / name).rename(away / name)
    return away


def names_of(config):
    return [path.name for path in checkpoints(run_dir_of(config))]


# ---- temporary faults ----------------------------------------------------------------------------------------------------


@test
def one_wrong_listing_does_not_change_a_start():
    # Fails the n-th listing or open: in the check before the start, in the claim, in the check after it, or in the cleanup.
    faults = [f"readdir:end:/lost$:{n}:1" for n in (0, 4, 13, 26, 40, 60)] + [f"readdir:end:/lost/attempts$:{n}:1" for n in (0, 3, 7, 11)]
    faults += ["open:ENOENT:/lost$:0:1"] + [f"open:ENOENT:/lost/attempts$:{n}:1" for n in range(2)]
    faults += [f"lstat:ENOENT:/lost/run.json$:{n}:1" for n in range(3)]
    for fault in faults:
        config = begun()
        job = start(config, fault)
        try:
            check_continued(config, job)
        except Failure as failure:
            raise Failure(f"{fault}: {failure}\n{job.tail()}") from None


@test
def a_start_waits_while_a_listing_is_wrong():
    config = begun()
    job = start(config, "readdir:end:/lost$:0:5")
    check_continued(config, job)
    check("storage does not answer" in job.err and "storage answers again" in job.err, "the message about the wait is missing", job)


# ---- permanent faults --------------------------------------------------------------------------------------------------------


@test
def a_start_is_refused_without_changes_if_a_listing_stays_wrong():
    for fault, words in (("readdir:end:/lost$", ["had saved checkpoint_000001 (step 4)", "shows no checkpoint", "at step 0"]),
                         ("open:ENOENT:/lost$", ["had saved checkpoint_000001", "shows no checkpoint"]),
                         ("readdir:end:/attempts$", ["attempts shows no record"])):
        config = begun(ranks=2, storage_timeout=0.3)
        before = content(run_dir_of(config))
        check_refused(config, start(config, fault, ranks=2), *words)
        equal(content(run_dir_of(config)), before, f"contents of the run directory after {fault}")


@test
def a_start_is_refused_while_checkpoints_or_records_are_missing_and_continues_when_they_are_back():
    for names, words in ((["checkpoint_000000", "checkpoint_000001"], ["shows no checkpoint"]),
                         (["checkpoint_000001"], ["the newest that", "is checkpoint_000000"]), (["attempts"], ["shows no record"]),
                         (["run.json"], ["shows no run.json"])):
        config = begun(storage_timeout=0.3)
        away = move_away(config, *names)
        before = content(run_dir_of(config))
        check_refused(config, run_ranks(1, config), *words)
        equal(content(run_dir_of(config)), before, "contents of the run directory")
        for name in names:
            (away / name).rename(run_dir_of(config) / name)
        check_continued(config, run_ranks(1, config))


@test
def a_finished_run_without_its_checkpoints_is_refused():
    config = config_of(scratch(), storage_timeout=0.3)
    shutil.copytree(finished(), run_dir_of(config))
    away = move_away(config, *names_of(config))
    check_refused(config, run_ranks(2, config), "shows no checkpoint")
    for name in os.listdir(away):
        (away / name).rename(run_dir_of(config) / name)
    job = run_ranks(2, config)
    check_exit(job, FINISHED)
    check("finished already" in job.out + job.err, "the message is missing", job)


@test
def check_and_result_report_missing_checkpoints():
    config = begun(storage_timeout=0.3)
    move_away(config, *names_of(config))
    job = run([TRAINRT, "check", "--config", config])
    check_refused(config, job, "had saved checkpoint_000001 (step 8)")
    check("from the beginning" not in job.out, "check reports a start from the beginning", job)
    job = run([TRAINRT, "check", "--config", config, "--run.missing_checkpoints=accept"])
    check_exit(job, FINISHED)
    check("from the beginning (allowed by run.missing_checkpoints = accept" in job.out, "the accepted loss is not reported", job)
    job = run([TRAINRT, "result", run_dir_of(config)])
    check_exit(job, FINISHED)
    check("WARNING     attempt 1 had saved checkpoint_000001 (step 8), but" in job.out, "result does not report it", job)
    shown = json.loads(run([TRAINRT, "result", "--json", run_dir_of(config)]).out)
    check("shows no checkpoint" in shown["contradiction"], f"result --json: {shown['contradiction']!r}")


# ---- damaged checkpoints -------------------------------------------------------------------------------------------------------


def damaged(ranks=1, **keys):
    """Returns the config of a run that has done half of its epochs, with only damaged checkpoints."""
    config = begun(ranks, **keys)
    for directory in checkpoints(run_dir_of(config)):
        flip(directory / "shard-00000.h5")
    return config


def flip(path):
    """Changes a few bytes in the middle of the file. The bytes before them remain readable."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x55
    path.write_bytes(data)


@test
def a_run_with_only_damaged_checkpoints_exits_with_64_and_lists_the_choices():
    for ranks in (1, 2):
        config = damaged(ranks, max_failures=3)
        before = names_of(config)
        job = run([TRAINRT, "run", "-n", ranks, "--config", config]) if ranks > 1 else run_ranks(1, config)
        check_refused(config, job, "all its checkpoints are damaged", "A restart does not help", "from a backup", "--run.name=NAME")
        equal([attempt["exit_code"] for attempt in attempts(run_dir_of(config))], [FINISHED, USAGE], "exit codes of the attempts", job)
        equal(names_of(config), before, "checkpoints", job)


@test
def accepted_damaged_checkpoints_are_kept_until_the_run_has_a_new_one():
    config = damaged(2, pause=0.05)  # the readable part of a damaged checkpoint must not be loaded into the State
    before = names_of(config)
    config.write_text(config.read_text().replace("num_to_keep = 2", "num_to_keep = 2\nevery = 5 steps"))
    job = start_ranks(2, config, "--run.missing_checkpoints=accept")
    wait_for_reports(run_dir_of(config), 1, job)
    equal(names_of(config), before, "checkpoints", job)
    equal(job.wait(60), FINISHED, "exit code", job)
    check("all checkpoints are damaged. Since run.missing_checkpoints = accept, the run begins again at step 0" in job.err, "the message is missing", job)
    equal(attempts(run_dir_of(config))[-1]["first_step"], 0, "first step of the attempt", job)
    check(not set(before) & set(names_of(config)), f"a damaged checkpoint still exists: {names_of(config)}", job)
    check_same_bits(run_dir_of(config), finished(ranks=2))
    check_iterations(run_dir_of(config), EPOCHS)


@test
def a_run_with_only_damaged_checkpoints_is_restored_from_its_mirror():
    config = damaged()
    mirror = config.parent / "mirror"
    shutil.copytree(finished(EPOCHS // 2), mirror / "lost", symlinks=True)
    words = [f"--checkpoint.mirror={mirror}"]
    job = run_ranks(1, config, *words)
    (run_dir_of(config) / "mirror.json").unlink()  # status of the copies
    check_continued(config, job)
    check("all checkpoints in" in job.err and "was restored from" in job.err, "the message is missing", job)

    config = damaged()  # the mirror has no intact checkpoint
    shutil.rmtree(mirror)
    shutil.copytree(run_dir_of(config), mirror / "lost", symlinks=True)
    job = run_ranks(1, config, *words)
    check_refused(config, job, "all its checkpoints are damaged")
    check("has no intact checkpoint" in job.err, "the message is missing", job)


@test
def temporary_storage_errors_do_not_count_as_damage():
    for fault in ("open:EIO:shard-", "open:ESTALE:manifest.json", "pread:EIO:shard-"):
        config = begun(ranks=2, storage_timeout=0.3)
        job = start(config, fault, ranks=2)
        check_exit(job, FAILED)
        check("reports temporary errors" in job.err, f"{fault}: the message is missing", job)
        check_continued_2(config, run_ranks(2, config))


def check_continued_2(config, job):
    check_exit(job, FINISHED)
    check_same_bits(run_dir_of(config), finished(ranks=2))
    check_iterations(run_dir_of(config), EPOCHS)


@test
def damage_that_only_one_rank_sees_is_checked_by_another_rank():
    config = begun(ranks=2, storage_timeout=0.3)
    if not SHIM.exists():
        skip("the library that injects faults was not built (builds with sanitizers leave it out)")
    one = {"LD_PRELOAD": SHIM, "TRAINRT_FAULTS": "open:ENOENT:shard-"}
    job = run_ranks(2, config, other_env=one)
    check_exit(job, FAILED)
    check("only rank 1 finds" in job.err, "the rank is not named", job)


# ---- damaged files that are not checkpoints --------------------------------------------------------------------------------------


@test
def a_lost_result_json_is_restored_from_files_derived_from_it():
    for lost in (["result.json"], ["result.json", "metrics.h5"], ["result.json", "progress.csv"]):
        config = begun()
        log = (run_dir_of(config) / "result.json").read_bytes()
        for name in lost:
            (run_dir_of(config) / name).unlink()
        job = run_ranks(1, config)
        check_continued(config, job)
        check("result.json lacks 2 of the 2 records" in job.err, "the message is missing", job)
        check((run_dir_of(config) / "result.json").read_bytes().startswith(log), f"different records after {lost} were lost", job)
    config = begun()
    for name in ("result.json", "metrics.h5", "progress.csv"):
        (run_dir_of(config) / name).unlink()
    job = run_ranks(1, config)
    check_exit(job, USAGE)
    check("records of iterations 1 to 2 are missing" in job.err, "the missing records are not named", job)


@test
def run_and_result_name_and_ignore_a_damaged_record_of_an_attempt():
    config = begun()
    record = run_dir_of(config) / "attempts/000001.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "attempt": 7}))
    job = run([TRAINRT, "result", run_dir_of(config)])
    check_exit(job, FINISHED)
    check("attempts (1, 1 of them without a readable record)" in job.out, "the attempts are not counted", job)
    job = run_ranks(1, config)
    check_exit(job, FINISHED)
    equal(job.err.count("attempts/000001.json; it is ignored: it belongs to attempt 7"), 1, "number of messages", job)
    equal(sorted(path.name for path in (run_dir_of(config) / "attempts").iterdir()), ["000001.json", "000002.json"], "records")


@test
def a_directory_or_pipe_instead_of_a_file_is_named_or_replaced_without_waiting():
    for name, make, code in (("params.json", Path.mkdir, None), ("params.json", os.mkfifo, FINISHED), ("run.json", os.mkfifo, None),
                             ("result.json", os.mkfifo, None), ("result.json", Path.mkdir, None), ("progress.csv", Path.mkdir, FINISHED),
                             ("metrics.h5", os.mkfifo, FINISHED), ("attempts/000001.json", os.mkfifo, FINISHED)):
        config = begun(storage_timeout=0.3)
        path = run_dir_of(config) / name
        path.unlink()
        make(path)
        job = run_ranks(1, config, timeout=30)
        check(job.code in ((USAGE, FAILED) if code is None else (code,)), f"{name} as {make.__name__}: exit {job.code}", job)
        if code is None:
            check(name in job.err and job.err.count("error:") == 1, f"{name} is not named once", job)


# ---- losses that the user accepts ----------------------------------------------------------------------------------------------


@test
def an_accepted_run_starts_at_step_0_and_the_next_start_needs_no_option():
    config = begun(storage_timeout=0.3)
    move_away(config, *names_of(config))
    job = run_ranks(1, config, "--run.missing_checkpoints=accept", "--loop.epochs=1")
    check_exit(job, FINISHED)
    check("Since run.missing_checkpoints = accept, the run starts again from its beginning" in job.err, "the message is missing", job)
    equal(attempts(run_dir_of(config))[-1]["first_step"], 0, "first step of the attempt", job)
    equal(names_of(config), ["checkpoint_000002"], "checkpoints (numbers are not reused)", job)
    job = run_ranks(1, config)
    check_exit(job, FINISHED)
    check_same_bits(run_dir_of(config), finished())
    check_iterations(run_dir_of(config), EPOCHS)


@test
def a_checkpoint_that_reappears_later_is_neither_deleted_nor_overwritten():
    config = begun(storage_timeout=0.3, pause=0.1)
    away = move_away(config, "checkpoint_000001")
    job = start_ranks(1, config, "--run.missing_checkpoints=accept")
    wait_until(lambda: "continuing from" in job.err or job.ended(), 30, "the run to continue", job)
    shutil.copytree(away / "checkpoint_000001", run_dir_of(config) / "checkpoint_000001")
    equal(job.wait(60), FINISHED, "exit code", job)
    check("checkpoint_000001" in names_of(config), f"the checkpoint was deleted: {names_of(config)}", job)
    equal(content(run_dir_of(config) / "checkpoint_000001"), content(away / "checkpoint_000001"), "contents of the checkpoint")
    check_same_bits(run_dir_of(config), finished())


@test
def a_run_killed_before_its_first_commit_starts_at_step_0_without_a_message():
    config = config_of(scratch(), epochs=300, pause=0.02)
    config.write_text(config.read_text().replace("num_to_keep = 2", "num_to_keep = 2\nevery = off"))
    job = start_ranks(1, config)
    wait_for_reports(run_dir_of(config), 2, job)
    kill(job.ranks().values())
    job.wait(30)
    job = start_ranks(1, config)
    wait_for_reports(run_dir_of(config), 1, job)
    kill([job.process.pid], signal.SIGTERM)
    job.wait(30)
    equal(attempts(run_dir_of(config))[-1]["first_step"], 0, "first step of the attempt", job)
    check("trying again" not in job.err, "the start waited", job)


main()
