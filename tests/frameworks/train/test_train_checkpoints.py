#!/usr/bin/python3
"""Checkpoints from directories that a train function reports: from some or all ranks, kept by score, found again after stops and kills."""
import re
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.train_scripts import *  # noqa: E402,F403

# In each epoch, rank 0 or every rank reports a directory. The sum over the epochs shows that all epochs ran, and in order.
SUMS = HEAD + """
def sums(config):
    epoch, total = 0, 0
    checkpoint = train.get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as folder:
            epoch, total = json.load(open(os.path.join(folder, "state")))
        print("FOUND", epoch, os.path.basename(os.path.dirname(checkpoint.path)))
    while epoch < config["epochs"]:
        epoch, total = epoch + 1, 3 * total + epoch
        with Folder() as folder:
            given = None
            if rank() == 0 or config.get("all"):
                with open(os.path.join(folder, "state" if rank() == 0 else f"state-{rank()}"), "w") as file:
                    json.dump([epoch, total], file)
                given = Checkpoint.from_directory(folder)
                given.set_metadata({"epoch": epoch, "mine": True})
            train.report({"epoch": epoch, "total": total, "loss": abs(epoch - 3)}, checkpoint=given)
        time.sleep(config.get("pause", 0))
    return total

def show(result):
    print("RESULT", json.dumps({"returned": result.return_value, "metadata": result.checkpoint.get_metadata(), "files": sorted(os.listdir(result.checkpoint.path)),
                                "best": [os.path.basename(os.path.dirname(checkpoint.path)) for checkpoint, _ in result.best_checkpoints]}))

"""


def sums_script(config, more="", **trainer):
    arguments = ", ".join(f"{name}={value}" for name, value in trainer.items())
    return Script(MAIN + f"    show(trainer(sums, config={config!r}, {arguments}).fit())\n" + more, head=SUMS)


def expected_total(epochs):
    total = 0
    for epoch in range(epochs):
        total = 3 * total + epoch
    return total


@test
def the_directories_of_all_ranks_are_one_checkpoint():
    script = sums_script({"epochs": 3, "all": True})
    found, = result_of(script.run())
    equal(found["files"], [".metadata.json", "state", "state-1"], "files")
    check_verifies(script.runs / "run")


@test
def a_directory_of_rank_0_alone_is_a_checkpoint():
    found, = result_of(sums_script({"epochs": 3}).run())
    equal((found["files"], found["returned"]), ([".metadata.json", "state"], expected_total(3)), "files and sum")


@test
def every_checkpoint_has_the_trainers_metadata_unless_the_function_sets_its_own():
    found, = result_of(sums_script({"epochs": 2}, metadata={"mine": False, "trainers": 1}).run())
    equal(found["metadata"], {"mine": True, "trainers": 1, "epoch": 2}, "metadata")


@test
def the_best_by_score_and_the_newest_are_kept():
    config = "CheckpointConfig(num_to_keep=2, checkpoint_score_attribute='loss', checkpoint_score_order='min')"
    script = sums_script({"epochs": 6}, run=f"{{'checkpoint_config': {config}}}")
    found, = result_of(script.run())
    equal([path.name for path in checkpoints(script.runs / "run")], ["checkpoint_000002", "checkpoint_000003", "checkpoint_000005"], "kept checkpoints (of equal scores, the newer)")
    equal(found["best"][-1], "checkpoint_000002", "the best")


@test
def a_checkpoint_that_is_reported_again_keeps_its_files():
    script = Script("""
def function(config):
    sums({"epochs": 2})
    for _ in range(2):
        found = train.get_checkpoint()
        train.report({"loss": 1}, checkpoint=found, checkpoint_upload_mode=CheckpointUploadMode.ASYNC)
        train.report({"loss": 1}, checkpoint=found, delete_local_checkpoint_after_upload=True)
    train.report({"loss": 2})
    return sorted(os.listdir(found.path))

""" + MAIN + "    show(trainer(function).fit())\n", head=SUMS)
    found, = result_of(script.run())
    equal(found["returned"], [".metadata.json", "state"], "files of the repeated checkpoint")
    check_verifies(script.runs / "run")


