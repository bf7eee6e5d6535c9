#!/usr/bin/python3
"""Metrics that a train function reports: integers stay integers, and the config or the call chooses the ranks that count."""
import functools
import re
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.train_scripts import *  # noqa: E402,F403

sys.path.insert(0, str(SOURCE / "src/python"))
from trainrt._support import _new_file, _notes  # noqa: E402
from trainrt.train import SyncConfig  # noqa: E402
from trainrt.train._results import _auto_metrics  # noqa: E402
from trainrt.train._sessions._artifacts import Artifacts  # noqa: E402

# The function fails once, after the second checkpoint, so that the results are read from rewritten files.
KINDS = """
def function(config):
    found = train.get_checkpoint()
    epoch = found.get_metadata()["epoch"] if found else 0
    while epoch < 3:
        epoch += 1
        with Folder() as folder:
            given = Checkpoint.from_directory(folder)
            open(os.path.join(folder, "model"), "w").close()
            given.set_metadata({"epoch": epoch})
            train.report({"epoch": epoch, "best": epoch > 1, "half": epoch / 2 if epoch > 1 else 0, "real": 2.0, "odd": 2**53 + epoch, "beyond": 2**64},
                         checkpoint=given)
        train.get_checkpoint()  # waits for the commit
        if epoch == 2 and not os.path.exists(os.environ["RUNS"] + "/failed"):
            train.collective.barrier()
            open(os.environ["RUNS"] + "/failed", "w").close()
            raise RuntimeError("once")
    kept = [each.metrics["epoch"] for each in train.get_all_reported_checkpoints()]
    return [epoch for epoch in kept if epoch != 2]  # the deletion of checkpoint 2 may still be running

""" + MAIN + """    result = trainer(function, run={"failure_config": FailureConfig(max_failures=1), "checkpoint_config": CheckpointConfig(
        num_to_keep=1, checkpoint_score_attribute="epoch", checkpoint_score_order="min")}).fit()
    of_reports = [[report[name] for report in result.reports] for name in ("epoch", "best", "half", "real", "odd", "beyond", "training_iteration")]
    print("RESULT", json.dumps([of_reports, result.return_value, [metrics["epoch"] for _, metrics in result.best_checkpoints]]))
    print("REPORTS", json.dumps(result.reports))
"""
EXPECTED = [[1, 2, 3], [0, 1, 1], [0, 1.0, 1.5], [2.0] * 3, [2**53 + 1, 2**53 + 2, 2**53 + 3], [2.0**64] * 3, [1, 2, 3]]


@functools.lru_cache(None)
def finished():
    """Returns the job and the run directory."""
    script = Script(KINDS)
    job = script.run()
    equal(job.code, 0, "exit", job)
    check("RuntimeError: once" in job.err, "the run did not fail once", job)
    return job, script.runs / "run"


@test
def integers_are_restored_as_integers():
    job, _ = finished()
    found, = result_of(job)
    equal(repr(found), repr([EXPECTED, [1, 3], [3, 1]]), "metrics", job)


