#!/usr/bin/python3
"""train.function = lightgbm: one rank gives the model of the library's own Python, byte for byte; several ranks learn as well; runs that are
stopped and killed at any round end with the same bytes; metrics cover all rows; and invalid parameters and data are errors. Uses a PyPI wheel."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from tools.wheels import *  # noqa: E402,F403
import random  # noqa: E402

os.environ["OMP_WAIT_POLICY"] = "passive"  # threads that wait for a busy core do not spin
VERSION = os.environ.get("TRAINRT_LIGHTGBM_VERSION", "4.6.0")
DEFAULTS = {"deterministic": True, "force_row_wise": True, "enable_bundle": False, "verbosity": -1, "num_threads": 2, "num_leaves": 7}
ROUNDS = 12
TRAIN, VALID = slice(0, 900), slice(900, 1200)
np = lightgbm = _packages = _data = None
# Parameters of the library, and the keys of [loop] that assign fields, by name of the case.
PLAIN = {"objective": "binary", "metric": "binary_logloss,auc,average_precision"}
CASES = {
    "binary": (PLAIN, {}),
    "weights": ({"objective": "regression_l1", "metric": "l1,rmse"}, {"label": "r", "weight": "w"}),
    "classes": ({"objective": "multiclass", "num_class": 3, "metric": "multi_logloss,multi_error"}, {"label": "c"}),
    "categories": (PLAIN, {"features": "x, k", "categorical": "k"}),
    # One thread, since LightGBM sums the metric map in the order in which threads finish.
    "queries": ({"objective": "lambdarank", "metric": "ndcg,map", "eval_at": "2,5", "num_threads": 1}, {"label": "c", "group": "q"}),
    "weights_in_the_metric": ({"objective": "cross_entropy_lambda", "metric": "cross_entropy_lambda"}, {"weight": "w"}),
    "doubles": ({"objective": "poisson", "metric": "poisson,gamma_deviance"}, {"label": "p", "features": "d"}),
    "init_score": (PLAIN, {"init_score": "m"}),
    "init_scores_of_classes": ({"objective": "multiclass", "num_class": 3, "metric": "multi_logloss,multi_error"}, {"label": "c", "init_score": "ms"}),
}
# Cases that draw random numbers or keep state between rounds.
DRAWING = {
    "bagging": {**PLAIN, "bagging_freq": 3, "bagging_fraction": 0.4},
    "halves": {**PLAIN, "bagging_freq": 2, "pos_bagging_fraction": 0.8, "neg_bagging_fraction": 0.7, "seed": 4},
    "columns": {**PLAIN, "feature_fraction": 0.6, "feature_fraction_bynode": 0.7, "extra_trees": True},
    "goss": {**PLAIN, "data_sample_strategy": "goss", "learning_rate": 0.4},
    "dart": {**PLAIN, "boosting": "dart", "drop_rate": 0.5},
    "rf": {**PLAIN, "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6},
    "dart_in_capitals": {**PLAIN, "boosting": "DART", "drop_rate": 0.5},
    "thresholds_in_capitals": {**PLAIN, "extra_trees": "TRUE"},
    "gradients_in_capitals": {**PLAIN, "use_quantized_grad": "TRUE"},
    "goss_in_quotation_marks": {**PLAIN, "data_sample_strategy": "'Goss'", "learning_rate": 0.4},
}
RANK_DRAWS = {"objective": "rank_xendcg", "metric": "ndcg", "eval_at": "3"}
QUERIES_DRAWN = {**RANK_DRAWS, "bagging_by_query": True, "bagging_freq": 1, "bagging_fraction": 0.7}


def setup():
    global np, lightgbm, _packages, _data
    if not (BUILD / "modules/trees.so").exists():
        skip("the module of trees is not built")
    try:
        import numpy
        import scipy  # noqa: F401
    except ImportError as error:
        skip(f"{error} (packages python3-numpy, python3-scipy)")
    _packages = wheel("lightgbm", VERSION)
    np, lightgbm = numpy, import_from(_packages, "lightgbm")
    _data = scratch("data")
    write_tables()


def write_tables():
    source = np.random.default_rng(5)
    count = VALID.stop
    x = source.normal(size=(count, 5)).astype("f4")
    x[source.random(x.shape) < 0.1] = np.nan
    k = source.integers(0, 9, count).astype("i4")
    signal = np.nan_to_num(x[:, 0] * 2 + x[:, 1] * x[:, 2]) + np.where(k % 3 == 0, 1.0, -0.5) + source.normal(size=count) * 0.5
    columns = {"x": x, "k": k, "d": source.normal(size=(count, 3)) + signal[:, None] * 0.3, "y": (signal > 0).astype("f4"), "r": signal.astype("f4"),
               "w": source.uniform(0.5, 2, count).astype("f4"), "c": np.digitize(signal, [-1, 1]).astype("f4"),
               "p": np.maximum(source.poisson(np.exp(np.clip(signal, -2, 2) / 2)), 1).astype("f4"), "q": np.repeat(np.arange(count), 7)[:count],
               "m": np.sin(signal), "ms": np.stack([np.sin(signal), np.cos(signal), signal * 0.1], 1)}
    for name, part in (("train", TRAIN), ("valid", VALID), ("few", slice(900, 901)), ("tiny", slice(0, 2))):
        np.savez(_data / f"{name}.npz", **{field: values[part] for field, values in columns.items()})


def config_of(name, params=PLAIN, rounds=ROUNDS, sets=("train", "valid"), run=None, every=4, threads=2, library=None, **loop):
    folder = scratch()
    chosen = {"features": "x", "label": "y", **loop}
    return write_config(folder / f"{name}.ini", {
        "run": {"name": name, "storage_path": folder / "runs", "seed": 7, **(run or {})}, "train": {"function": "lightgbm"},
        "loop": {**{key: value for key, value in DEFAULTS.items() if key in ("verbosity", "num_leaves")}, "num_threads": threads, "num_boost_round": rounds,
                 **params, **chosen},
        "lightgbm": {"library": library or _packages}, "checkpoint": {"every": f"{every} reports", "num_to_keep": 2},
        **{f"data.{part}": {"source": _data / f"{where}.npz"} for part, where in (sets.items() if isinstance(sets, dict) else ((one, one) for one in sets))}})


def finish(ranks, config, timeout=90):
    job = run([TRAINRT, "--config", config], timeout=timeout) if ranks == 1 else run_ranks(ranks, config, timeout=timeout)
    check_exit(job, FINISHED)
    return job


def model_of(config):
    return (checkpoints(run_dir_of(config))[-1] / "files/model.txt").read_text()


def last_of(config):
    return {key: value for key, value in reports(run_dir_of(config))[-1].items() if not key.startswith("_")}


def own_dataset(part, loop, reference=None, **more):
    """Makes the dataset as a user of the library does."""
    table = np.load(_data / f"{part}.npz")
    chosen = {"features": "x", "label": "y", **loop}
    fields = [name.strip() for name in chosen["features"].split(",")]
    columns = np.column_stack([table[name] for name in fields])
    names = [f"{name}_{i}" if table[name].ndim > 1 else name for name in fields for i in range(table[name].shape[1] if table[name].ndim > 1 else 1)]
    categorical = [name.strip() for name in chosen.get("categorical", "").split(",") if name]
    group = np.unique(table[chosen["group"]], return_counts=True)[1] if "group" in chosen else None
    return lightgbm.Dataset(columns, table[chosen["label"]], reference=reference, weight=table[chosen["weight"]] if "weight" in chosen else None, group=group,
                            feature_name=names, categorical_feature=categorical or "auto", **{"init_score": table[loop["init_score"]] if "init_score" in loop else None, **more})


def own_training(params, loop, rounds=ROUNDS, callbacks=()):
    """Trains with the library's own Python. Returns (the model's text, {set: {metric: values}}, the booster)."""
    found = {}
    train = own_dataset("train", loop)
    booster = lightgbm.train({**DEFAULTS, **params}, train, rounds, valid_sets=[train, own_dataset("valid", loop, train)], valid_names=["train", "valid"],
                             callbacks=[lightgbm.record_evaluation(found), *callbacks])
    return booster.model_to_string(num_iteration=-1).split("\npandas_categorical")[0].rstrip("\n"), found, booster


def as_in_python(params, loop):
    config = config_of("own", params, **loop)
    finish(1, config)
    text, found, _ = own_training(params, loop)
    check("Tree=5" in text, "the library's own model has fewer than 6 trees")
    check(model_of(config).rstrip("\n") == text, "the model is not that of the library's own Python")
    wanted = {f"{part}-{metric}": values[-1] for part, metrics in found.items() for metric, values in metrics.items()}
    equal(last_of(config), wanted, "metrics")


for name, (params, loop) in CASES.items():
    add_test(f"one_rank_gives_the_librarys_own_model_with_{name}", as_in_python, params, loop)
for name in ("goss", "dart", "rf"):
    add_test(f"one_rank_gives_the_librarys_own_model_with_{name}", as_in_python, DRAWING[name], {})
add_test("one_rank_gives_the_librarys_own_model_with_dart_and_init_score", as_in_python, DRAWING["dart"], {"init_score": "m"})


@test
def sparse_rows_give_the_librarys_own_model_also_after_a_kill():
    import scipy.sparse
    source = np.random.default_rng(8)
    columns = [sorted(source.choice(30, source.integers(0, 9), replace=False).tolist()) for _ in range(600)]
    values = [np.round(source.normal(size=len(row)), 3).tolist() for row in columns]
    labels = [float(sum(value for column, value in zip(row, numbers) if column < 6) > 0.1) for row, numbers in zip(columns, values)]
    (_data / "sparse.jsonl").write_text("".join(json.dumps({"i": row, "v": numbers, "y": label}) + "\n" for row, numbers, label in zip(columns, values, labels)))
    loop = {"sparse": "i, v", "columns": 30, "features": "", "min_data_in_leaf": 5}
    config = sparse_config("alone", loop)
    finish(1, config)
    starts = np.cumsum([0, *map(len, columns)])
    matrix = scipy.sparse.csr_matrix((np.array(sum(values, []), "f4" if "f32" in layout_of(config) else "f8"), sum(columns, []), starts), shape=(600, 30))
    booster = lightgbm.train({**DEFAULTS, **PLAIN, "min_data_in_leaf": 5}, lightgbm.Dataset(matrix, labels), ROUNDS)
    check(model_of(config).rstrip("\n") == booster.model_to_string().split("\npandas_categorical")[0].rstrip("\n"), "the model is not that of the library's own Python")
    quiet, killed = sparse_config("quiet", loop), sparse_config("killed", loop)
    finish(2, quiet)
    interrupt(2, killed, signal.SIGKILL)
    finish(2, killed)
    check(model_of(killed) == model_of(quiet), "the model differs from the undisturbed run's")


def sparse_config(name, loop):
    config = config_of(name, sets={"train": "sparse"}, every=2, **loop)
    config.write_text(config.read_text().replace("sparse.npz", "sparse.jsonl").replace("features = \n", ""))
    return config


def layout_of(config):
    return state_of(run_dir_of(config))["layout"][2].decode()


# ---- several ranks ------------------------------------------------------------------------------------------------------


@test
def ranks_together_learn_as_well_as_one():
    config = config_of("one", rounds=20)
    finish(1, config)
    alone = last_of(config)
    for ranks, params in ((2, {}), (3, {"tree_learner": "voting"}), (4, {"use_quantized_grad": True})):
        config = config_of(f"on_{ranks}", {**PLAIN, **params}, rounds=20, threads=1)
        job = finish(ranks, config)
        together = last_of(config)
        equal(together.keys(), alone.keys(), "metrics", job)
        for part in ("train-binary_logloss", "valid-binary_logloss"):
            check(abs(together[part] / alone[part] - 1) < 0.1, f"{part} of {ranks} ranks with {params}: {together[part]}, of one {alone[part]}", job)
        counts = [int(count) for count in re.findall(r"^internal_count=(\d+)", model_of(config), re.M)]
        equal(max(counts), TRAIN.stop, f"rows that the trees of {ranks} ranks were grown on", job)


def metrics_of_all_rows(params, loop, ranks=3):
    """The metrics of several ranks equal those that the library computes for their last model on all rows."""
    config = config_of("ranks", params, threads=1, **loop)
    finish(ranks, config)
    model = lightgbm.Booster(model_str=model_of(config))
    trees = params.get("num_class", 1)
    sets = []
    for part in ("train", "valid"):
        rows = own_dataset(part, loop, sets[0] if sets else None, free_raw_data=False)
        scores = model.predict(rows.data, raw_score=True) + (np.load(_data / f"{part}.npz")[loop["init_score"]] if "init_score" in loop else 0)
        rows.set_init_score(scores.ravel(order="F") if trees > 1 else scores)
        sets.append(rows)
    judge = lightgbm.Booster({**DEFAULTS, **params}, sets[0])
    judge.add_valid(sets[1], "valid")
    wanted = {f"{'train' if part == 'training' else part}-{metric}": value for part, metric, value, _ in judge.eval_train() + judge.eval_valid()}
    found = last_of(config)
    equal(found.keys(), wanted.keys(), "metrics")
    for name, value in wanted.items():
        check(abs(found[name] - value) <= 1e-12 * max(1, abs(value)), f"{name} of {ranks} ranks: {found[name]!r}, of all rows {value!r}")


for name, (params, loop) in CASES.items():
    add_test(f"metrics_of_ranks_cover_all_rows_with_{name}", metrics_of_all_rows, params, loop)


@test
def a_set_may_have_fewer_rows_than_there_are_ranks():
    config = config_of("few", sets={"train": "train", "few": "few"}, threads=1)
    finish(3, config)
    check(0 <= last_of(config)["few-binary_logloss"] < 2, f"metrics: {last_of(config)}")


@test
def a_killed_rank_ends_all_ranks_within_seconds():
    config = config_of("dies", rounds=100000, every=100000, threads=1)
    job = start_ranks(3, config)
    wait_for_reports(run_dir_of(config), 3, job, 60)
    ranks = job.wait_for_ranks(3)
    began = time.monotonic()
    kill([ranks[1]])
    code = job.wait(30)
    took = time.monotonic() - began
    check(code not in (FINISHED, STOPPED) and took < 15, f"exit code {code} after {took:.1f} s", job)


@test
def a_rank_that_hangs_in_a_round_is_named_by_the_others():
    config = config_of("hangs", rounds=100000, every=100000, threads=1)
    config.write_text(config.read_text() + "[failure]\ncollective_timeout = 2\n")
    job = start_ranks(2, config)
    wait_for_reports(run_dir_of(config), 3, job, 60)
    kill([job.wait_for_ranks(2)[1]], signal.SIGSTOP)
    job.code = job.wait(30)
    check_exit(job, FAILED)
    check("waited 2 s for rank 1" in job.err, "the rank that hangs is not named", job)


@test
def a_run_continues_with_more_rounds_and_other_ranks():
    config = config_of("more", rounds=6, every=100, threads=1)
    finish(2, config)
    first = model_of(config)
    config.write_text(config.read_text().replace("num_boost_round = 6", "num_boost_round = 10") + "[scaling]\non_resize = keep_batch\n")
    job = finish(3, config)
    trees = [text.split("Tree=")[1:] for text in (first, model_of(config))]
    equal(len(trees[1]), 10, "trees", job)
    check(trees[1][:5] == trees[0][:5], "the first trees have changed", job)
    check(last_of(config)["train-binary_logloss"] < reports(run_dir_of(config))[5]["train-binary_logloss"], "the loss does not decrease after the continuation", job)
    check_iterations(run_dir_of(config), 10)


@test
def a_run_of_no_rounds_continues_like_a_new_run():
    for name in ("binary", "dart"):
        params = DRAWING.get(name, PLAIN)
        fresh, empty = config_of("fresh", params), config_of("empty", params, rounds=0)
        finish(1, fresh)
        finish(1, empty)
        text = empty.read_text()
        empty.write_text(text.replace("num_boost_round = 0", f"num_boost_round = {ROUNDS}"))
        check(empty.read_text() != text, f"the config has no num_boost_round = 0: {text}")
        job = finish(1, empty)
        check(model_of(empty) == model_of(fresh), f"{name}: the model differs from a new run's", job)


# ---- stops and kills leave the same bytes -----------------------------------------------------------------------------------------------------------


def interrupt(ranks, config, signal_of_all=None):
    """Starts or continues the run. After some rounds one rank gets a stop signal, or all ranks get `signal_of_all`."""
    before = report_count(run_dir_of(config))
    job = run_started(ranks, config)
    wait_for_reports(run_dir_of(config), before + random.randint(1, 4), job, 60)
    pids = job.wait_for_ranks(ranks)
    if job.ended():
        return
    kill(pids.values() if signal_of_all else [pids[ranks - 1]], signal_of_all or signal.SIGUSR1)
    job.code = job.wait(60)
    if not signal_of_all:
        check(job.code in (STOPPED, FINISHED), f"exit code {job.code}", job)


def run_started(ranks, config):
    return Job([TRAINRT, "--config", config]) if ranks == 1 else start_ranks(ranks, config)


def disturbed_run(ranks, params, loop, rounds, threads):
    """Returns the config of a run that was stopped or killed at least twice. On a busy machine a run may finish before the signal."""
    for number in range(5):
        config = config_of(f"disturbed_{number}", params, rounds, every=3, threads=threads, **loop)
        for end in (None, signal.SIGKILL, None):
            interrupt(ranks, config, end)
        finish(ranks, config)
        if len(attempts(run_dir_of(config))) > 2:
            return config
    raise Failure("every run finished before it was disturbed")


def exact(ranks, params, loop, rounds=60):
    threads = 2 if ranks == 1 else 1
    quiet = config_of("quiet", params, rounds, every=3, threads=threads, **loop)
    finish(ranks, quiet)
    disturbed = disturbed_run(ranks, params, loop, rounds, threads)
    check(model_of(disturbed) == model_of(quiet), "the model differs from the undisturbed run's")
    equal(reported_metrics(run_dir_of(disturbed)), reported_metrics(run_dir_of(quiet)), "metrics")


for ranks, name in ((1, "binary"), (2, "weights"), (2, "classes"), (2, "categories"), (3, "queries"), (1, "doubles"), (1, "init_scores_of_classes"),
                    (2, "init_score")):
    add_test(f"stopped_and_killed_on_{ranks}_ranks_the_model_has_the_same_bytes_with_{name}", exact, ranks, *CASES[name])
for ranks, name in ((2, "bagging"), (1, "halves"), (2, "columns"), (2, "goss"), (1, "dart"), (1, "rf"), (1, "dart_in_capitals"),
                    (1, "thresholds_in_capitals"), (1, "gradients_in_capitals"), (1, "goss_in_quotation_marks")):
    add_test(f"stopped_and_killed_on_{ranks}_ranks_the_model_has_the_same_bytes_with_{name}", exact, ranks, DRAWING[name], {}, 30)
for name in ("goss", "dart"):
    add_test(f"stopped_and_killed_on_1_ranks_the_model_has_the_same_bytes_with_{name}_and_init_score", exact, 1, DRAWING[name], {"init_score": "m"}, 30)
add_test("stopped_and_killed_on_2_ranks_the_model_has_the_same_bytes_with_random_labels", exact, 2, RANK_DRAWS, {"label": "c", "group": "q"}, 30)
add_test("stopped_and_killed_on_1_ranks_the_model_has_the_same_bytes_with_drawn_queries", exact, 1, QUERIES_DRAWN, {"label": "c", "group": "q"}, 30)


@test
def early_stopping_ends_in_the_round_of_the_library():
    params = {**PLAIN, "metric": "auc", "learning_rate": 0.6}
    config = config_of("early", params, rounds=200, early_stopping_rounds=5)
    job = finish(1, config)
    _, found, booster = own_training(params, {}, 200, [lightgbm.early_stopping(5, verbose=False)])
    check(0 < booster.best_iteration < 150, f"the library's own best iteration is {booster.best_iteration}")
    equal(len(reports(run_dir_of(config))), len(found["valid"]["auc"]), "rounds", job)
    state = state_of(run_dir_of(config))
    equal(int.from_bytes(state["best_round"][2], "little") + 1, booster.best_iteration, "the best iteration", job)


def predictions_of(config, *words, ranks=1):
    out = config.parent / "predicted.npz"
    rank_words = ["-n", ranks] if ranks > 1 else []
    check_exit(run([TRAINRT, "predict", run_dir_of(config), "-o", out, "--force", f"--lightgbm.library={_packages}", *rank_words, *words]), FINISHED)
    return np.load(out)["prediction"]


@test
def predictions_equal_those_of_the_librarys_own_python():
    table = np.load(_data / "valid.npz")
    np.savez(_data / "inputs.npz", x=table["x"], k=table["k"])  # without labels
    for name in ("classes", "categories", "init_score"):  # predictions neither need nor use init_score
        params, loop = CASES[name]
        config = config_of(name, params, threads=1, **loop)
        finish(2, config)
        columns = np.column_stack([table[field.strip()] for field in loop.get("features", "x").split(",")])
        wanted = lightgbm.Booster(model_str=model_of(config)).predict(columns)
        for ranks in (1, 3):
            found = predictions_of(config, f"--data.new.source={_data / 'inputs.npz'}", "--dataset", "new", ranks=ranks)
            check(found.tobytes() == wanted.tobytes(), f"predictions of {name} on {ranks} ranks differ")


@test
def predictions_after_early_stopping_use_the_best_rounds():
    config = config_of("best", {**PLAIN, "metric": "auc", "learning_rate": 0.6}, rounds=200, early_stopping_rounds=5)
    finish(1, config)
    best = int.from_bytes(state_of(run_dir_of(config))["best_round"][2], "little") + 1
    wanted = lightgbm.Booster(model_str=model_of(config)).predict(np.load(_data / "valid.npz")["x"], num_iteration=best)
    check(predictions_of(config, "--dataset", "valid").tobytes() == wanted.tobytes(), f"predictions of {best} rounds differ")


# ---- errors -------------------------------------------------------------------------------------------------------


def refused(words, ranks=1, **change):
    config = config_of("refused", threads=1, **change)
    job = run([TRAINRT, "--config", config]) if ranks == 1 else run_ranks(ranks, config)
    check_exit(job, USAGE)
    for word in [words] if isinstance(words, str) else words:
        check(word in job.out + job.err, f"the error lacks {word!r}", job)


@test
def invalid_parameters_are_errors_that_name_them():
    refused(["[loop] num_leafs", "did you mean 'num_leaf"], params={**PLAIN, "num_leafs": 3})
    refused(["[loop] n_estimators", "num_boost_round"], params={**PLAIN, "n_estimators": 3})
    refused(["eta", "learning_rate", "same parameter"], params={**PLAIN, "eta": 0.1, "learning_rate": 0.1})
    refused(["linear_tree", "all rows of linear trees at once"], params={**PLAIN, "linear_tree": True})
    refused(["linear_tree", "all rows of linear trees at once"], params={**PLAIN, "linear_tree": "TRUE"})
    refused("Unknown objective type name: binery", params={**PLAIN, "objective": "binery"})
    for custom in ("custom", "None"):
        refused("function in Python", params={**PLAIN, "objective": custom})
    refused("[0, 3)", params={"objective": "multiclass", "num_class": 3}, label="k", features="x")
    for learner in ("feature", "Feature_Parallel"):
        refused(["tree_learner = feature", "all rows"], ranks=2, params={**PLAIN, "tree_learner": learner})
    for learner in ("serial", "Serial", '"SERIAL"'):
        refused(["tree_learner = serial", "one rank"], ranks=2, params={**PLAIN, "tree_learner": learner})
    refused(["auc_mu", "binary_logloss"], ranks=2, params={"objective": "multiclass", "num_class": 3, "metric": "auc_mu"}, label="c")


@test
def invalid_data_is_an_error_that_names_it():
    refused(["label", "z"], label="z")
    refused(["features", "u"], features="x, u")
    refused("fewer ranks", ranks=3, sets={"train": "tiny"})
    table = dict(np.load(_data / "valid.npz"))
    table["w"][7] = -0.5
    np.savez(_data / "negative.npz", **table)
    for sets in ({"train": "negative"}, {"train": "train", "valid": "negative"}):
        refused([f"[data.{list(sets)[-1]}] weight 'w' of sample 7 is -0.5", "finite and not negative"], sets=sets, weight="w")


@test
def an_invalid_init_score_is_named():
    table = dict(np.load(_data / "valid.npz"))
    table["m"][7] = np.inf
    np.savez(_data / "infinite.npz", **{**table, "ms": table["m"]})
    for sets in ({"train": "infinite"}, {"train": "train", "valid": "infinite"}):
        refused([f"[data.{list(sets)[-1]}] init_score 'm' of sample 7 is inf", "finite"], sets=sets, init_score="m")
    classes = {"objective": "multiclass", "num_class": 3}
    refused("field 'ms', which [loop] init_score names, has 3 numbers per row, but must have one", init_score="ms")
    refused("field 'm', which [loop] init_score names, has 1 number per row, but must have 3, one per class", ranks=2, params=classes, label="c", init_score="m")
    refused(["[data.valid] field 'ms'", "1 numbers per row, but in [data.train] 3"], sets={"train": "train", "valid": "infinite"}, params=classes, label="c", init_score="ms")
    refused(["boosting = rf", "do not support init_score"], params=DRAWING["rf"], init_score="m")
    refused(["[loop] base_margin", "init_score"], base_margin="m")
    refused(["[loop] label_lower_bound", "no objective that uses bounds"], label_lower_bound="m", label_upper_bound="r")


@test
def a_continued_run_refuses_an_added_init_score():
    config = config_of("more_scores", rounds=3, threads=1)
    finish(1, config)
    config.write_text(config.read_text().replace("[loop]\n", "[loop]\ninit_score = m\n").replace("num_boost_round = 3", "num_boost_round = 4"))
    job = run([TRAINRT, "--config", config])
    check_exit(job, USAGE)
    check("init_score is 'm', but was ''" in job.err, "the error does not name init_score", job)


@test
def a_missing_library_is_named():
    refused(["[lightgbm] library", "lib_lightgbm.so"], library=_data)
    refused(["pip install lightgbm"], library=_data / "none.so")
    refused(["not a library of lightgbm"], library="/lib/x86_64-linux-gnu/libz.so.1")


@test
def a_single_class_is_learned_as_by_the_library():
    np.savez(_data / "same.npz", x=np.load(_data / "train.npz")["x"], y=np.ones(TRAIN.stop, "f4"))
    config = config_of("same", sets={"train": "same"}, threads=1)
    finish(2, config)
    equal(last_of(config)["train-auc"], 1, "the area under a curve of one class")


main(setup)