@test
def a_directory_to_delete_is_removed_after_its_commit():
    script = Script("""
def function(config):
    left = []
    for epoch in range(3):
        folder = os.path.join(os.environ["TEST_SCRATCH"], f"goes-{rank()}-{epoch}")
        again = os.path.join(os.environ["TEST_SCRATCH"], f"again-{rank()}")
        for each in (folder, again):
            os.makedirs(each, exist_ok=True)
            with open(os.path.join(each, f"{epoch}-{rank()}"), "w") as file:
                file.write(str(epoch))
            train.report({}, checkpoint=Checkpoint(each), checkpoint_upload_mode=CheckpointUploadMode.ASYNC)
            found = train.get_checkpoint()
            left.append([os.path.exists(folder), os.path.exists(os.path.join(found.path, f"{epoch}-{rank()}"))])
    train.report({}, checkpoint=Checkpoint(folder_with("last")), checkpoint_upload_mode=CheckpointUploadMode.ASYNC)
    return left

def folder_with(name):
    folder = os.path.join(os.environ["TEST_SCRATCH"], f"goes-{rank()}-{name}")
    os.makedirs(folder)
    open(os.path.join(folder, f"{rank()}"), "w").close()
    return folder

""" + MAIN + "    print('RESULT', json.dumps(trainer(function).fit().return_value))\n", head=SUMS)
    job = script.run()
    equal(result_of(job), [6 * [[False, True]]], "whether the directory and the checkpoint's file exist", job)
    equal([path.name for path in scratch().parent.glob("goes-*")], [], "directories at the end", job)
    check_verifies(script.runs / "run")


@test
def a_directory_is_kept_if_its_commit_failed():
    """The disk is full at the first commit, so the user's directory is the only copy of the files."""
    kept = scratch()
    job = run_program(1, program_config(python(f"""
import os
from trainrt import train
for name in ("first", "second"):
    folder = os.path.join({str(kept)!r}, name)
    os.makedirs(folder)
    with open(os.path.join(folder, "weights"), "w") as file:
        file.write(name)
    train.report({{"x": 1}}, checkpoint=train.Checkpoint(folder), checkpoint_upload_mode=train.CheckpointUploadMode.ASYNC)
    train.get_checkpoint()
""")), env=faults("pwrite:ENOSPC:/files/weights:0:1"))
    check_exit(job, FINISHED)
    check("could not be written and is dropped" in job.err and "its checkpoint was not committed" in job.err, "the dropped checkpoint is not logged", job)
    equal([path.name for path in kept.iterdir()], ["first"], "remaining directories", job)


def stopped_and_continued(script, number, whom):
    job = script.start()
    wait_for_reports(script.runs / "run", 4, job)
    kill([job.process.pid] if whom == "script" else [job.wait_for_ranks(2)[1]], number)
    job.wait(60)
    again = script.run()
    equal(again.code, 0, "exit", again)
    equal(result_of(again)[0]["returned"], expected_total(30), "the sum over all epochs", again)
    check("FOUND" in again.out, "the run restarted from the beginning", again)
    check_iterations(script.runs / "run", 30)
    check_verifies(script.runs / "run")


for name, number, whom in (("a_stop", signal.SIGTERM, "script"), ("a_kill_of_the_script", signal.SIGKILL, "script"), ("a_kill_of_a_rank", signal.SIGKILL, "rank")):
    add_test(f"after_{name}_the_function_continues_from_its_newest_directory",
             lambda number=number, whom=whom: stopped_and_continued(sums_script({"epochs": 30, "pause": 0.05, "all": True}), number, whom))


@test
def a_script_on_every_rank_continues_from_its_newest_directory():
    script = sums_script({"epochs": 30, "pause": 0.05}, name="'named'")
    command = [TRAINRT, "-n", 2, f"--run.storage_path={script.runs}", "--", PYTHON, script.path]
    job = script.start(command=command)
    wait_for_reports(script.runs / "named", 4, job)
    kill([job.process.pid], signal.SIGTERM)
    equal(job.wait(60), STOPPED, "exit", job)
    again = here(script)
    equal((again.code, result_of(again)[0]["returned"]), (FINISHED, expected_total(30)), "exit, and the sum over all epochs", again)
    check("FOUND" in again.out, "the run restarted from the beginning", again)
    check_iterations(script.runs / "named", 30)


@test
def a_failed_function_restarts_from_the_newest_directory():
    script = Script("""
def fails_once(config):
    if rank() == 1 and not os.path.exists(config["mark"]) and train.get_checkpoint() is None:
        config = {**config, "epochs": 4, "fails": True}
    total = sums(config)
    if config.get("fails"):
        open(config["mark"], "w").close()
        raise ValueError("once")
    return total

""" + MAIN + """    mark = os.path.join(os.environ["RUNS"], "mark")
    show(trainer(fails_once, config={"epochs": 8, "mark": mark}, run={"failure_config": FailureConfig(max_failures=1)}).fit())
""", head=SUMS)
    found, = result_of(script.run())
    equal(found["returned"], expected_total(8), "the sum over all epochs")


