#!/usr/bin/python3
"""train.function = xgboost with Debian's library: one rank and several give the model of the library's own Python on as many workers, byte for
byte; runs that are stopped and killed at any round end with the same bytes; and invalid parameters and data are errors."""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.xgboost_runs import *  # noqa: E402,F403

_runs = np = None


def setup():
    global _runs, np
    if not (BUILD / "modules/trees.so").exists():
        skip("the module of trees is not built")
    try:
        import numpy
        import xgboost  # noqa: F401
    except ImportError as error:
        skip(f"{error} (packages python3-numpy, python3-xgboost)")
    np, _runs = numpy, XgboostRuns()


def as_in_python(ranks, name):
    _runs.as_in_python(*CASES[name], ranks)


for ranks, names in ((1, CASES), (2, ("binary", "classes", "categories", "margins_of_classes", "survival")), (3, ("queries", "doubles", "approximate", "margins"))):
    for name in names:
        add_test(f"{ranks}_ranks_give_the_librarys_own_model_with_{name}", as_in_python, ranks, name)


def lines_of(**sets):
    """Writes each set as JSON lines. Returns the sections [data.NAME]."""
    folder = scratch("lines")
    for name, rows in sets.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {f"data.{name}": {"source": folder / f"{name}.jsonl"} for name in sets}


def exact(ranks, params, loop):
    _runs.exact(ranks, params, loop)


for ranks, name in ((1, "binary"), (2, "weights"), (2, "classes"), (1, "categories"), (3, "queries"), (1, "dart"), (1, "margins_of_classes"), (2, "margins"), (1, "plain_survival"), (2, "survival")):
    add_test(f"stopped_and_killed_on_{ranks}_ranks_the_model_has_the_same_bytes_with_{name}", exact, ranks, *CASES[name])
for ranks, name in ((2, "rows"), (1, "columns"), (2, "forest"), (1, "dart_of_rows"), (2, "approximate_columns"), (1, "features")):
    add_test(f"stopped_and_killed_on_{ranks}_ranks_the_model_has_the_same_bytes_with_{name}", exact, ranks, DRAWING[name], {})


@test
def sampling_differs_between_rounds_and_seeds():
    models = []
    for seed in (3, 4):
        config = _runs.config(f"seed_{seed}", {**DRAWING["columns"], "seed": seed}, rounds=8)
        finish(1, config)
        models.append(model_of(config))
        found = _runs.output_of_booster(config, "print([sorted(set(line.split('[')[1].split('<')[0] for line in text.splitlines() if '[' in line)) for text in booster.get_dump()])")
        check(len({str(columns) for columns in eval(found)}) > 2, f"the columns of each tree: {found}")
    check(models[0] != models[1], "the seed does not change the model")


@test
def a_killed_rank_ends_all_ranks_within_seconds():
    _runs.a_dead_rank_ends_all()


@test
def early_stopping_ends_in_the_round_of_the_library():
    _runs.early_stopping()


@test
def predictions_equal_those_of_the_librarys_own_python():
    _runs.predictions_are_those_of_python()


def csr_matrix(*given, **options):
    try:
        import scipy.sparse
    except ImportError as error:
        skip(f"{error} (package python3-scipy)")
    return scipy.sparse.csr_matrix(*given, **options)


def trained_on(matrix):
    """Returns the booster that the library's own Python trains, without attributes."""
    import xgboost
    params = {"objective": "binary:logistic", "nthread": 1, "seed": 7, "seed_per_iteration": True, "tree_method": "hist"}
    booster = xgboost.train(params, matrix, ROUNDS)
    booster.set_attr(**{name: None for name in booster.attributes()})
    return booster


