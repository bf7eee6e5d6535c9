#!/usr/bin/python3
"""Runs and checkpoints in an object store, by URL: restore(), can_restore(), Result.from_path(), Checkpoint and resume_from_checkpoint."""
import functools
import os
import pickle
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.stored_scripts import *  # noqa: E402,F403

sys.path.insert(0, str(BUILD / "python"))
from trainrt.train import Checkpoint, DataParallelTrainer, Result  # noqa: E402
from trainrt.train._fit import _first_checkpoint, _restored_run  # noqa: E402

@functools.cache
def finished(purpose="reading"):
    """Returns the script of a finished run in the store. Tests that only read it share one."""
    script = StoredScript("    show(new(pause=0.05).fit())\n")
    equal(result_of(script.run("first"))[0][:2], [EXPECTED, 8], "weight and number of reports")
    return script


# ---- restore() and can_restore() -------------------------------------------------------------------------------------------------

RESTORES = """    url = os.path.join(os.environ["URL"], "run")
    if TRAINER.can_restore(url):
        show(TRAINER.restore(url, datasets=None).fit())
    else:
        show(new(pause=0.15).fit())
""".replace("TRAINER", "DataParallelTrainer")


@test
def a_run_in_a_store_continues_by_its_url_without_its_function_and_with_equal_bits():
    script = StoredScript(RESTORES)
    script.stop_after(2)
    for is_local in (True, False):
        if not is_local:
            shutil.rmtree(script.runs)
        job = script.run("again")
        equal(result_of(job), [[EXPECTED, 8, str(script.runs / "run")]], f"weight, reports and path, local directory {is_local}", job)
        check((f"continues in {script.runs}/run, which has the newest checkpoint" if is_local else "fit() first copies the run's records") in job.err, "no note", job)


@test
def a_restored_run_continues_from_the_checkpoint_in_the_store():
    script = StoredScript(RESTORES)
    script.stop_after(2)
    shutil.rmtree(script.runs)
    job = script.run("again")
    equal(result_of(job), [[EXPECTED, 8, str(script.runs / "run")]], "weight, reports and path", job)
    check("begins at 0" not in job.out + job.err, "the run began from the beginning", job)


@test
def ranks_that_run_the_complete_script_restore_by_url():
    script = StoredScript("    show(DataParallelTrainer.restore(os.environ['URL'] + '/run').fit())\n")
    first = StoredScript("    new(pause=0.15, ranks=2).fit()\n")
    script.url = first.url
    first.stop_after(2)
    job = script.run(command=[TRAINRT, "-n", 2, "--", PYTHON, script.path])
    check(job.code == 0 and f"[{json.dumps(EXPECTED)}, 8" in job.out, f"exit {job.code}", job)
    check(f"the train function learn of {script.path}; it was started with that of {first.path}" in job.err, "no note names the other file", job)


@test
def forms_of_a_url_and_of_a_path_are_the_same_run():
    script = finished()
    os.environ.update(TRAINRT_STORAGE=str(script.runs))
    url, run_dir = f"{script.url}/run", str(script.runs / "run")
    for form in (url, url + "/", Path(url), os.path.join(script.url, "run"), run_dir, run_dir + "/", Path(run_dir), os.path.relpath(run_dir), f"file://{run_dir}", Path(f"file://{run_dir}")):
        check(DataParallelTrainer.can_restore(form), f"can_restore({form!r}) is false")
        config = DataParallelTrainer.restore(form, len).run_config
        equal((config.name, config.storage_path), ("run", str(script.runs)), f"name and storage path of restore({form!r})")
        equal(Result.from_path(form).metrics["weight"], EXPECTED, f"Result.from_path({form!r})")
    for form in (url + "x", script.url, run_dir + "x", f"file://{run_dir}x"):
        equal(DataParallelTrainer.can_restore(form), False, f"can_restore({form!r})")
        raises(ValueError, "no run found", of=lambda form=form: DataParallelTrainer.restore(form, len))