def fails_with(text, *words):
    script = Script(text + MAIN + "    trainer(function).fit()\n")
    job = script.run()
    equal(job.code, 1, "exit", job)
    for word in words:
        check(word in job.err, f"the error lacks {word!r}", job)


add_test("a_missing_directory_is_named_with_its_rank", fails_with,
         "def function(config):\n    train.report({}, checkpoint=Checkpoint('/nowhere/at/all') if rank() == 1 else None)\n", "rank 1", "/nowhere/at/all", "does not exist")
# Each rank reports a different model.bin under the same name. With Keras this happens because a saved model contains the time.
DIFFERENT = """
def function(config):
    found = train.get_checkpoint()
    first = 0
    if found is not None:
        with found.as_directory() as folder:
            first = int(open(os.path.join(folder, "model.bin")).read().split()[1])
        print("FOUND", first)
    for epoch in range(first, 5):
        with Folder() as folder:
            with open(os.path.join(folder, "model.bin"), "w") as file:
                file.write(f"{rank()} {epoch + 1}")
            train.report({"epoch": epoch}, checkpoint=Checkpoint.from_directory(folder))
        if epoch == 2 and found is None:
            train.get_checkpoint()  # waits for the commit
            train.collective.barrier()
            raise ValueError("once")

""" + MAIN + """    config = {"checkpoint_config": CheckpointConfig(num_to_keep=1), "failure_config": FailureConfig(max_failures=1)}
    result = trainer(function, name="run", run=config).fit()
    copy = result.checkpoint.to_directory(os.path.join(os.environ["RUNS"], f"copy-{os.getpid()}"))
    print("RESULT", json.dumps([open(os.path.join(result.checkpoint.path, "model.bin")).read(), os.listdir(copy)]))
"""


@test
def of_different_files_of_one_name_the_checkpoint_has_that_of_rank_0_and_keeps_the_others():
    script = Script(DIFFERENT)
    job = script.run()
    equal(result_of(job), [["0 5", ["model.bin"]]], "the file of rank 0, and the files of a copy", job)
    check("FOUND 3" in job.out, "the restarted function did not find the file", job)
    warnings = [line for line in job.err.splitlines() if "different files 'model.bin'" in line]
    check(len(warnings) == 1 and re.search(r"rank 0: [0-9a-f]{32}; rank 1: [0-9a-f]{32}", warnings[0]), "one warning of the run", job)
    kept, = checkpoints(script.runs / "run")
    equal((kept / "files/.other_ranks/1/model.bin").read_text(), "1 5", "the file of rank 1")
    check_verifies(script.runs / "run")
    check("files/.other_ranks/1/model.bin" in run([TRAINRT, "inspect", kept]).out, "inspect does not list the file of rank 1")
    exported = script.folder / "new.bin"
    check_exit(run([TRAINRT, "export", kept, "-o", exported]), FINISHED)
    equal(exported.read_text(), "0 5", "the exported file")


@test
def with_same_files_error_different_files_end_the_run():
    script = Script(DIFFERENT)
    job = here(script, "--checkpoint.same_files=error")
    check(job.code == FAILED and "ranks 0 and 1 have different files 'model.bin' (3 bytes each)" in job.err
          and "checkpoint.same_files = rank0" in job.err, f"exit {job.code}", job)
    equal(checkpoints(script.runs / "run"), [], "checkpoints", job)


@test
def get_checkpoint_on_one_rank_alone_does_not_wait_for_the_others():
    script = Script("""
def function(config):
    sums({"epochs": 2})
    found = train.get_checkpoint().path if rank() == 0 else ""
    both = [os.path.basename(os.path.dirname(each.checkpoint.path)) for each in train.get_all_reported_checkpoints()] if rank() == 1 else None
    return [os.path.basename(os.path.dirname(found)), train.collective.broadcast_from_rank_zero(1)]

""" + MAIN + "    print('RESULT', json.dumps(trainer(function).fit().return_value))\n", head=SUMS)
    equal(result_of(script.run()), [["checkpoint_000001", 1]], "the newest checkpoint, and the broadcast")


def damaged_run(keeps, damages):
    """Returns a stopped script and its newest checkpoints, which are then damaged."""
    config = f"{{'checkpoint_config': CheckpointConfig(num_to_keep={keeps})}}"
    script = sums_script({"epochs": 30, "pause": 0.05}, run=config)
    job = script.start()
    wait_for_reports(script.runs / "run", 5, job)
    kill([job.process.pid], signal.SIGTERM)
    equal(job.wait(60), STOPPED, "exit", job)
    found = checkpoints(script.runs / "run")[-damages:]
    for path in found:
        state = path / "files/state"
        text = state.read_text()
        state.unlink()  # it may be a hard link to a file of another checkpoint
        state.write_text("9" + text[1:])
    return script, found


