#!/usr/bin/python3
"""Sweeps whose storage is a bucket: Tuner.restore() and can_restore() by URL."""
import os
import shutil
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.stored_scripts import *  # noqa: E402,F403

sys.path.insert(0, str(BUILD / "python"))
from trainrt.tune import Tuner  # noqa: E402
from trainrt.tune._restored_sweep import find  # noqa: E402

SWEEP = """    from trainrt import tune
    url = os.path.join(os.environ["URL"], "sweep")
    schedulers = {"fifo": None, "hyperband": tune.schedulers.HyperBandScheduler(time_attr="training_iteration", max_t=8)}
    config = tune.TuneConfig(metric="weight", mode="max", num_samples=1, max_concurrent_trials=1, scheduler=schedulers[SCHEDULER])
    if tune.Tuner.can_restore(url):
        tuner = tune.Tuner.restore(url, learn)
    else:
        tuner = tune.Tuner(learn, param_space={"epochs": 8, "pause": tune.grid_search([0.05, 0.15])}, tune_config=config,
                           run_config=RunConfig(name="sweep", storage_path=os.environ["URL"]))
    results = tuner.fit()
    for each in results:
        print("RESULT", json.dumps([each.metrics["weight"], len(each.reports), each.path]))
"""


def begun(scheduler="fifo"):
    """Returns the script of a sweep that was stopped when the first trial had finished and the second one had a checkpoint in the store."""
    script = StoredScript(SWEEP.replace("SCHEDULER", repr(scheduler)))
    job = script.start("first")
    wait_until(lambda: script.checkpoints("sweep/trial_00001") and "tuner.json" in script.objects("sweep"), 60, "checkpoint of the second trial in the store", job)
    kill([job.process.pid], signal.SIGTERM)
    equal(job.wait(60), STOPPED, "exit", job)
    return script


def check_results(script, job):
    equal(result_of(job), [[EXPECTED, 8, str(script.runs / f"sweep/trial_{number:05}")] for number in range(2)], "weight, reports and path of each trial", job)
    check(attempts(script.runs / "sweep/trial_00001")[-1]["first_iteration"] > 0, "the trial began again", job)


@test
def a_sweep_in_a_bucket_continues_by_its_url_also_without_its_local_directory():
    for is_local in (True, False):
        script = begun()
        if not is_local:
            shutil.rmtree(script.runs)
        job = script.run("again")
        check_results(script, job)
        check(f"the sweep continues in {script.runs}/sweep" in job.err and ("the newest checkpoints" in job.err) == is_local, "the note", job)


@test
def a_local_directory_that_is_older_than_the_store_is_renamed():
    script = begun()
    copy = script.folder / "copy"
    shutil.copytree(script.runs / "sweep", copy)
    check_exit(script.run("again"), FINISHED)
    shutil.rmtree(script.runs / "sweep")
    shutil.copytree(copy, script.runs / "sweep")
    job = script.run("third")
    check_results(script, job)
    check(f"renamed {script.runs}/sweep to {script.runs}/sweep.older-1" in job.err, "the directory was used", job)