@test
def a_url_with_the_address_of_its_store_is_restored_and_read():
    script = finished()
    url = f"{script.url}?endpoint_override={STORE.url}"
    os.environ.update(TRAINRT_STORAGE=str(script.runs / "none"))
    run = url.replace("?", "/run?")
    endpoint = os.environ.pop("AWS_ENDPOINT_URL")
    try:
        check(DataParallelTrainer.can_restore(run), "can_restore() is false")
        equal(DataParallelTrainer.restore(run, len)._mirror["checkpoint.mirror"], url, "mirror of the restored run")
        result = Result.from_path(run)
        equal(result.metrics["weight"], EXPECTED, "Result.from_path()")
        with Checkpoint(result.checkpoint.path).as_directory() as folder:
            equal(os.listdir(folder), ["model.json"], "files of the checkpoint")
    finally:
        os.environ["AWS_ENDPOINT_URL"] = endpoint


@test
def a_local_directory_that_is_older_than_the_store_is_renamed_and_the_run_is_copied():
    script = StoredScript(RESTORES)
    script.stop_after(2)
    run_dir, copy = script.runs / "run", script.folder / "copy"
    shutil.copytree(run_dir, copy)
    script.stop_after(4)
    shutil.rmtree(run_dir)
    shutil.copytree(copy, run_dir)
    job = script.run("again")
    equal(result_of(job), [[EXPECTED, 8, str(run_dir)]], "weight, reports and path", job)
    check(f"renamed {run_dir} to {run_dir}.older-1" in job.err and "begins at 0" not in job.out, "the directory was used", job)
    equal(sorted(path.name for path in Path(f"{run_dir}.older-1").glob("checkpoint_*")), sorted(path.name for path in copy.glob("checkpoint_*")), "older checkpoints")


@test
def a_local_directory_of_another_run_is_an_error():
    script = finished('change')
    os.environ.update(TRAINRT_STORAGE=str(script.runs))
    record = json.loads((script.runs / "run/run.json").read_text())
    (script.runs / "run/run.json").write_text(json.dumps({**record, "run_id": "other"}))
    url = f"{script.url}/run"
    raises(ValueError, url, "has another run of this name", "TRAINRT_STORAGE", of=lambda: DataParallelTrainer.restore(url, len))


@test
def a_changed_record_in_a_store_names_no_function_and_no_code_is_imported():
    script = finished('attack')
    shutil.rmtree(script.runs)
    (script.folder / "evil.py").write_text("open('pwned', 'w').close()\ndef function(config):\n    pass\n")
    script.path.write_text(script.path.read_text().replace("show(new(pause=0.05).fit())", "DataParallelTrainer.restore(os.environ['URL'] + '/run')"))
    name = f"runs/{script.folder.name}/run/trainer.json"
    record = json.loads(STORE.buckets["bucket"][name])
    for module, function in (("evil", "function"), ("os", "system"), ("__main__", "new")):
        STORE.put("bucket", name, json.dumps({**record, "function": {"module": module, "qualname": function}}).encode())
        job = script.run()
        check(job.code != 0 and "is not trusted" in job.err and "train_loop_per_worker=" in job.err, f"{module}.{function} was accepted", job)
    check(not (script.folder / "pwned").exists(), "the module was imported")


# ---- checkpoints and results -----------------------------------------------------------------------------------------------------


def model_in(folder):
    return json.loads((Path(folder) / "model.json").read_text())