@test
def reports_of_a_result_have_the_metrics_of_ray_tune_and_count_on_after_a_restart():
    job, run_dir = finished()
    first, second, last = json.loads(next(line for line in job.out.splitlines() if line.startswith("REPORTS "))[8:])
    expected = {"config": {"reports": 3}, "done": True, "episodes_total": None, "experiment_tag": "0", "iterations_since_restore": 1, "training_iteration": 3,
                "should_checkpoint": True, "timesteps_since_restore": 0, "timesteps_total": None, "timestamp": last["_timestamp"],
                "time_this_iter_s": last["_time_this_iter_s"], "time_since_restore": last["_time_this_iter_s"]}
    equal({name: last.get(name) for name in expected}, expected, "metrics of the last report")
    check(last["trial_id"] == last["experiment_id"] == json.loads((run_dir / "run.json").read_text())["run_id"], f"trial_id {last['trial_id']}")
    check(re.fullmatch(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d", last["date"]) and re.fullmatch(r"[\d.]{7,15}", last["node_ip"]) and last["hostname"], f"{last}")
    check(last["warmup_time"] > 0 and last["pid"] != first["pid"], f"the process that reported: {last}")
    equal([second["done"], second["iterations_since_restore"], second["should_checkpoint"]], [False, 2, False], "the report before the failure")
    times = [each["_time_this_iter_s"] for each in (first, second, last)]
    check(abs(last["time_total_s"] - sum(times)) < 1e-9 and abs(second["time_since_restore"] - sum(times[:2])) < 1e-9, f"times {times} in {last}")


@test
def reports_are_not_attributed_to_an_attempt_that_failed_before_them():
    def attempt(number, first, last, end="2026-01-01T00:00:00Z"):
        return {"attempt": number, "first_iteration": first, "iteration": last, "end": end, "nodes": [f"n{number}"], "owner": {"pid": number}}

    for label, attempts, expected in (("failed at once", [attempt(1, 0, 3), attempt(2, 0, 0)], "n1 n1 n1"),
                                      ("continued", [attempt(1, 0, 2), attempt(2, 0, 0), attempt(3, 2, 3, end=None)], "n1 n1 n3"),
                                      ("killed before its record had all reports", [attempt(1, 0, 1), attempt(2, 2, 3)], "n1 n1 n2")):
        reports = _auto_metrics.completed([{"_training_iteration": number} for number in (1, 2, 3)], "id", {}, False, attempts)
        equal(" ".join(each["hostname"] for each in reports), expected, label)


@test
def a_report_without_a_python_worker_has_the_address_of_the_host_of_rank_0():
    config = linear_config(scratch(), "run", {"epochs": 1})
    check_exit(run_ranks(2, config), FINISHED)
    code = "import sys; from trainrt.train import Result; metrics = Result.from_path(sys.argv[1]).metrics; print(metrics['node_ip'], metrics['hostname'])"
    job = run(["/usr/bin/python3", "-c", code, run_dir_of(config)], env={"PYTHONPATH": BUILD / "python"})
    address, host = job.out.split()
    check(re.fullmatch(r"(\d{1,3}\.){3}\d{1,3}", address) and host == os.uname().nodename, f"address and host: {job.out}", job)


@test
def reports_of_earlier_attempts_keep_the_address_and_process_of_their_worker():
    _, run_dir = finished()
    record = json.loads((run_dir / "trainer.json").read_text())
    workers = [record["worker"], *record["earlier_workers"]]
    equal([each["attempt"] for each in workers], [2, 1], "attempts")
    reports = json.loads(next(line for line in finished()[0].out.splitlines() if line.startswith("REPORTS "))[8:])
    shown = [[each["node_ip"], each["pid"]] for each in reports]
    equal(shown, [[each["node_ip"], each["pid"]] for each in (workers[1], workers[1], workers[0])], "addresses and processes")


@test
def without_a_train_loop_config_the_metric_config_is_empty():
    script = Script("""
def function():
    train.report({"loss": 1.0})

""" + MAIN + """    result = DataParallelTrainer(function, run_config=RunConfig(storage_path=os.environ["RUNS"])).fit()
    print("RESULT", json.dumps([result.metrics["config"], result.config]))
""")
    job = script.run()
    equal(result_of(job), [[{}, None]], "config", job)


@test
def params_json_has_the_config_and_tensorboard_shows_the_reports():
    _, run_dir = finished()
    equal(json.loads((run_dir / "params.json").read_text()), {"train_loop_config": {"reports": 3}}, "params.json after a restart")
    check(b"epoch" in (run_dir / "events.out.tfevents.trainrt").read_bytes(), "the event file lacks a metric")
    script = Script(FIT)
    check_exit(here(script, "--metrics.sinks=csv"), FINISHED)
    equal(list((script.runs / "run").glob("events*")), [], "event files although the command line has metrics.sinks")


@test
def the_detailed_metrics_of_ray_train_1_count_on_after_a_restart():
    script = Script("""
def function(config):
    saved = train.load_checkpoint()
    for epoch in range(saved["epoch"] if saved else 0, 3):
        train.report(epoch=epoch)
        if epoch == 1 and not saved:
            raise ValueError("once")
        train.save_checkpoint(epoch=epoch + 1)

""" + MAIN + """    trainer = Trainer(backend=BackendConfig(), num_workers=2, logdir=os.environ["RUNS"], max_retries=1)
    print("RESULT", json.dumps(list(trainer.run_iterator(function))))
""")
    job = script.run(env={"TRAIN_RESULT_ENABLE_DETAILED_AUTOFILLED_METRICS": "1"})
    results, = result_of(job)
    equal([[each["epoch"], each["_training_iteration"]] for each, _ in results], [[0, 1], [1, 2], [1, 2], [2, 3]], "reports of rank 0", job)
    totals = [each["_time_total_s"] for each, _ in results]
    check(totals[0] < totals[2] < totals[3], f"_time_total_s {totals}", job)
    check(len({each["_pid"] for each in results[-1]}) == 2 and {"_date", "_hostname", "_node_ip"} <= set(results[-1][1]), f"{results[-1]}", job)
    equal(result_of(Script("def function(config):\n    train.report(epoch=0)\n" + MAIN + """    trainer = Trainer(BackendConfig(), logdir=os.environ["RUNS"])
    print("RESULT", json.dumps([sorted(each) for results in trainer.run_iterator(function) for each in results]))
""").run()), [[["_time_this_iter_s", "_timestamp", "_training_iteration", "epoch"]]], "names without the variable")


ARTIFACTS = """
def function(config):
    with open(f"of-{rank()}.txt", "a") as file:
        file.write("x")
    os.makedirs("pictures", exist_ok=True)
    open("pictures/1.png", "w").close()
    if not os.path.lexists("link"):
        os.symlink("/etc/hostname", "link") if rank() == 0 else None
    train.report({"x": 1})
    train.collective.barrier()
    if not os.path.exists(os.environ["RUNS"] + "/failed"):
        train.collective.barrier()
        open(os.environ["RUNS"] + "/failed", "w").close()
        raise ValueError("once")

""" + MAIN + """    run = {"sync_config": SyncConfig(sync_artifacts=True), "failure_config": FailureConfig(max_failures=1)}
    result = trainer(function, run=run).fit()
    print("RESULT", json.dumps({path: open(os.path.join(folder, path)).read() for folder, _, names in os.walk(result.path + "/artifacts") for path in names}))
"""


@test
def new_files_in_the_working_directory_are_kept_with_sync_artifacts():
    script = Script(ARTIFACTS)
    (script.folder / "data.txt").write_text("existed before")
    job = script.run()
    equal(result_of(job), [{"of-0.txt": "xx", "of-1.txt": "xx", "1.png": ""}], "artifacts", job)
    check((script.runs / "run/artifacts/pictures/1.png").exists(), "the folder is not kept", job)


@test
def ranks_that_share_a_working_directory_copy_each_file_once_and_note_files_that_fail():
    copied, notes, before = [], [], (os.getcwd(), _new_file.replace, _notes.warn)

    def replace(folder, name, write):
        copied.append(name)
        time.sleep(0.1)
        if name.startswith("bad"):
            raise OSError(28, "No space left on device")
        before[1](folder, name, write)

    folder, run_dir = scratch(), scratch()
    (run_dir / "artifacts").mkdir()
    os.chdir(folder)
    _new_file.replace, _notes.warn = replace, notes.append
    try:
        of_ranks = [Artifacts(str(run_dir), SyncConfig(sync_artifacts=True)) for _ in range(2)]
        for each in of_ranks:
            each.begin()
        (folder / "x").write_text("1")
        threads = [threading.Thread(target=each.copy) for each in of_ranks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal((copied, notes), (["x"], []), "copies of a file by two ranks, and notes")
        for names in (("bad1", "bad2"), ("bad3",), ()):
            for name in names:
                (folder / name).write_text("1")
            of_ranks[0].copy()
    finally:
        os.chdir(before[0])
        _new_file.replace, _notes.warn = before[1:]
    equal([[word in note for word in ("bad1 cannot", "1 more files", "bad3 cannot")] for note in notes], [[True, True, False], [False, False, True]], f"{notes}")


@test
def the_train_function_runs_in_the_folder_of_artifacts_on_request():
    script = Script(ARTIFACTS)
    job = script.run(env={"TRAINRT_CHDIR_TO_TRIAL_DIR": "1"})
    found, = result_of(job)
    equal({name: found.get(name) for name in ("of-0.txt", "of-1.txt")}, {"of-0.txt": "xx", "of-1.txt": "xx"}, "artifacts", job)
    equal(sorted(path.name for path in script.folder.iterdir()), ["runs", "train.py"], "files beside the script", job)


@test
def files_and_trainrt_result_show_integers():
    _, run_dir = finished()
    *_, last = (run_dir / "progress.csv").read_text().splitlines()
    equal(last.split(",")[:6], ["3", "1", "1.5", "2.0", str(2**53 + 3), "1.8446744073709552e+19"], "last row of progress.csv")
    shown = json.loads(run([TRAINRT, "result", run_dir, "--json"]).out)
    equal(repr([shown["metrics"][name] for name in ("epoch", "half", "real")]), repr([3, 1.5, 2.0]), "trainrt result")
    equal(shown["best_metrics"]["epoch"], 1, "best by the score")
    check_exit(run([TRAINRT, "verify", run_dir]), FINISHED)


@test
def columns_of_metrics_h5_are_integer_or_real():
    try:
        import h5py
    except ImportError:
        skip("h5py is not installed")
    _, run_dir = finished()
    with h5py.File(run_dir / "metrics.h5") as file:
        kinds = {name: file["metrics"][name].dtype.str for name in ("epoch", "odd", "half", "real")}
        equal(kinds, {"epoch": "<i8", "odd": "<i8", "half": "<f8", "real": "<f8"}, "types")
        equal(list(file["metrics/odd"]), EXPECTED[4], "values")


@test
def a_stop_rule_compares_integers():
    script = Script(MAIN + "    print('RESULT', json.dumps(trainer(config={'reports': 9}, run={'stop': {'number': 3}}).fit().metrics['number']))\n")
    job = script.run()
    equal(repr(result_of(job)), "[3]", "the last number", job)


NOT_FINITE = """
def function(config):
    for number, loss in enumerate((float("inf"), float("nan"), float("-inf"), 1.0)):
        with Folder() as folder:
            open(os.path.join(folder, "model"), "w").close()
            train.report({"loss": loss, "text": "-Infinity", "escaped": "\\\\Infinity"}, checkpoint=Checkpoint.from_directory(folder))
    return [each.metrics["loss"] for each in train.get_all_reported_checkpoints()]

""" + MAIN + """    result = trainer(function, ranks=1, run={"checkpoint_config": CheckpointConfig(checkpoint_score_attribute="loss", checkpoint_score_order="min")}).fit()
    best = result.get_best_checkpoint("loss", "max").path
    print("RESULT", json.dumps([repr([report["loss"] for report in result.reports]), result.return_value == [metrics["loss"] for _, metrics in result._checkpoints] or
                                repr(result.return_value), sorted({report["text"] + report["escaped"] for report in result.reports}),
                                repr([metrics["loss"] for _, metrics in result.best_checkpoints]), best.split("/")[-2],
                                str(result.metrics_dataframe["loss"].dtype)]))
"""


@test
def infinities_and_nan_are_floats_and_strings_of_their_names_stay_strings():
    try:
        import pandas  # noqa: F401
    except ImportError:
        skip("pandas is not installed")
    script = Script(NOT_FINITE)
    job = script.run(timeout=120)
    found, = result_of(job)
    equal(found, ["[inf, nan, -inf, 1.0]", "[inf, nan, -inf, 1.0]", ["-Infinity\\Infinity"], "[nan, inf, 1.0, -inf]", "checkpoint_000000", "float64"],
          "numbers, texts and ranks", job)
    check("1 of 4 checkpoints have NaN and were ignored" in job.err, "the ignored NaN is not reported", job)
    check("checkpoint.score_attribute is 'loss', but it is NaN" in job.err, "the NaN score is not reported", job)
    run_dir = script.runs / "run"
    refuse = {"parse_constant": lambda word: check(False, f"{word} is no JSON")}
    for path in (run_dir / "result.json", *sorted(run_dir.glob("checkpoint_*/manifest.json"))):
        for text in path.read_text().splitlines() if path.name == "result.json" else [path.read_text()]:
            json.loads(text, **refuse)
    done = run([TRAINRT, "result", run_dir])
    check("1 of 4 reports have NaN as loss and were ignored" in done.out, done.out)
    check_exit(run([TRAINRT, "verify", run_dir]), FINISHED)


CONFIG = """
import numpy
GIVEN = {"t": (3, 4), "k": {0: "a", (1, 2): None}, "x": numpy.float32(1.1), "n": float("inf"), "a": [numpy.int8(1), b"raw"], "__trainrt__": "x"}

def same(one, other):
    return one == other and repr(one) == repr(other) and type(one["x"]) is type(other["x"])

""" + MAIN + """    from trainrt import tune
    config = {"reports": 1, **GIVEN}
    result = trainer(config=config, ranks=1).fit()
    found = [result.config, Result.from_path(result.path).config, DataParallelTrainer.restore(result.path).train_loop_config]
    trainer(config={"reports": 1, "f": len}, ranks=1, name="other").fit()
    try:
        DataParallelTrainer.restore(os.environ["RUNS"] + "/other", count)
        refused = "restored"
    except ValueError as error:
        refused = str(error)
    tuner = tune.Tuner(count, param_space={"reports": 1, **GIVEN, "one": tune.choice([(1, 2)])}, run_config=RunConfig(name="sweep", storage_path=os.environ["RUNS"]))
    of_trials = [tuner.fit()[0].config, tune.Tuner.restore(os.environ["RUNS"] + "/sweep", count).fit()[0].config]
    print("RESULT", json.dumps([[same(each, config) or repr(each) for each in found], refused, [same(each, {**config, "one": (1, 2)}) or repr(each) for each in of_trials]]))
"""


@test
def a_config_is_restored_unchanged():
    try:
        import numpy  # noqa: F401
    except ImportError:
        skip("numpy is not installed")
    job = Script(CONFIG).run(timeout=180)
    (found, refused, of_trials), = result_of(job)
    equal(found, [True] * 3, "configs", job)
    check("train_loop_config" in refused and "['f'] is a builtin_function_or_method" in refused, f"restored without the config: {refused}", job)
    equal(of_trials, [True] * 2, "configs of trials", job)


AGGREGATED = """
def function(config):
    train.report({"x": rank()})
    train.report({"x": rank() + 2}, aggregate=False)
    train.report({"x": rank()}, aggregate=True)

""" + MAIN + "    print('RESULT', json.dumps([report['x'] for report in trainer(function).fit().reports]))\n"


@test
def the_config_chooses_the_aggregation_unless_the_call_does():
    for words, first in (((), 0), (("--metrics.aggregate=true",), 0.5)):
        job = here(Script(AGGREGATED), *words)
        equal(repr(result_of(job)), repr([[first, 2, 0.5]]), f"metrics with {words}", job)


@test
def a_metric_missing_on_one_rank_is_an_error_that_names_it():
    script = Script("def function(config):\n    train.report({'x': 1, **({'more': 2} if rank() else {})})\n\n" + MAIN + "    trainer(function).fit()\n")
    job = here(script, "--metrics.aggregate=true")
    equal(job.code, FAILED, "exit", job)
    check("'more' is in the report of rank 1, but not of rank 0" in job.err, "the metric is not named", job)


if __name__ == "__main__":
    main()