@test
def forms_of_a_path_and_of_a_filesystem_are_the_same_sweep():
    script = begun()
    os.environ.update(TRAINRT_STORAGE=str(script.runs))
    path = str(script.runs / "sweep")
    url = f"{script.url}/sweep"
    bucket_path = url.removeprefix("s3://")

    class S3:
        protocol, endpoint_url, key, secret = "s3", STORE.url, os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]

    class Local:
        protocol = "file"

    forms = [(url, None), (url + "/", None), (Path(url), None), (path, None), (f"file://{path}", None), (path, Local()), (bucket_path, S3())]
    for form, filesystem in forms:
        check(Tuner.can_restore(form, storage_filesystem=filesystem), f"can_restore({form!r}, {filesystem}) is false")
    for form, filesystem in ((url + "x", None), (path + "x", None), (bucket_path + "x", S3()), (f"file://{path}x", None)):
        equal(Tuner.can_restore(form, filesystem), False, f"can_restore({form!r})")
        raises(ValueError, "sweep", of=lambda form=form, filesystem=filesystem: Tuner.restore(form, len, storage_filesystem=filesystem))
    keys = {name: os.environ.pop(name) for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL")}
    try:
        check(Tuner.can_restore(bucket_path, S3()), "the keys of the filesystem were not used")
        raises(OSError, url, of=lambda: Tuner.can_restore(url))
    finally:
        os.environ.update(keys)


@test
def a_lost_sweep_of_hyperband_continues_with_the_reports_in_the_store():
    script = begun("hyperband")
    shutil.rmtree(script.runs)
    job = script.run("again")
    check_results(script, job)
    check("wrote the journal in" in job.err, "the journal was not written from the trials", job)


CLIMB = """    from trainrt import tune
    begun = os.path.join(os.environ["TMPDIR"], "begun")
    def climb(config):
        state, found = {"epoch": 0, "height": 0.0}, train.get_checkpoint()
        if found:
            with found.as_directory() as folder, open(os.path.join(folder, "state.json")) as file:
                state = json.load(file)
        os.makedirs(os.path.join(begun, str(config["rate"] > 0.5)), exist_ok=True)
        while len(os.listdir(begun)) < 2:  # a clone needs a donor that has not ended
            time.sleep(0.05)
        while state["epoch"] < 12:
            state = {"epoch": state["epoch"] + 1, "height": state["height"] + config["rate"]}
            with Folder() as folder:
                with open(os.path.join(folder, "state.json"), "w") as file:
                    json.dump(state, file)
                train.report(state, checkpoint=Checkpoint(folder))
            time.sleep(0.4)

    url = os.path.join(os.environ["URL"], "sweep")
    scheduler = tune.schedulers.PopulationBasedTraining(time_attr="training_iteration", perturbation_interval=3, quantile_fraction=0.5,
                                                        resample_probability=0.01, hyperparam_mutations={"rate": tune.uniform(0.1, 2)})
    if tune.Tuner.can_restore(url):
        tuner = tune.Tuner.restore(url, climb)
    else:
        tuner = tune.Tuner(climb, param_space={"rate": tune.grid_search([0.1, 1.0])}, run_config=RunConfig(name="sweep", storage_path=os.environ["URL"]),
                           tune_config=tune.TuneConfig(metric="height", mode="max", scheduler=scheduler, max_concurrent_trials=2))
    print("RESULT", json.dumps([[each.metrics["height"], each.metrics["epoch"], os.path.basename(each.path)] for each in tuner.fit()]))
"""


@test
def a_lost_sweep_of_population_based_training_continues_with_its_clones():
    script = StoredScript(CLIMB)
    job = script.start("first")
    wait_until(lambda: script.checkpoints("sweep/trial_00000-2") and "tuner.json" in script.objects("sweep") or job.ended(), 90, "a clone's checkpoint in the store", job)
    kill([job.process.pid], signal.SIGTERM)
    equal(job.wait(60), STOPPED, "exit", job)
    shutil.rmtree(script.runs)
    job = script.run("again")
    [(height, epoch, path), (_, other_epoch, other_path)] = result_of(job)[0]
    check("and each trial from its newest checkpoint in the store" in job.err, "the note", job)
    equal((epoch, other_epoch), (12, 12), "reports of the trials", job)
    check(other_path.startswith("trial_00001"), f"the directory of trial 1 is {other_path}", job)
    check(path.startswith("trial_00000-") and height > 3, f"trial 0 is no clone: {path}, height {height}", job)
    check(attempts(script.runs / "sweep" / path)[-1]["first_iteration"] > 0, "the clone began again", job)


@test
def a_sweep_that_cannot_continue_from_the_store_is_an_error():
    script = begun()
    url = f"{script.url}/sweep"
    os.environ.update(TRAINRT_STORAGE=str(script.runs))
    equal(find(url, None).path, str(script.runs / "sweep"), "directory of the sweep")
    shutil.rmtree(script.runs)
    other = script.runs / "sweep"
    other.mkdir(parents=True)
    (other / "sweep.json").write_text('{"checkpoint.mirror": "s3://bucket/elsewhere"}')
    raises(ValueError, url, "has another sweep of this name", "TRAINRT_STORAGE", of=lambda: find(url, None))


@test
def a_changed_record_in_a_store_starts_no_program():
    script = begun()
    shutil.rmtree(script.runs)
    name = f"runs/{script.folder.name}/sweep/sweep.json"
    record = json.loads(STORE.buckets["bucket"][name])
    STORE.put("bucket", name, json.dumps({**record, "tune.searcher_program": "touch pwned"}).encode())
    job = script.run("again")
    check(job.code != 0 and "is not trusted" in job.err and "tune.searcher_program = touch pwned" in job.err, "the message does not name the program", job)
    check(not list(script.folder.rglob("pwned")) and not script.runs.exists(), "the program was started", job)


if __name__ == "__main__":
    os.environ.update(STORE.environment())
    put_scratch_into(scratch("tmp"))
    main()
