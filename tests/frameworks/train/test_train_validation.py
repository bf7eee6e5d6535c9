#!/usr/bin/python3
"""Checkpoints that are validated during training: the validated metrics choose the checkpoints to keep, and stops lose no validation."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.train_scripts import *  # noqa: E402,F403

sys.path.insert(0, str(BUILD / "python"))
from trainrt import train  # noqa: E402
from trainrt.train import Checkpoint, DataParallelTrainer, ValidationConfig, ValidationTaskConfig  # noqa: E402
from trainrt.train._results import _run_directory, _validation_file  # noqa: E402

# Each epoch reports a checkpoint with the number of the epoch in the file `value`. The validation function gives the best result to value `best`.
VALIDATED = HEAD + """
def look(checkpoint, best=2, slow=0, until="", fails=(), end=""):
    with checkpoint.as_directory() as folder:
        value = int(open(os.path.join(folder, "value")).read())
    with open(os.path.join(os.environ["PLACE"], "looked"), "a") as file:
        file.write(f"{value} {os.getpid()} {os.environ.get('RANK')}\\n")
    time.sleep(slow)
    wait_for(until)
    if value in fails:
        raise ValueError(f"no such luck with {value}")
    if end == "kill":
        os.kill(os.getpid(), 9)
    return [] if end == "list" else {"accuracy": -abs(value - best), "extra": {"note": "me"}, "odd": float("nan")}

def wait_for(name):
    limit = time.monotonic() + 40
    while name and not os.path.exists(os.path.join(os.environ["PLACE"], name)):
        time.sleep(0.02)
        if time.monotonic() > limit:
            raise TimeoutError(name)

def loop(config):
    start = 0
    if train.get_checkpoint() is not None:
        start = 1 + int(open(os.path.join(train.get_checkpoint().path, "value")).read())
    for value in range(start, config["reports"]):
        with Folder() as folder:
            with open(os.path.join(folder, "value"), "w") as file:
                file.write(str(value))
            task = config.get("task", True)
            train.report({"value": value, "accuracy": 0}, Checkpoint(folder), validation=ValidationTaskConfig(**task) if isinstance(task, dict) else task)
        time.sleep(config.get("pause", 0))
    if rank() == 0 and config.get("done"):
        open(os.path.join(os.environ["PLACE"], config["done"]), "w").close()
    if config.get("asks"):
        return [[each.metrics["value"], each.metrics["accuracy"], each.status.value] for each in train.get_all_reported_checkpoints()]

def show(result):
    print("RESULT", json.dumps({"returned": result.return_value, "best": [[metrics["value"], metrics["accuracy"]] for _, metrics in result.best_checkpoints],
                                "chosen": result.get_best_checkpoint("accuracy", "max").path, "extra": result.best_checkpoints[-1][1].get("extra/note")}))

def kept(count):
    return {"checkpoint_config": CheckpointConfig(num_to_keep=count, checkpoint_score_attribute="accuracy")}
"""


def script_of(config, task="", **trainer):
    arguments = ", ".join(f"{name}={value}" for name, value in {"run": "kept(2)", **trainer}.items())
    return Script(MAIN + f"    show(trainer(loop, config={config!r}, validation_config=ValidationConfig(look{task}), {arguments}).fit())\n", head=VALIDATED)


def task_of(**arguments):
    return f", task_config=ValidationTaskConfig(fn_kwargs={arguments!r})"


def folder_of(script):
    return {"PLACE": script.folder}


def kept_values(script):
    return sorted(int((path / "files/value").read_text()) for path in checkpoints(script.runs / "run"))


def looked_at(script):
    return [int(line.split()[0]) for line in (script.folder / "looked").read_text().splitlines()]


@test
def validated_metrics_decide_which_checkpoints_are_kept():
    script = script_of({"reports": 6})
    found, = result_of(script.run(env=folder_of(script)))
    equal(looked_at(script), [0, 1, 2, 3, 4, 5], "validated values, in order")
    equal(kept_values(script), [2, 3, 5], "kept: the best two and the newest")
    equal((found["best"][-1], found["extra"]), ([2, 0], "me"), "the best checkpoint, and its validated metric")
    check(found["chosen"].endswith("checkpoint_000002/files"), f"chosen: {found['chosen']}")
    check_verifies(script.runs / "run")
    inspected = run([TRAINRT, "inspect", script.runs / "run/checkpoint_000002"]).out
    check("accuracy = -0" in inspected or "accuracy = 0" in inspected, inspected)
    check("validation  done" in inspected and "odd = nan" in inspected, inspected)


@test
def training_continues_during_validations_with_own_arguments():
    script = script_of({"reports": 4, "done": "trained", "task": {"fn_kwargs": {"best": 1}}}, task_of(until="trained"))
    found, = result_of(script.run(env=folder_of(script)))
    equal((kept_values(script), found["best"][-1]), ([1, 2, 3], [1, 0]), "kept values, and the best")


@test
def each_validation_runs_in_its_own_process_without_a_rank():
    script = script_of({"reports": 3})
    script.run(env=folder_of(script))
    rows = [line.split() for line in (script.folder / "looked").read_text().splitlines()]
    equal(len({pid for _, pid, _ in rows}), 3, "processes")
    equal({rank for *_, rank in rows}, {"None"}, "RANK of the processes")


@test
def a_train_function_can_read_validated_metrics():
    script = script_of({"reports": 3, "asks": True}, run="{}")
    found, = result_of(script.run(env=folder_of(script)))
    equal(found["returned"], [[0, -2, "VALIDATED"], [1, -1, "VALIDATED"], [2, 0, "VALIDATED"]], "validated metrics and states")
    script = Script("""