@test
def sparse_rows_give_the_librarys_own_model_and_predictions():
    import xgboost
    source = np.random.default_rng(8)
    columns = [sorted(source.choice(30, source.integers(0, 9), replace=False).tolist()) for _ in range(600)]
    values = [np.round(source.normal(size=len(row)), 3).tolist() for row in columns]
    labels = [float(sum(value for column, value in zip(row, numbers) if column < 6) > 0.1) for row, numbers in zip(columns, values)]
    path = _runs.data / "sparse.jsonl"
    path.write_text("".join(json.dumps({"i": row, "v": numbers, "y": label}) + "\n" for row, numbers, label in zip(columns, values, labels)))
    rows = csr_matrix((sum(values, []), sum(columns, []), np.cumsum([0, *map(len, columns)])), shape=(600, 30))
    for matrix, own in (("quantile", xgboost.QuantileDMatrix), ("plain", xgboost.DMatrix), ("external", xgboost.QuantileDMatrix)):
        config = _runs.config("sparse", {"objective": "binary:logistic"}, sets={"train": "sparse"}, matrix=matrix, sparse="i, v", columns=30)
        config.write_text(config.read_text().replace("sparse.npz", "sparse.jsonl").replace("features = x\n", ""))
        job = finish(1, config)
        booster = trained_on(own(rows, labels, nthread=1))
        check(model_of(config) == bytes(booster.save_raw("ubj")), f"matrix = {matrix}: the model is not that of the library's own Python", job)
    out = config.parent / "predicted.npz"
    check_exit(run([TRAINRT, "predict", run_dir_of(config), "--dataset", "train", "-o", out]), FINISHED)
    check((np.load(out)["prediction"] == booster.predict(xgboost.DMatrix(rows))).all(), "the predictions differ")


@test
def lists_of_equal_length_are_sparse_rows_too():
    import xgboost
    source = np.random.default_rng(9)
    columns = np.sort([source.choice(12, 4, replace=False) for _ in range(300)])
    values = np.round(source.normal(size=columns.shape), 3)
    labels = (values.sum(axis=1) + (columns[:, 0] == 0) > 0.2).astype(float)
    lines = [{"i": row.tolist(), "v": numbers.tolist(), "y": label} for row, numbers, label in zip(columns, values, labels)]
    config = _runs.config("same", {"objective": "binary:logistic"}, sets=(), sections=lines_of(train=lines), sparse="i, v")
    job = finish(1, config)
    rows = csr_matrix((values.ravel(), columns.ravel(), np.arange(0, columns.size + 1, 4)), shape=(300, 12))
    booster = trained_on(xgboost.QuantileDMatrix(rows, labels, nthread=1))
    check(model_of(config) == bytes(booster.save_raw("ubj")), "the model is not that of the library's own Python", job)
    for row in (5, 6):  # files of one row, in which all lists have the same length
        source, out = lines_of(new=lines[row:row + 1])["data.new"]["source"], config.parent / f"predicted_{row}.npz"
        check_exit(run([TRAINRT, "predict", run_dir_of(config), f"--data.new.source={source}", "--dataset", "new", "-o", out]), FINISHED)
        equal(np.load(out)["prediction"].tolist(), booster.predict(xgboost.DMatrix(rows[row:row + 1])).tolist(), f"the prediction of row {row} alone")


@test
def strings_are_categories_on_any_number_of_ranks():
    words = np.array(["oak", "elm", "ash", "fir"])[np.random.default_rng(3).integers(0, 4, 300)]
    (_runs.data / "words.jsonl").write_text("".join(json.dumps({"t": word, "y": float(word in ("oak", "fir"))}) + "\n" for word in words))
    for ranks in (1, 3):
        config = _runs.config("words", {"objective": "binary:logistic", "eval_metric": "error"}, 3, sets={"train": "words"}, features="t", categorical="t")
        config.write_text(config.read_text().replace("words.npz", "words.jsonl"))
        job = finish(ranks, config)
        equal(last_of(config), {"train-error": 0.0}, f"metrics of {ranks} ranks with string categories", job)


@test
def pages_on_disk_give_the_model_of_memory_and_are_removed():
    cache = scratch("cache")
    models = []
    for matrix in ("external", "quantile"):
        config = _runs.config(matrix, matrix=matrix, **({"cache": cache} if matrix == "external" else {}))
        finish(1, config)
        models.append(model_of(config))
    check(models[0] == models[1], "the models differ")
    check(not list(cache.iterdir()), f"left in the cache: {list(cache.iterdir())}")


