"""Checks of a run after the attack, and after the next attempt has finished it."""
import json
import re

from harness import FAILED, FINISHED, STOPPED, USAGE, attempts, check, check_exit, check_iterations, check_no_debris, check_same_bits, check_verifies, checkpoints, equal, run_state
from scenes import EPOCHS

RAW = r"terminate called|what\(\):|Segmentation fault|std::\w+ ?(error|exception)|Assertion"


def check_attacked(attacked):
    """Checks how the attacked attempt ended."""
    job, point = attacked.attacked, attacked.point
    if point.sort() in ("kill", "lose") and attacked.hit:
        return
    allowed = {FINISHED, STOPPED} if point.action == "stop" else {FINISHED, FAILED, *([USAGE] if point.action in ("EACCES", "EPERM") else [])}
    check(job.code in allowed, f"exit {job.code}, expected one of {sorted(allowed)}")
    check(not re.search(RAW, job.err), "the error is a raw message of a library")
    check(job.code == FINISHED or re.search(r"^trainrt: .+", job.err, re.M), f"exit {job.code} without a message of trainrt")
    check(not list((attacked.run_dir / "logs").glob("crash-*")), "a rank crashed")
    if job.code == FINISHED and attacked.point.is_error():
        check_same_bits(attacked.run_dir, attacked.stage.quiet)
        equal(run_state(attacked.run_dir), "finished", "state in run.json")


def check_attempts(attacked):
    records = attempts(attacked.run_dir)
    numbers = [record["attempt"] for record in records]
    check(numbers == sorted(set(numbers)), f"numbers of the attempts: {numbers}")
    for record in records:
        check(record["end"] and record["why"], f"the record of attempt {record['attempt']} has no end")
    equal((records[-1]["why"], records[-1]["exit_code"]), ("finished", FINISHED), "end of the last attempt")


def check_lost_work(attacked):
    """Checks that no attempt repeats steps of a checkpoint that was committed before its start, unless it reported that it
    cannot read this checkpoint. If the scene has a mirror, only mirrored checkpoints count."""
    records = attempts(attacked.run_dir)
    known = attacked.known if not attacked.stage.scene.has_mirror() else EPOCHS - 1
    for job, safe, theirs in zip((attacked.attacked, attacked.finished), attacked.safe, (records[known:-1], records[-1:])):
        for record in theirs:
            computed = record["exit_code"] in (FINISHED, STOPPED) and record["last_step"] > 0  # otherwise the attempt may have ended before it loaded a checkpoint
            unread = [name for name, step in safe.items() if step > record["first_step"] and not re.search(rf"warning: ((file:\S*/)?{name}:? |the run (had saved|finished with) {name}\b)", job.err)]
            check(not computed or not unread, f"attempt {record['attempt']} continued from step {record['first_step']}, but newer checkpoints were committed: {unread}")


def _meta(directory):
    return json.loads((directory / "manifest.json").read_text())


def check_kept(attacked):
    """Checks that the run keeps the best committed checkpoint and the latest, as its config requires (config_in())."""
    kept = [_meta(directory) for directory in checkpoints(attacked.run_dir)]
    an_epoch = attacked.stage.scene.steps_an_epoch()
    equal(max(meta["step"] for meta in kept), (EPOCHS + 1) * an_epoch, "step of the latest checkpoint")
    quiet = [_meta(directory) for directory in checkpoints(attacked.stage.longer)]
    equal(len(kept), len(quiet), "number of checkpoints kept")
    if not attacked.dropped_steps():
        best = max(meta["metrics"]["loss"] for meta in quiet)
        check(any(meta["metrics"].get("loss") == best for meta in kept), f"the best checkpoint, with loss {best}, is not kept: {[meta['metrics'] for meta in kept]}")
        if attacked.point.action != "stop":  # a stop saves one more checkpoint
            equal([meta["step"] for meta in kept], [meta["step"] for meta in quiet], "steps of the checkpoints kept")


def check_mirror(attacked):
    """Checks that the mirror holds the complete newest checkpoint and the records of the run."""
    newest = checkpoints(attacked.run_dir)[-1]
    names = ["run.json", "result.json", *(f"{newest.name}/{path.name}" for path in newest.iterdir() if path.name != "state.h5")]
    wrong = [name for name in names if not (attacked.mirror / name).exists() or (attacked.mirror / name).read_bytes() != (attacked.run_dir / name).read_bytes()]
    check(not wrong, f"files that are missing or differ in the mirror: {wrong}")


def check_finished(attacked):
    """Checks that the next attempt finished the run as if it had not been attacked."""
    check_exit(attacked.finished, FINISHED)
    check_lost_work(attacked)
    equal(run_state(attacked.run_dir), "finished", "state in run.json")
    check_attempts(attacked)
    check_iterations(attacked.run_dir, EPOCHS + 1)
    check_same_bits(attacked.run_dir, attacked.stage.longer)
    if attacked.stage.scene.has_mirror():
        check_mirror(attacked)
    else:
        check_kept(attacked)
    check_verifies(attacked.run_dir)
    check_no_debris(attacked.run_dir)