@test
def a_result_of_a_url_is_that_of_the_directory_and_its_checkpoints_are_downloaded():
    script = finished()
    url, local = f"{script.url}/run", Result.from_path(script.runs / "run")
    result = Result.from_path(url)
    weights = [each["weight"] for each in local.reports]
    equal((result.path, result.state, result.config, [each["weight"] for each in result.reports]), (url, "finished", local.config, weights), "path, state, config and reports")
    equal([each.path for each, _ in result.best_checkpoints], [f"{url}/{each}/files" for each in script.checkpoints()], "checkpoints")
    name = Path(local.checkpoint.path).parent.name
    equal(result.checkpoint.path, f"{url}/{name}/files", "path of the checkpoint")
    folder = scratch("tmp")
    put_scratch_into(folder)
    for checkpoint in (result.checkpoint, Checkpoint(f"{url}/{name}"), Checkpoint(f"{url}/{name}/"), Checkpoint(Path(f"{url}/{name}/files"))):
        with checkpoint.as_directory() as files:
            equal(model_in(files), {"epoch": 8, "weight": EXPECTED}, f"the model of {checkpoint}")
        equal(checkpoint.get_metadata(), local.checkpoint.get_metadata(), f"the metadata of {checkpoint}")
        copy = checkpoint.to_directory()
        equal(sorted(os.listdir(copy)), ["model.json"], f"files of to_directory() of {checkpoint}")
        shutil.rmtree(copy)
    equal([path for path in folder.rglob("*") if path.is_file()], [], "temporary files")


@test
def processes_with_copies_of_a_checkpoint_share_one_download():
    script = finished()
    checkpoint = Result.from_path(f"{script.url}/run").checkpoint
    copy = pickle.loads(pickle.dumps(checkpoint))  # noqa: S301
    before = STORE.count("GET", "model.json")
    with checkpoint.as_directory() as first, copy.as_directory() as second:
        equal(first, second, "the folders of the copies")
    equal(STORE.count("GET", "model.json") - before, 1, "downloads of model.json")
    check(not os.path.exists(first), "the folder is left after its last use")
    equal(copy, checkpoint, "the copy")


@test
def a_run_resumes_from_a_checkpoint_and_from_a_folder_by_url():
    source = finished()
    first = source.checkpoints()[0]
    model = source.objects()[f"{first}/files/model.json"]
    STORE.put("bucket", "runs/plain/model.json", model)
    for url in (f"{source.url}/run/{first}", f"{URL}/plain"):
        script = StoredScript(f"    show(new(ranks=2, resume_from_checkpoint=Checkpoint({url!r})).fit())\n")
        job = script.run()
        equal(result_of(job)[0][:2], [EXPECTED, 8 - json.loads(model)["epoch"]], "weight and number of reports", job)


@test
def a_reported_checkpoint_of_a_url_is_copied_and_the_url_is_kept():
    url = f"{finished().url}/run/{finished().checkpoints()[0]}"
    script = StoredScript(f"""    for ranks in (0, 1):
        function = lambda config: train.report({{"x": 1}}, checkpoint=Checkpoint({url!r}), delete_local_checkpoint_after_upload=True)
        result = trainer(function, ranks, run_config=RunConfig(name="copies", storage_path=os.environ["RUNS"])).fit()
        with result.checkpoint.as_directory() as folder:
            print("RESULT", json.dumps(json.load(open(os.path.join(folder, "model.json")))["epoch"]))
""")
    model = json.loads(finished().objects()[f"{finished().checkpoints()[0]}/files/model.json"])
    equal(result_of(script.run()), [model["epoch"]] * 2, "the model in the process of the script and on a rank")