def asks(config):
    loop(config)
    found = [each.metrics["accuracy"] for each in train.get_all_reported_checkpoints(CheckpointConsistencyMode.COMMITTED)]
    found += [each.metrics["accuracy"] for each in train.get_all_reported_checkpoints(timeout_s=0.1)]
    found += [each.status.value for each in train.get_all_reported_checkpoints(timeout_s=0.1)]
    train.collective.barrier()
    open(os.path.join(os.environ["PLACE"], "asked"), "w").close()
    return found

""" + MAIN + """    validation = ValidationConfig(look, ValidationTaskConfig({"until": "asked"}))
    print("RESULT", json.dumps(trainer(asks, config={"reports": 2}, validation_config=validation).fit().return_value))
""", head=VALIDATED)
    equal(result_of(script.run(env=folder_of(script))), [[0, 0, 0, 0, "PENDING_VALIDATION", "PENDING_VALIDATION"]], "reported metrics and states")


@test
def a_failed_validation_is_logged_and_keeps_the_metrics():
    for arguments, words in (({"fails": [1]}, "ValueError: no such luck with 1"), ({"end": "list"}, "returned a list; it must return a dict"),
                             ({"end": "kill"}, "killed by signal 9")):
        script = script_of({"reports": 2}, task_of(**arguments), run="{}")
        job = script.run(env=folder_of(script))
        result_of(job)
        check(words in job.err + job.out, f"{words!r} is not logged", job)
        check("its metrics stay as they were reported" in job.err + job.out, "the consequence is not logged", job)
        error = json.loads((script.runs / "run/checkpoint_000001/validation.json").read_text())["error"]
        check(words.split(",")[0] in error, f"the error in the file is {error}", job)
        check_verifies(script.runs / "run")


@test
def a_validation_beyond_its_timeout_is_ended():
    script = script_of({"reports": 1}, ", task_config=ValidationTaskConfig(fn_kwargs={'slow': 100}, timeout_s=0.5)", run="{}")
    job = script.run(env=folder_of(script))
    check("longer than timeout_s, 0.5 s" in job.err + job.out, "the limit is not logged", job)


@test
def the_next_start_does_the_validations_that_a_kill_interrupted():
    script = script_of({"reports": 4, "pause": 0.2, "done": "never"}, task_of(until="never"))
    job = script.start(env=folder_of(script))
    wait_until(lambda: (script.folder / "looked").exists() and len(checkpoints(script.runs / "run")) >= 3, 40, "a running validation", job)
    validating = int((script.folder / "looked").read_text().split()[1])
    kill([job.process.pid, *job.ranks().values()])
    job.wait(60)
    wait_until(lambda: not Path(f"/proc/{validating}").exists(), 20, "the validation's process to exit", job)
    check(len(checkpoints(script.runs / "run")) >= 3, "a checkpoint that awaits its validation was removed", job)
    (script.folder / "looked").unlink()
    again = script.run(env=folder_of(script))
    found, = result_of(again)
    equal(looked_at(script), [0, 1, 2, 3], "validated")
    equal((kept_values(script), found["best"][-1]), ([2, 3], [2, 0]), "kept values (of equal scores, the newer), and the best")


@test
def a_run_stopped_during_the_last_validations_keeps_them_for_later():
    script = script_of({"reports": 2, "done": "trained"}, task_of(slow=30))
    job = script.start(env=folder_of(script))
    wait_until(lambda: (script.folder / "trained").exists(), 40, "the end of the training", job)
    job.process.send_signal(signal.SIGINT)
    job.code = job.wait(25)
    check(job.code != 0, "the script did not stop", job)
    script.path.write_text(script.path.read_text().replace("slow=0", "slow=0, slower=0").replace("'slow': 30", "'slow': 0"))
    for _, how in _run_directory.awaiting_validation(script.runs / "run"):
        equal(how["fn_kwargs"], {"slow": 30}, "arguments in the manifest")
    equal(len(_run_directory.awaiting_validation(script.runs / "run")), 2, "awaiting")
    inspected = run([TRAINRT, "inspect", script.runs / "run"]).out
    check("validation  awaited" in inspected, inspected)


@test
def a_damaged_validation_is_repeated():
    script = script_of({"reports": 2}, run="{}")
    script.run(env=folder_of(script))
    first = script.runs / "run/checkpoint_000000"
    (first / "validation.json").write_text('{"format": "trainrt validation", "vers')
    verified = run([TRAINRT, "verify", script.runs / "run"])
    check("validation.json" in verified.out and "validates the checkpoint again" in verified.out and verified.code == 0, "verify", verified)
    equal(_validation_file.read(str(first)), None, "contents of a damaged file")
    script.path.write_text(script.path.read_text().replace("'reports': 2", "'reports': 3").replace("trainer(loop", "trainer(loop, ranks=2"))
    equal([path for path, _ in _run_directory.awaiting_validation(script.runs / "run")], [str(first)], "awaiting")


@test
def in_local_mode_a_validation_runs_at_once():
    script = script_of({"reports": 2}, ranks=0, run="{}")
    script.path.write_text(script.path.read_text().replace("    show(", "    print('RESULT', json.dumps(").replace(".fit())", ".fit().metrics))"))
    found, = result_of(script.run(env=folder_of(script)))
    equal((found["accuracy"], found["extra/note"]), (-1, "me"), "metrics")


@test
def validation_works_on_launched_ranks():
    script = script_of({"reports": 3})
    script.path.write_text(script.path.read_text().replace("    show(", "    result = (").replace(".fit())", ".fit())\n    if rank() == 0: show(result)"))
    job = run([TRAINRT, "-n", 2, "--", PYTHON, script.path], env=script.env(**folder_of(script)), cwd=script.folder)
    check_exit(job, FINISHED)
    found, = result_of(job)
    equal((found["best"][-1], looked_at(script)), ([2, 0], [0, 1, 2]), "the best, and the validated values")


@test
def invalid_arguments_of_validation_are_refused():
    folder = scratch()
    raises(ValueError, "validation_config", of=lambda: train.report({}, Checkpoint(folder), validation=True))
    raises(ValueError, "Validation requires a checkpoint to be provided", of=lambda: train.report({}, validation=True))
    raises(TypeError, "ValidationConfig", "int", of=lambda: DataParallelTrainer(print, validation_config=3))
    raises(TypeError, "a function", of=lambda: ValidationConfig("look"))
    raises(TypeError, "ValidationTaskConfig", of=lambda: ValidationConfig(print, {"best": 3}))
    raises(ValueError, "timeout_s", "more than 0", of=lambda: ValidationTaskConfig(timeout_s=0))
    raises(ValueError, "JSON", of=lambda: ValidationTaskConfig(fn_kwargs={"a": object()}))
    raises(TypeError, "dict", of=lambda: ValidationTaskConfig(fn_kwargs=[1]))
    raises(TypeError, "True, False or a ValidationTaskConfig", of=lambda: ValidationConfig(print).request("yes"))
    check(any("ray_remote_kwargs" in line for line in DataParallelTrainer(print, validation_config=ValidationConfig(print, ray_remote_kwargs={"num_gpus": 1})).notes()),
          "ray_remote_kwargs is not reported")
    script = Script(MAIN + "    trainer(count, validation_config=ValidationConfig(lambda checkpoint: {})).fit()\n", head=VALIDATED)
    job = script.run(env={**folder_of(script), "PYTHONNOUSERSITE": 1})
    check(job.code == 0 or "cloudpickle" in job.err, "a lambda is not refused", job)


main()