@test
def a_damaged_checkpoint_is_skipped():
    script, found = damaged_run(3, 1)
    again = script.run()
    equal(again.code, 0, "exit", again)
    check(found[0].name in again.err and "does not match its digest" in again.err, "the damaged checkpoint is not named", again)
    equal(result_of(again)[0]["returned"], expected_total(30), "the sum over all epochs", again)
    check("FOUND" in again.out, "the run restarted from the beginning", again)
    check_iterations(script.runs / "run", 30)


@test
def a_run_with_only_damaged_checkpoints_is_an_error():
    script, found = damaged_run(1, 1)
    again = script.run()
    equal(again.code, 1, "exit", again)
    for word in (found[0].name, "damaged", "trainrt verify"):
        check(word in again.err, f"the error lacks {word!r}", again)


@test
def files_of_a_state_are_no_checkpoint_of_the_function():
    script = Script("""
import trainrt
def function(config):
    state = trainrt.State()
    state["n"] = 0
    with open(os.path.join(os.environ["TEST_SCRATCH"], f"own-{rank()}"), "w") as file:
        file.write("own")
    state.file("own", file.name)
    trainrt.context().restore(state)
    for number in range(3):
        state["n"] += 1
        train.report({"x": number})
    trainrt.context().save()
    return [train.get_checkpoint() is None, len(train.get_all_reported_checkpoints())]

""" + MAIN + "    result = trainer(function).fit()\n    print('RESULT', json.dumps([result.return_value, result.checkpoint.is_native()]))\n")
    job = script.run()
    equal(result_of(job), [[[True, 0], True]], "checkpoints of the function, and the State's checkpoint", job)
    check((checkpoints(script.runs / "run")[-1] / "files").is_dir(), "the State's files are missing", job)


@test
def a_directory_in_later_checkpoints_keeps_the_metrics_of_its_report():
    script = Script("""
import trainrt
def function(config):
    state = trainrt.State()
    state["n"] = 0
    trainrt.context().restore(state)
    for number in range(4):
        state["n"] += 1
        with Folder() as folder:
            with open(os.path.join(folder, "model"), "w") as file:
                file.write("the same")
            train.report({"x": number}, checkpoint=Checkpoint(folder) if number < 2 else None)
        trainrt.context().save()
    return [each.metrics["x"] for each in train.get_all_reported_checkpoints()]

""" + MAIN + "    result = trainer(function).fit()\n    print('RESULT', json.dumps([result.return_value, [each['x'] for _, each in result.best_checkpoints]]))\n")
    job = script.run()
    check(len(checkpoints(script.runs / "run")) > 2, "no later checkpoint carries the directory", job)
    equal(result_of(job), [[[0, 1], [0, 1]]], "metrics of the reported checkpoints", job)


@test
def another_run_starts_from_a_given_checkpoint():
    script = Script(MAIN + """    first = trainer(sums, config={"epochs": 3}, name="first").fit()
    second = trainer(sums, config={"epochs": 5}, name="second", resume_from_checkpoint=first.checkpoint).fit()
    show(second)
    print("RESULT", len(second.reports))
""", head=SUMS)
    found = result_of(script.run())
    equal((found[0]["returned"], found[1]), (expected_total(5), 2), "sum and number of reports of the second run")


@test
def the_function_of_ray_train_1_saves_and_loads_values():
    script = Script("""
def function(config):
    found = train.load_checkpoint() or {}
    model = found.get("model", 0)
    for epoch in range(found.get("epoch", -1) + 1, config["epochs"]):
        model += epoch
        train.save_checkpoint(epoch=epoch, model=model, nested={"a": [epoch]})
    return model

""" + MAIN + """    trainer = Trainer(backend=BackendConfig(), num_workers=2, logdir=os.environ["RUNS"], max_retries=0)
    returned = trainer.run(function, config={"epochs": 5}, checkpoint={"epoch": 2, "model": 3},
                           checkpoint_strategy=CheckpointStrategy(num_to_keep=1, checkpoint_score_attribute="epoch", checkpoint_score_order="min"))
    print("RESULT", json.dumps([returned, trainer.latest_checkpoint, trainer.best_checkpoint_path.parent.name]))
""")
    job = script.run()
    equal(result_of(job), [[[10, 10], {"epoch": 4, "model": 10, "nested": {"a": [4]}}, "checkpoint_000000"]], "results of the first run", job)


if __name__ == "__main__":
    main()