@test
def a_state_in_a_store_is_loaded_by_all_ranks_of_a_new_run():
    function = """def sums(config):
    state = trainrt.State()
    state.value("total", 0)
    trainrt.context().restore(state)
    print("begins at", state["total"], flush=True)
    while state["total"] < config["total"]:
        state["total"] += 1
        train.report({"total": state["total"]})

"""
    script = StoredScript("""    first = Checkpoint(f"{os.environ['URL']}/first/{sys.argv[1]}") if len(sys.argv) > 1 else None
    show_total(trainer(sums, config={"total": 6 if first else 3}, resume_from_checkpoint=first, run_config=RunConfig(name="second" if first else "first", storage_path=os.environ["URL"])).fit())
""")
    script.path.write_text(script.path.read_text().replace(MAIN, "import trainrt\n" + function + "def show_total(result):\n    print('RESULT', json.dumps([result.metrics['total'], len(result.reports)]))\n\n" + MAIN))
    equal(result_of(script.run()), [[3, 3]], "total and reports of the first run")
    newest = script.checkpoints("first")[-1]
    url = f"{script.url}/first/{newest}"
    made = [_first_checkpoint.shared_path(Checkpoint(url), str(script.runs), name, "Trainer") for name in ("a", "b", None)]
    equal(len(set(made)), 3, "copies of three runs")
    for path in made:
        check(Path(path, "manifest.json").exists(), f"the copy {path} was removed with that of another run")
        _first_checkpoint.remove_copy(path)
    for name, command in (("second", None), ("third", [TRAINRT, "-n", 2, "--", PYTHON, script.path])):
        script.path.write_text(script.path.read_text().replace("second", name))
        job = script.run(newest, command=command)
        equal(result_of(job)[0], [6, 3], "total and reports of the new run", job)
        equal([path.name for path in script.runs.glob(".first_checkpoints")], [], "copies that are left", job)


@test
def fetch_copies_the_selected_files_into_a_new_folder_only():
    url, out = f"{finished().url}/run", scratch() / "parent/copy"
    env = {name: value for name, value in STORE.environment().items() if name != "AWS_ENDPOINT_URL"}
    command = [TRAINRT, "fetch", url, "-o", out, "--files", "run.json,attempts/*", f"--storage.s3_endpoint={STORE.url}"]
    job = run(command, env={**env, "AWS_ENDPOINT_URL": "http://127.0.0.1:9"})
    check_exit(job, FINISHED)
    equal(sorted(str(path.relative_to(out.parent)) for path in out.parent.rglob("*.*")), ["copy/attempts/000001.json", "copy/run.json"], "files", job)
    for words, text in ((command, "exists and is not an empty folder"), ([*command, "--run.name=x"], "only keys of [storage] do"),
                        ([TRAINRT, "fetch", "/runs/first", "-o", out], "is not a URL"), ([TRAINRT, "fetch", url], "missing option: -o FOLDER"),
                        ([*command[:4], f"{out}-2", "--files", "x*", command[-1]], "no such file is stored at")):
        job = run(words, env=env)
        check(job.code == 64 and text in job.err, f"the error lacks {text!r}", job)


@test
def values_of_a_dict_are_read_by_url_with_their_types_and_others_are_refused():
    import numpy
    values = {"a": numpy.float32(0.5), "b": bytearray(b"x"), "c": b"x", "d": numpy.zeros(()), "e": [numpy.arange(2)] * 2}
    checkpoint = Checkpoint.from_dict(values)
    for path in Path(checkpoint.path).iterdir():
        STORE.put("bucket", f"values/{path.name}", path.read_bytes())
    found = Checkpoint("s3://bucket/values").to_dict()
    equal([(type(each), each) for each in list(found.values())[:4]], [(type(each), each) for each in list(values.values())[:4]], "values")
    equal([each.tolist() for each in found["e"]], [[0, 1]] * 2, "arrays")
    values["e"].append(values)
    raises(ValueError, "contains itself", of=lambda: Checkpoint.from_dict(values))
    raises(TypeError, "weights", of=lambda: Checkpoint.from_dict({"weights": numpy.zeros(2, [("x", "f4")])}))


@test
def a_keras_model_in_another_format_than_keras_is_refused():
    from trainrt.train.keras._model_file import load_model
    path = scratch() / "model.keras"
    for make in (path.mkdir, lambda: path.rmdir() or path.write_bytes(b"HDF")):
        make()
        raises(ValueError, str(path), "can run code", of=lambda: load_model(None, path))