@test
def the_next_attempt_removes_pages_of_a_killed_one():
    cache = scratch("cache")
    config, other = (_runs.config(name, rounds=4000, every=100, matrix="external", cache=cache, threads=1) for name in ("killed", "other"))
    jobs = [start_ranks(1, each) for each in (config, other)]
    for each, job in zip((config, other), jobs):
        wait_for_reports(run_dir_of(each), 3, job, 60)
    before = set(cache.iterdir())
    equal(len(before), 2, "folders of two runs", jobs[0])
    kill(jobs[0].wait_for_ranks(1).values())
    jobs[0].wait(30)
    left = [folder for folder in before if folder.exists()]
    config.write_text(config.read_text().replace("num_boost_round = 4000", "num_boost_round = 1"))
    finish(1, config)
    still = list(cache.iterdir())
    kill(jobs[1].wait_for_ranks(1).values())
    jobs[1].wait(30)
    check(len(left) == 2, f"a killed rank has removed its pages itself: {left}", jobs[0])
    check(len(still) == 1 and set(still) < before, f"the cache must hold only the other run's folder: {still}", jobs[0])


@test
def datasets_of_scikit_learn_are_learnt():
    try:
        from sklearn import datasets
    except ImportError as error:
        skip(f"{error} (package python3-sklearn)")
    for name, load, params, metric, limit in (("cancer", datasets.load_breast_cancer, {"objective": "binary:logistic", "eval_metric": "error"}, "valid-error", 0.08),
                                              ("digits", datasets.load_digits, {"objective": "multi:softmax", "num_class": 10, "eval_metric": "merror"}, "valid-merror", 0.12),
                                              ("diabetes", datasets.load_diabetes, {"objective": "reg:squarederror", "eta": 0.1, "max_depth": 3}, "valid-rmse", 66)):
        values, labels = load(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(labels))
        for part, rows in (("train", order[len(order) // 4:]), ("valid", order[:len(order) // 4])):
            np.savez(_runs.data / f"{name}-{part}.npz", x=values[rows], y=labels[rows].astype("f4"))
        config = _runs.config(name, params, 25, sets={part: f"{name}-{part}" for part in ("train", "valid")})
        job = finish(2, config)
        check(last_of(config)[metric] < limit, f"{name}: {last_of(config)}", job)


@test
def a_rank_may_have_no_rows_and_all_rows_one_class():
    config = _runs.config("tiny", {**BINARY, "eval_metric": "logloss"}, 3, sets={"train": "train", "valid": "tiny"})
    finish(3, config)
    for params, loop in ((BINARY, {}), ({**BINARY, "tree_method": "approx"}, {"matrix": "plain"}), ({"objective": "rank:ndcg"}, {"label": "c", "group": "q"})):
        models = []
        for ranks in (1, 3):
            config = _runs.config(f"on_{ranks}", {**params, "min_child_weight": 0, "base_score": 0.4}, 3, sets={"train": "tiny"}, **loop)
            job = finish(ranks, config)
            models.append(eval(_runs.output_of_booster(config, "print(booster.get_dump())")))
        equal(models[1], models[0], f"trees of two rows on 3 ranks with {params}", job)
    config = _runs.config("one", {**BINARY, "eval_metric": "logloss,auc", "base_score": 0.5}, 3, sets={"train": "one_class"})
    job = finish(2, config)
    check(last_of(config)["train-logloss"] < 0.5 and "train-auc" in last_of(config), f"metrics: {last_of(config)}", job)


@test
def four_ranks_one_without_rows_learn_as_well_as_one():
    table = dict(np.load(_runs.data / "train.npz"))
    np.savez(_runs.data / "thirds.npz", **{**table, "q": np.arange(SIZES["train"]) // 300})  # three queries, so that the last of four ranks has no rows
    loss = {}
    for ranks in (1, 4):
        config = _runs.config(f"thirds_{ranks}", sets={"train": "thirds", "valid": "valid"}, group="q")
        job = finish(ranks, config, 150)
        loss[ranks] = last_of(config)["valid-logloss"]
        equal(len(reports(run_dir_of(config))), ROUNDS, "rounds", job)
    check(abs(loss[4] - loss[1]) < 0.02 < 0.1 < 0.69 - loss[1], f"the loss on each number of ranks: {loss}")


@test
def ranks_with_and_without_missing_values_do_not_wait_for_each_other():
    """XGBoost 1.7's hist sums differently without missing values: its own Python hangs with these rows on several workers."""
    table = {name: values[:300] for name, values in dict(np.load(_runs.data / "train.npz")).items()}
    table["x"] = np.nan_to_num(table["x"])
    tables = {"dense": table, "one_missing": {**table, "x": table["x"].copy()}, "few": {name: values[:2] for name, values in table.items()}}
    tables["one_missing"]["x"][2, 1] = np.nan
    for name, values in tables.items():
        np.savez(_runs.data / f"{name}.npz", **values)
    few = {**BINARY, "eval_metric": "logloss", "min_child_weight": 0, "base_score": 0.4}
    cases = [("one_missing", 2, BINARY, {"matrix": kind}) for kind in ("quantile", "plain")]
    cases += [("one_missing", 2, BINARY, {"base_margin": "m"}), ("few", 3, few, {"base_margin": "m"}), ("one_missing", 2, SURVIVAL, BOUNDS), ("few", 3, SURVIVAL, BOUNDS)]
    cases += [("one_missing", 2, {**BINARY, "updater": "grow_quantile_histmaker"}, {"matrix": "plain"}),
              ("one_missing", 2, {"objective": "rank:ndcg", "eval_metric": "ndcg"}, {"label": "c", "group": "q"}),
              ("one_missing", 2, {"objective": "reg:squarederror"}, {"label": "r", "weight": "w"}), ("few", 3, few, {}), ("few", 3, few, {"matrix": "plain"})]
    for data, ranks, params, loop in cases:
        metrics = []
        for count in (1, ranks):
            config = _runs.config(f"on_{count}", params, 6, sets={"train": data}, **loop)
            job = finish(count, config, 60)
            metrics.append(last_of(config))
        for metric, value in metrics[0].items():
            check(abs(metrics[1][metric] - value) < 0.05, f"{data} on {ranks} ranks, {params}, {loop}: {metrics[1]}, and on one {metrics[0]}", job)


@test
def queries_that_a_rank_lacks_do_not_change_the_metric():
    table = dict(np.load(_runs.data / "valid.npz"))
    np.savez(_runs.data / "one_query.npz", **{name: values[:12] for name, values in table.items() if name != "q"}, q=np.zeros(12))
    metrics = {}
    for ranks in (1, 3):
        config = _runs.config(f"query_{ranks}", {"objective": "rank:ndcg", "eval_metric": "ndcg", "eta": 0.01}, 2, sets={"train": "train", "valid": "one_query"},
                              label="c", group="q")
        finish(ranks, config)
        metrics[ranks] = last_of(config)["valid-ndcg"]
    check(metrics[1] < 0.99 and abs(metrics[1] - metrics[3]) < (1 - metrics[1]) / 3, f"ndcg of the only query on each number of ranks: {metrics}")


@test
def early_stopping_uses_the_last_set_whatever_its_name():
    params = {**BINARY, "eval_metric": "logloss,auc", "learning_rate": 0.6}
    ends = []
    for name in ("valid", "train-2"):
        config = _runs.config("watched", params, 200, sets={"train": "train", name: "valid"}, early_stopping_rounds=5)
        job = finish(1, config)
        ends.append((len(reports(run_dir_of(config))), _runs.output_of_booster(config, "print(booster.best_iteration)")))
    equal(ends[1], ends[0], "number of rounds, and the best round", job)
    check("no improvement for 5 rounds" in job.err, "the reason for the end is not logged", job)


@test
def a_continued_run_may_extend_or_disable_early_stopping():
    params = {**BINARY, "eval_metric": "auc", "learning_rate": 0.6}

    def ended(name, patience, rounds):
        config = _runs.config(name, params, rounds, early_stopping_rounds=patience)
        finish(1, config)
        return config

    def continues_with(config, **changed):
        text = config.read_text()
        for key, value in changed.items():
            text = re.sub(rf"^{key} *=.*$", f"{key} = {value}", text, flags=re.M)
        config.write_text(text)
        finish(1, config)

    config, patient = ended("patient", 2, 60), ended("patient_from_the_first", 8, 60)
    check(len(reports(run_dir_of(config))) < len(reports(run_dir_of(patient))), "both runs stopped after as many rounds")
    continues_with(config, early_stopping_rounds=8)
    check(model_of(config) == model_of(patient), "the model differs from a run with the larger patience from its start")
    config, all_rounds = ended("watched", 2, 60), ended("all_rounds", 0, 30)
    continues_with(config, early_stopping_rounds=0, num_boost_round=30)
    equal(_runs.output_of_booster(config, "print(booster.num_boosted_rounds(), booster.attr('best_iteration'))").split(), ["30", "None"], "number of rounds, and the best round")
    check(model_of(config) == model_of(all_rounds), "the model differs from a run without early stopping")


@test
def a_full_disk_at_TMPDIR_loses_checkpoints_but_not_the_run():
    small = scratch("small")
    sections = {"checkpoint": {"every": "2 reports", "num_to_keep": 2, "max_failed": 0}}  # otherwise three failed checkpoints in a row end the run
    config = _runs.config("full", rounds=24, sections=sections)
    job = run([*own_mount(small, "size=24k"), TRAINRT, "--config", config], env={"TMPDIR": str(small)})
    check_exit(job, FAILED)  # the last checkpoint is the run's result
    for word in ("cannot write the model to", "No space left", "TMPDIR", "is dropped", "training continues", "Make room"):
        check(word in job.out + job.err, f"the log lacks {word!r}", job)
    equal(len(reports(run_dir_of(config))), 24, "rounds", job)
    check(checkpoints(run_dir_of(config)), "no checkpoint of the first rounds, whose model fitted", job)
    quiet = _runs.config("room", rounds=24)
    finish(1, quiet)
    finish(1, config)  # continues from the last checkpoint
    check(model_of(config) == model_of(quiet), "the model differs from a run with enough space", job)


@test
def a_run_continues_with_more_rounds_and_other_ranks():
    config = _runs.config("more", rounds=6)
    finish(2, config)
    config.write_text(config.read_text().replace("num_boost_round = 6", "num_boost_round = 10") + "[scaling]\non_resize = keep_batch\n")
    job = finish(3, config)
    equal(_runs.output_of_booster(config, "print(booster.num_boosted_rounds())").strip(), "10", "rounds of the model", job)
    check(last_of(config)["train-logloss"] < reports(run_dir_of(config))[5]["train-logloss"], "the loss does not decrease after the continuation", job)
    check_iterations(run_dir_of(config), 10)


@test
def a_continued_run_refuses_another_label_or_other_columns():
    config = _runs.config("columns", rounds=3)
    finish(1, config)
    text = config.read_text().replace("num_boost_round = 3", "num_boost_round = 5")
    for key, before, now, word in (("label", "y", "r", "label is 'r', but was 'y'"), ("features", "x", "d", "features: 2 columns, but there were 6")):
        changed = re.sub(rf"^{key} *= *{before}$", f"{key} = {now}", text, flags=re.M)
        check(changed != text, f"the config has no {key} = {before}: {text}")
        config.write_text(changed)
        job = run([TRAINRT, "--config", config])
        check_exit(job, USAGE)
        check(word in job.err and "restore the earlier value" in job.err, f"the error lacks {word!r}", job)


def refuses_added_or_removed(key, field):
    """A continued run may neither add nor remove this key of [loop]."""
    for is_named in (False, True):
        config = _runs.config("continued", rounds=3, **({} if is_named else {key: field}))
        finish(1, config)
        line = re.compile(rf"^{key} *= *{field}\n", re.M)
        config.write_text(re.sub(r"^(label *=.*\n)", rf"\1{key} = {field}\n" if is_named else r"\1", line.sub("", config.read_text()), flags=re.M))
        equal(bool(line.search(config.read_text())), is_named, f"whether the config has the key {key}")
        config.write_text(config.read_text().replace("num_boost_round = 3", "num_boost_round = 5"))
        job = run([TRAINRT, "--config", config])
        check_exit(job, USAGE)
        word = f"{key} is '{field}', but was ''" if is_named else f"{key} is '', but was '{field}'"
        check(word in job.err and "restore the earlier value" in job.err, f"the error lacks {word!r}", job)


@test
def a_continued_run_refuses_an_added_or_removed_weight():
    refuses_added_or_removed("weight", "w")


@test
def a_continued_run_refuses_an_added_or_removed_base_margin():
    refuses_added_or_removed("base_margin", "m")


# ---- errors -------------------------------------------------------------------------------------------------------


def refused(words, ranks=1, code=USAGE, **change):
    config = _runs.config("refused", **change)
    job = run([TRAINRT, "--config", config]) if ranks == 1 else run_ranks(ranks, config)
    check_exit(job, code)
    for word in words:
        check(word in job.out + job.err, f"the error lacks {word!r}", job)


@test
def invalid_parameters_are_errors_that_name_them():
    import xgboost
    refused(["'max_dept'", "did you mean 'max_depth'"], params={**BINARY, "max_dept": 3})
    refused(["'num_boost_rounds'", "did you mean 'num_boost_round'"], ranks=2, params={**BINARY, "num_boost_rounds": 3})
    refused(["'rate_drop'"], params={**BINARY, "rate_drop": 0.1})
    refused(["max_depth", "deep"], params={**BINARY, "max_depth": "deep"})
    refused(["binary:logistics"], params={"objective": "binary:logistics"})
    refused(["tree_method = exact", "matrix = plain"], params={**BINARY, "tree_method": "exact"})
    refused(["tree_method = exact", "one rank only"], ranks=2, params={**BINARY, "tree_method": "exact"}, matrix="plain")
    refused(["feature_selector = shuffle"], params={**BINARY, "booster": "gblinear", "feature_selector": "shuffle"}, matrix="plain")
    if int(xgboost.__version__.split(".")[0]) < 3:
        refused(["matrix = external", "on several ranks", "matrix = quantile"], ranks=2, params=BINARY, matrix="external")
    refused(["process_type = update"], params={**BINARY, "process_type": "update"})


@test
def invalid_data_is_an_error_that_names_it():
    refused(["label", "'z'", "[data.train]"], label="z")
    refused(["'X'", "features"], features="X")
    refused(["[data.train] label 't' of sample", "missing (NaN)"], label="t")
    refused(["label 't'", "missing (NaN)"], ranks=2, label="t")
    refused(["weights"], params={"objective": "rank:ndcg"}, label="c", group="q", weight="w")
    refused(["early_stopping_rounds"], sets=("train",), early_stopping_rounds=3)


@test
def an_invalid_row_on_the_last_rank_is_reported_before_other_ranks_fail():
    table = dict(np.load(_runs.data / "train.npz"))
    table["y"][890], table["w"][:], table["w"][898] = np.nan, 1, 3
    np.savez(_runs.data / "wrong_end.npz", **table)
    missing = "label 'y' of sample 890 is missing (NaN)"
    for matrix in ("quantile", "plain"):
        refused(["rank 1: error: [data.train] " + missing], ranks=2, sets={"train": "wrong_end"}, matrix=matrix)
    refused(["rank 2: error: [data.valid] " + missing], ranks=3, sets={"train": "train", "valid": "wrong_end"})
    refused(["rank 1: error: [data.train] weight 'w' of sample 898, in group 128 ('q'), is 3, but was 1 in the row before"], ranks=2, sets={"train": "wrong_end"},
            params={"objective": "rank:ndcg"}, label="c", group="q", weight="w")


@test
def an_infinite_label_is_named_with_its_row():
    rows = [{"x": i % 3, "y": 1e39 if i == 7 else i % 2} for i in range(20)]  # beyond f32
    refused(["[data.train] label 'y' of sample 7 is inf", "finite label"], sets=(), sections=lines_of(train=rows))


@test
def a_missing_infinite_or_negative_weight_is_named_with_its_row():
    for wrong, shown in ((float("nan"), "missing (NaN)"), (float("inf"), "inf"), (-0.5, "-0.5")):
        for part, matrix in (("train", "plain"), ("valid", "plain"), ("train", "quantile")):
            rows = {name: [{"x": i % 3, "y": i % 2, "w": wrong if name == part and i == 7 else 1.5} for i in range(20)] for name in ("train", "valid")}
            if shown == "inf":
                rows[part][7]["w"] = 1e39  # beyond f32
            if shown.startswith("missing"):
                rows[part][7]["w"] = None
            refused([f"[data.{part}] weight 'w' of sample 7 is {shown}", "finite and not negative"], sets=(), sections=lines_of(**rows), weight="w", matrix=matrix)


@test
def a_continued_run_refuses_added_bounds():
    config = _runs.config("continued", rounds=3)
    finish(1, config)
    config.write_text(config.read_text().replace("[loop]\n", "[loop]\nlabel_lower_bound = lo\nlabel_upper_bound = hi\n").replace("num_boost_round = 3", "num_boost_round = 4"))
    job = run([TRAINRT, "--config", config])
    check_exit(job, USAGE)
    check("label_lower_bound is 'lo', but was ''" in job.err, "the error does not name the bound", job)


@test
def invalid_bounds_are_named():
    bounds = {**BOUNDS, "params": SURVIVAL}
    for lower, upper, shown in ((2, 1, "is 2, and label_upper_bound 'hi' is 1"), (-1, 1, "is -1,"), (None, 1, "is missing (NaN),"), (1e39, None, "is inf,"), (1, None, "'hi' is missing")):
        for part, matrix in (("train", "plain"), ("valid", "quantile"))[:2 if lower == 2 else 1]:
            rows = {name: [{"x": i % 3, "lo": lower if name == part and i == 7 else 1.0, "hi": upper if name == part and i == 7 else 1.5} for i in range(20)]
                    for name in ("train", "valid")}
            refused([f"[data.{part}] label_lower_bound 'lo' of sample 7", shown], sets=(), sections=lines_of(**rows), matrix=matrix, **bounds)
    refused(["label_lower_bound and label_upper_bound", "both"], **{**bounds, "label_upper_bound": ""})
    refused(["survival:aft needs label_lower_bound"], params=SURVIVAL)
    refused(["label is missing", "survival:aft"], ranks=2, params=BINARY, **BOUNDS)
    refused(["label in [loop] of xgboost is missing"], label="")
    check_exit(run([TRAINRT, "check", "--config", _runs.config("no_label", label="")]), USAGE)


@test
def a_label_that_xgboost_refuses_is_named_with_its_row():
    """tests/unit/trees/label_rule.cpp tests the rules of all objectives."""
    classes = {"objective": "multi:softprob", "num_class": 3}
    for params, wrong, right, part, ranks, matrix in ((BINARY, 2, 1, "train", 2, "quantile"), ({"objective": "reg:gamma"}, 0, 0.5, "train", 1, "plain"),
                                                      (classes, 3, 2, "train", 1, "quantile"), (classes, -1, 0, "valid", 2, "plain")):
        rows = {name: [{"x": i % 3, "y": wrong if name == part and i == 17 else right} for i in range(20)] for name in ("train", "valid")}
        refused([f"[data.{part}] label 'y' of sample 17 is {wrong}: ", "XGBoost needs a"], ranks=ranks, params=params, sets=(), features="x", matrix=matrix,
                sections=lines_of(**rows))


@test
def labels_that_xgboost_accepts_are_accepted():
    """The label rules of an objective apply only to training rows, and hinge accepts any label."""
    for params, train, valid in (({"objective": "binary:logistic", "eval_metric": "rmse"}, (0, 0.25, 1), (-1, 2, 7)), ({"objective": "binary:hinge"}, (0, 2, -1), (0, 1, 3)),
                                 ({"objective": "multi:softmax", "num_class": 3, "eval_metric": "merror"}, (0, 1, 2), (-0.5, 0.5, 2.5)),
                                 ({"objective": "reg:gamma", "eval_metric": "rmse"}, (0.5, 1, 2), (0, -1, 1))):
        rows = {name: [{"x": i % 3, "y": labels[i % 3]} for i in range(20)] for name, labels in (("train", train), ("valid", valid))}
        finish(1, _runs.config("takes", params, 2, sets=(), features="x", sections=lines_of(**rows)))


@test
def an_invalid_base_margin_is_named():
    for wrong, shown in ((None, "missing (NaN)"), (1e39, "1e+39")):  # the second is beyond f32
        for part, matrix in (("train", "plain"), ("valid", "quantile")):
            rows = {name: [{"x": i % 3, "y": i % 2, "m": wrong if name == part and i == 7 else 0.5} for i in range(20)] for name in ("train", "valid")}
            refused([f"[data.{part}] base_margin 'm' of sample 7 is {shown}", "finite"], sets=(), sections=lines_of(**rows), base_margin="m", matrix=matrix)
    refused(["field 'ms', which [loop] base_margin names, has 3 numbers per row, but must have one"], base_margin="ms")
    classes = {"objective": "multi:softmax", "num_class": 3}
    refused(["field 'm', which [loop] base_margin names, has 1 number per row, but must have 3, one per class"], ranks=2, params=classes, label="c", base_margin="m")
    refused(["[loop] base_margin names", "'absent'"], base_margin="absent")
    refused(["[loop] init_score", "base_margin"], init_score="m")
    table = dict(np.load(_runs.data / "valid.npz"))
    np.savez(_runs.data / "narrow.npz", **{**table, "ms": table["m"]})
    refused(["[data.valid] field 'ms'", "1 numbers per row, but in [data.train] 3"], params=classes, sets={"train": "train", "valid": "narrow"}, label="c", base_margin="ms")


@test
def an_invalid_sparse_column_is_named_with_its_row():
    for wrong, shown in ((4294967299, "4294967299"), (-1, "-1"), (1.5, "1.5"), (None, "nan")):
        for part, loop in (("train", {"columns": 5}), ("train", {}), ("valid", {})):
            rows = {name: [{"i": [0, wrong] if name == part and i == 7 else [0, 3, 4][:i % 4], "v": [1.5] * (2 if name == part and i == 7 else min(i % 4, 3)), "y": i % 2}
                           for i in range(20)] for name in ("train", "valid")}
            refused([f"[data.{part}] field 'i' of sample 7 holds {shown}", "must be an integer of at least 0"], sets=(), sections=lines_of(**rows), sparse="i, v", **loop)


@test
def numbers_in_place_of_training_strings_are_an_error_that_names_types():
    folder = scratch("digits")
    (folder / "train.csv").write_text("k,y\n" + "A1,1\n2,0\n3,1\n" * 10)
    (folder / "valid.csv").write_text("k,y\n" + "2,0\n3,1\n" * 10)
    sections = {f"data.{name}": {"source": folder / f"{name}.csv"} for name in ("train", "valid")}
    change = {"params": {"objective": "binary:logistic", "eval_metric": "error", "min_child_weight": 0}, "sets": (), "features": "k", "categorical": "k"}
    refused(["[data.valid] field 'k' holds numbers, but in [data.train] it holds texts", "set types = k:text in [data.valid]"], sections=sections, **change)
    sections["data.valid"]["types"] = "k:text"
    config = _runs.config("texts", sections=sections, **change)
    finish(1, config)
    equal(last_of(config), {"train-error": 0.0, "valid-error": 0.0}, "errors of texts of digits")


@test
def a_category_that_is_not_utf8_is_named_with_its_row():
    import sqlite3
    path = scratch("towns") / "towns.sqlite"
    with sqlite3.connect(path) as base:
        base.execute("create table towns (t text, y real)")
        base.executemany("insert into towns values (cast(? as text), ?)", [("K\u00f6ln".encode("utf-8" if i != 7 else "latin-1"), i % 2) for i in range(20)])
    sections = {"data.train": {"source": path, "table": "towns"}}
    refused(["[data.train] categorical field 't' of sample 7", r"'K\xf6ln'", "not UTF-8"], sets=(), sections=sections, features="t", categorical="t")


@test
def a_missing_library_is_named():
    nowhere = scratch("nowhere")
    refused(["the folder has no xgboost/lib/libxgboost.so"], sections={"xgboost": {"library": nowhere}})
    refused(["libxgboost0", "cannot be loaded"], sections={"xgboost": {"library": nowhere / "libxgboost.so"}})
    (nowhere / "libc.so").symlink_to("/lib/x86_64-linux-gnu/libm.so.6")
    refused(["lacks the function XGB"], sections={"xgboost": {"library": nowhere / "libc.so"}})


main(setup)
