#!/usr/bin/python3
"""trainrt.train.xgboost with Debian's XGBoost: both forms of the trainer, the callback, and continued runs."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.boosting import *  # noqa: E402,F403

sys.path.insert(0, str(BUILD / "python"))
os.environ.pop("TRAINRT_FD", None)
from trainrt import data, train  # noqa: E402
from trainrt.data.preprocessors import Categorizer  # noqa: E402
from trainrt.train._results import _auto_metrics, _trainer_record  # noqa: E402
from trainrt.train.xgboost import RayTrainReportCallback, XGBoostConfig, XGBoostTrainer  # noqa: E402

TREES = Trees("xgboost")


@test
def ranks_train_together():
    TREES.ranks_train_together()


@test
def a_killed_rank_does_not_change_the_model_of_the_older_form():
    quiet = TREES.check_older_form(lambda cover: 400 < cover < 600)  # half of the 1001 rows are sampled
    killed = TREES.a_killed_rank_costs_the_rounds_since_the_last_checkpoint()
    equal((killed["digest"], killed["metrics"]["valid-rmse"]), (quiet["digest"], quiet["metrics"]["valid-rmse"]), "the model")


@test
def a_run_continues_with_another_number_of_ranks_and_more_rounds():
    TREES.result("more", workers=2, ROUNDS=7)
    record = TREES.folder / "runs/more/run.json"
    record.write_text(record.read_text().replace('"finished"', '"stopped"'))  # as if the first start had requested more rounds
    found, job = TREES.result("more", workers=3, launcher=[TRAINRT, "-n", 3, "--scaling.on_resize=keep_batch", "--"], ROUNDS=12)
    equal((found["rounds"], found["checkpoints"]), (14, 4), "reports (one more at the end of each start) and checkpoints", job)


@test
def restore_takes_the_parameters_of_the_older_form_from_the_record():
    rows = {"train": data.from_items([{"x": 1.0, "y": 2.0}])}
    os.environ["XDG_STATE_HOME"], folder = str(scratch()), scratch()
    (folder / "run.json").write_text(json.dumps({"format": "trainrt run 1"}))
    _trainer_record.write(str(folder), XGBoostTrainer(params={"eta": 0.5}, label_column="y", num_boost_round=7, datasets=rows))
    found = XGBoostTrainer.restore(folder, datasets=rows)
    equal((found.train_loop_config, found._own_form), ({"eta": 0.5}, {"label_column": "y", "num_boost_round": 7}), "parameters")
    changed = XGBoostTrainer.restore(folder, datasets=rows, num_boost_round=9)
    equal((changed.train_loop_config, changed._own_form), ({"eta": 0.5}, {"label_column": "y", "num_boost_round": 9}), "parameters with more rounds")


@test
def a_rank_may_have_no_rows():
    TREES.a_rank_may_have_no_rows()


@test
def invalid_data_is_an_error_that_names_it():
    for change, words in ((("label_column=\"y\"", "label_column=\"z\""), "has the columns first, second, rest, y"),
                          (('"rest": values[:, 2:]', '"rest": numpy.array(["a", "b"] * rows, object)[:rows]'), "strings in column 'rest'")):
        script = TREES.folder / "bad.py"
        script.write_text(SCRIPT.read_text().replace(*change))
        job = run([PYTHON, script, "xgboost", "bad", 2], timeout=60, env=TREES.env, cwd=TREES.folder)
        check(job.code != 0 and words in job.err, f"the error lacks {words!r}", job)


@test
def categorical_columns_of_a_frame_are_categorical_features():
    import pandas
    city = pandas.Categorical(["a", "b", None, "c"] * 20, categories=["c", "b", "a"])
    frame = pandas.DataFrame({"x": [0.0] * 80, "city": city, "y": [1.0, 2.0, 3.0, 1.0] * 20})
    plain = data.from_pandas(frame.assign(city=[str(each) for each in city]))
    for dataset in (data.from_pandas(frame).random_shuffle(), data.from_pandas(frame).materialize(), data.from_pandas(frame).rename_columns({"x": "x"}),
                    Categorizer(["city"]).fit_transform(plain), data.from_pandas(frame).map_batches(lambda batch: batch, batch_format="pandas")):
        trainer = XGBoostTrainer(params={"eta": 1, "lambda": 0}, num_boost_round=1, label_column="y", datasets={"train": dataset},
                                 scaling_config=train.ScalingConfig(num_workers=0))
        model = XGBoostTrainer.get_model(trainer.fit().checkpoint)
        equal((model.feature_names, model.feature_types), (["x", "city"], ["float", "c"]), f"features of {dataset!r}")
        tree = json.loads(bytes(model.save_raw("json")))["learner"]["gradient_booster"]["model"]["trees"][0]
        check(tree["categories_nodes"], f"the tree does not split by categories: {tree}")


@test
def the_callback_reports_the_selected_metrics():
    import numpy
    import xgboost
    rows = xgboost.DMatrix(numpy.arange(20.0).reshape(10, 2), label=numpy.arange(10.0))
    seen = []

    def loop():
        callback = RayTrainReportCallback(metrics=["train-rmse"], filename="own.json", frequency=2, results_postprocessing_fn=lambda found: {"rmse": found["train-rmse"]})
        xgboost.train({"nthread": 1}, rows, 4, evals=[(rows, "train")], callbacks=[callback], verbose_eval=False)
        seen.append(RayTrainReportCallback.get_model(train.get_checkpoint(), "own.json").num_boosted_rounds())
        callback = RayTrainReportCallback(checkpoint_at_end=False)
        xgboost.train({"nthread": 1}, rows, 1, callbacks=[callback])

    result = XGBoostTrainer(loop, scaling_config=train.ScalingConfig(num_workers=0)).fit()
    equal(seen, [4], "rounds of the checkpoint")
    equal([sorted(name for name in report if not _auto_metrics.is_added(name)) for report in result.reports], [["rmse"]] * 4 + [[]], "reports")


@test
def contradictory_arguments_are_refused():
    table = {"train": data.from_items([{"x": 1, "y": 2}])}
    raises(ValueError, "label_column", "missing", of=lambda: XGBoostTrainer(params={}, datasets=table))
    raises(ValueError, "train_loop_per_worker, or params", of=lambda: XGBoostTrainer(datasets=table))
    raises(ValueError, "remove one of them", of=lambda: XGBoostTrainer(print, params={}, label_column="y"))
    raises(ValueError, "datasets={'train'", of=lambda: XGBoostTrainer(params={}, label_column="y"))
    raises(ValueError, "preprocessor.fit_transform(dataset)", of=lambda: XGBoostTrainer(params={}, label_column="y", datasets=table, preprocessor=print))
    raises(NotImplementedError, "rabit", of=lambda: XGBoostConfig("federated"))
    raises(ValueError, "frequency", of=lambda: RayTrainReportCallback(frequency=-1))
    raises(ValueError, "filename", of=lambda: RayTrainReportCallback(filename="../model"))
    lightgbm = run([PYTHON, "-c", "import trainrt.train.lightgbm"], env={"PYTHONPATH": BUILD / "python"})
    check("pip install lightgbm" in lightgbm.err or lightgbm.code == 0, "a missing library is not named", lightgbm)


main()