@test
def all_checkpoints_of_a_model_have_its_class_and_a_child_process_keeps_the_directory():
    from trainrt.train._results._model_checkpoint import ModelCheckpoint
    result = Result.from_path(str(finished().runs / "run"))._with_checkpoints_of(ModelCheckpoint)
    equal(type(result.get_best_checkpoint("weight", "max")), ModelCheckpoint, "class of the best checkpoint")
    made = ModelCheckpoint._written(lambda folder: Path(folder, "model").touch(), None)
    child = os.fork()
    if child == 0:
        del made
        os._exit(0)
    os.waitpid(child, 0)
    check(Path(made.path, "model").exists(), "the child process removed the directory")


@test
def a_directory_that_another_job_has_continued_since_restore_is_not_renamed():
    script = finished()
    run_dir, newest = script.runs / "run", int(script.checkpoints()[-1].rpartition("_")[2])
    _restored_run.set_aside(str(run_dir), newest)
    check(run_dir.exists() and not Path(f"{run_dir}.older-1").exists(), "the directory was renamed")


# ---- artifacts -----------------------------------------------------------------------------------------------------------------


@test
def artifacts_are_copied_to_the_store_when_they_change_and_also_without_checkpoints():
    text = """    def write(config):
        os.makedirs("notes", exist_ok=True)
        os.symlink("notes", "link")
        for number in range(1, 4):
            open("notes/log", "a").write(f"{number}\\n")
            open(f"notes/{number}", "w").close()
            with Folder() as folder:
                open(os.path.join(folder, "model"), "w").close()
                train.report({"number": number}, checkpoint=Checkpoint(folder) if CHECKPOINTS else None)
            time.sleep(0.2)

    trainer(write, 1, run_config=RunConfig(name="run", storage_path=os.environ["URL"], sync_config=SyncConfig(sync_artifacts=True))).fit()
"""
    for with_checkpoints in (True, False):
        script = StoredScript(text.replace("CHECKPOINTS", str(with_checkpoints)))
        job = script.run()
        check_exit(job, FINISHED)
        found = {name: data for name, data in script.objects().items() if name.startswith("artifacts/")}
        equal(found, {"artifacts/notes/log": b"1\n2\n3\n", **{f"artifacts/notes/{number}": b"" for number in (1, 2, 3)}}, "artifacts", job)
        sent = STORE.count("PUT", f"{script.folder.name}/run/artifacts/notes/1")
        equal(sent, 1, "copies of an unchanged file", job)


# ---- errors ------------------------------------------------------------------------------------------------------------------


@test
def a_store_that_cannot_be_read_is_an_error_that_names_the_url():
    url = f"{URL}/nothing"
    with_address = {**os.environ}
    os.environ["AWS_ENDPOINT_URL"] = "http://127.0.0.1:9"
    try:
        for call in (DataParallelTrainer.can_restore, lambda path: DataParallelTrainer.restore(path, len), Result.from_path, lambda path: Checkpoint(path).to_directory()):
            raises(OSError, url, "127.0.0.1:9", of=lambda call=call: call(url))
        os.environ.update(with_address, AWS_SECRET_ACCESS_KEY="wrong")
        raises(OSError, url, "SignatureDoesNotMatch", of=lambda: DataParallelTrainer.can_restore(url))
    finally:
        os.environ.update(with_address)
    raises(FileNotFoundError, url, "nothing to copy", of=lambda: Checkpoint(url).to_directory())
    raises(RuntimeError, url, of=lambda: Result.from_path(url))
    raises(ValueError, url, "not changed", of=lambda: Checkpoint(url).set_metadata({}))
    raises(ValueError, "hdfs://host/x", "s3://", of=lambda: Checkpoint("hdfs://host/x"))
    raises(ValueError, "file://host/x", "three slashes", of=lambda: DataParallelTrainer.can_restore("file://host/x"))


@test
def access_keys_in_a_url_are_an_error_that_does_not_quote_them():
    for url in ("s3://AKID:hid/den@b/k", "s3://AKID:hidden@b/k", "s3://b/k?endpoint_override=http://AKID:hid/den@h", "s3a://AKID:hid/den@b/k", "x://AKID:hidden@b"):
        message = raises(ValueError, "access keys" if url.startswith("s3:") else "://...@b", of=lambda url=url: Checkpoint(url))
        check("AKID" not in str(message) and "den" not in str(message), f"the error quotes the keys: {message}")


@test
def a_download_that_ends_early_leaves_no_files_and_is_not_repeated_by_waiting_processes():
    STORE.put("bucket", "slow/model.json", b"{}")
    folder, checkpoint, seconds = scratch("tmp"), Checkpoint("s3://bucket/slow"), time.monotonic()
    put_scratch_into(folder)
    STORE.faults.append(lambda request, command, path: "hang" if command == "GET" and path.endswith("model.json") else None)
    os.environ["TRAINRT_FETCH_TIMEOUT"] = "1"
    waiting = threading.Thread(target=raises, args=(TimeoutError, "s3://bucket/slow"), kwargs={"of": checkpoint.to_directory})
    try:
        waiting.start()
        raises(TimeoutError, "s3://bucket/slow", "TRAINRT_FETCH_TIMEOUT", of=checkpoint.to_directory)
        waiting.join(20)
    finally:
        STORE.faults.clear()
        del os.environ["TRAINRT_FETCH_TIMEOUT"]
    check(time.monotonic() - seconds < 7, "the waiting call started another download")
    equal([path.name for path in folder.glob("*/*") if path.suffix != ".error"], [], "files that are left")


@test
def a_damaged_checkpoint_in_a_store_is_an_error():
    script = finished('damage')
    first = script.checkpoints()[0]
    name = f"runs/{script.folder.name}/run/{first}/files/model.json"
    STORE.put("bucket", name, STORE.buckets["bucket"][name][:-1] + b" ")
    raises(OSError, f"{script.url}/run/{first}", "damaged", "model.json", of=lambda: Checkpoint(f"{script.url}/run/{first}/files").to_directory())


@test
def a_checkpoint_without_a_manifest_is_an_error_and_is_left_out_of_the_copy_of_a_run():
    script = finished('upload')
    *_, newest = script.checkpoints()
    url, out = f"{script.url}/run", scratch() / "copy"
    del STORE.buckets["bucket"][f"runs/{script.folder.name}/run/{newest}/manifest.json"]
    for path in (f"{url}/{newest}", f"{url}/{newest}/files"):
        raises(OSError, f"{url}/{newest} is incomplete: it has no manifest.json", of=lambda path=path: Checkpoint(path).to_directory())
    job = run([TRAINRT, "fetch", url, "-o", out], env=STORE.environment())
    check_exit(job, FINISHED)
    equal(sorted(path.name for path in out.glob("checkpoint_*")), script.checkpoints(), "checkpoints in the copy", job)
    check(f"{url}/{newest} is incomplete and was not copied" in job.err, "no warning", job)
    STORE.put("bucket", "ray/checkpoint_000003/model.json", b"{}")
    equal(os.listdir(Checkpoint("s3://bucket/ray/checkpoint_000003").to_directory()), ["model.json"], "files of a checkpoint of another program")


@test
def names_of_objects_that_leave_the_folder_are_refused():
    for name in ("../evil", "/evil", "a//evil", "a/./evil", "a\nevil"):
        STORE.buckets["attack"] = {f"model/{name}": b"x", "model/model.json": b"{}"}
        raises(OSError, "s3://attack/model", "its name is not a valid file path", of=lambda: Checkpoint("s3://attack/model").to_directory())


if __name__ == "__main__":
    os.environ.update(STORE.environment())
    put_scratch_into(scratch("tmp"))  # for downloads
    main()
