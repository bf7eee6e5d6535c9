"""Runs of train.function = xgboost, compared with XGBoost's own Python on the same generated rows, with any version of XGBoost."""
import json
import random

from harness import *  # noqa: F403

os.environ["OMP_WAIT_POLICY"] = "passive"  # threads that wait for a busy core do not spin
ROUNDS = 12
BINARY = {"objective": "binary:logistic", "eval_metric": "logloss,auc"}
SURVIVAL = {"objective": "survival:aft", "eval_metric": "aft-nloglik", "aft_loss_distribution": "logistic", "aft_loss_distribution_scale": 1.2}
BOUNDS = {"label": "", "label_lower_bound": "lo", "label_upper_bound": "hi"}
# {name of a case: (parameters of XGBoost, keys of [loop] that assign fields)}
CASES = {
    "binary": (BINARY, {}),
    "weights": ({"objective": "reg:absoluteerror", "eval_metric": "mae"}, {"label": "r", "weight": "w"}),
    "classes": ({"objective": "multi:softprob", "num_class": 3, "eval_metric": "mlogloss,merror"}, {"label": "c"}),
    "categories": (BINARY, {"features": "x, k", "categorical": "k"}),
    "queries": ({"objective": "rank:ndcg", "eval_metric": "ndcg@3,ndcg"}, {"label": "c", "group": "q"}),
    "doubles": ({"objective": "reg:squarederror", "max_bin": 64}, {"label": "r", "features": "d, x"}),
    "dart": ({**BINARY, "booster": "dart", "rate_drop": 0.4}, {}),
    "leaves": ({**BINARY, "grow_policy": "lossguide", "max_leaves": 9, "max_depth": 0}, {}),
    "trees": ({**BINARY, "tree_method": "exact"}, {"matrix": "plain"}),
    "approximate": ({**BINARY, "tree_method": "approx"}, {"matrix": "plain"}),
    "linear": ({**BINARY, "booster": "gblinear", "updater": "coord_descent"}, {"matrix": "plain"}),
    "survival": (SURVIVAL, BOUNDS),
    "plain_survival": (SURVIVAL, {**BOUNDS, "matrix": "plain"}),
    "margins": (BINARY, {"base_margin": "m"}),
    "margins_of_classes": ({"objective": "multi:softprob", "num_class": 3, "eval_metric": "mlogloss,merror"}, {"label": "c", "base_margin": "ms"}),
    "linear_margins": ({**BINARY, "booster": "gblinear", "updater": "coord_descent"}, {"matrix": "plain", "base_margin": "m"}),
}
# Cases that draw random numbers in each round.
DRAWING = {
    "rows": {**BINARY, "subsample": 0.6},
    "columns": {**BINARY, "colsample_bytree": 0.7, "colsample_bylevel": 0.8, "colsample_bynode": 0.7},
    "forest": {**BINARY, "num_parallel_tree": 3, "subsample": 0.5, "colsample_bynode": 0.6},
    "dart_of_rows": {**BINARY, "booster": "dart", "rate_drop": 0.4, "subsample": 0.6},
    "approximate_columns": {**BINARY, "tree_method": "approx", "matrix": "plain", "colsample_bytree": 0.6, "subsample": 0.7},
    "features": {**BINARY, "booster": "gblinear", "matrix": "plain", "feature_selector": "random"},
}
SIZES = {"train": 900, "valid": 300, "tiny": 2, "one_class": 100}


def write_tables(folder):
    """Writes a table like HIGGS: informative columns with missing values, and columns for weights, classes, categories and queries."""
    import numpy as np
    source = np.random.default_rng(5)
    for name, count in SIZES.items():
        x = source.normal(size=(count, 6)).astype("f4")
        k = source.integers(0, 9, count).astype("i4")
        signal = x[:, 0] * 2 + x[:, 1] * x[:, 2] + np.where(k % 3 == 0, 1.0, -0.5) + source.normal(size=count) * 0.5
        x[source.random(x.shape) < 0.1] = np.nan
        y = np.zeros(count, "f4") if name == "one_class" else (signal > 0).astype("f4")
        np.savez(folder / f"{name}.npz", x=x, k=k, d=source.normal(size=(count, 2)) + signal[:, None] * 0.3, y=y, r=signal.astype("f4"), t=np.where(y > 0, np.nan, y),
                 w=source.uniform(0.5, 2, count).astype("f4"), c=np.digitize(signal, [-1, 1]).astype("f4"), q=np.repeat(np.arange(count), 7)[:count],
                 lo=(lo := np.exp(signal / 4) * (np.arange(count) % 5 > 0)), hi=np.choose(np.arange(count) % 3, [lo, lo + 0.5, np.inf]),
                 m=np.sin(signal), ms=np.stack([np.sin(signal), np.cos(signal), signal * 0.1], 1).astype("f4"))


class XgboostRuns:
    """Runs with one library. `python`: an interpreter that has the package; `library`: the value of [xgboost] library."""

    def __init__(self, python="/usr/bin/python3", library=""):
        self.python, self.library = python, library
        self.data = scratch("data")
        write_tables(self.data)

    def config(self, name, params=BINARY, rounds=ROUNDS, sets=("train", "valid"), every=4, sections=None, threads=1, folder=None, **loop):
        folder = folder or scratch()
        chosen = {key: value for key, value in {"features": "x", "label": "y", **loop}.items() if value != ""}
        return write_config(folder / f"{name}.ini", {
            "run": {"name": name, "storage_path": folder / "runs", "seed": 7}, "train": {"function": "xgboost"},
            "loop": {"nthread": threads, "num_boost_round": rounds, **params, **chosen}, **({"xgboost": {"library": self.library}} if self.library else {}),
            "checkpoint": {"every": f"{every} reports", "num_to_keep": 2}, "failure": {"max_failures": 0}, **(sections or {}),
            **{f"data.{part}": {"source": self.data / f"{where}.npz"} for part, where in (sets.items() if isinstance(sets, dict) else ((one, one) for one in sets))}})

    # ---- the library's own Python on the same rows ----

    def begins(self, part, ranks, group):
        """Returns the first row of each worker, and the end: parts of equal size that do not split a group."""
        import numpy as np
        count = SIZES[part]
        firsts = [count // ranks * rank + min(count % ranks, rank) for rank in range(ranks)]
        if group:
            groups = np.load(self.data / f"{part}.npz")[group]
            for rank, first in enumerate(firsts):
                while 0 < first < count and groups[first] == groups[first - 1]:
                    first += 1
                firsts[rank] = first
        return [*firsts, count]

    def own(self, params, loop, ranks=1, rounds=ROUNDS, stop=0):
        """Returns the bytes of the model without attributes, the values of each metric, and the attributes."""
        chosen = {"features": "x", "label": "y", **loop}
        given = {key: value.split(",") if key == "eval_metric" else value for key, value in params.items()}
        plain = chosen.get("matrix") == "plain"
        if params.get("booster") != "gblinear":
            given.setdefault("tree_method", "hist")
        plan = {"params": {"seed": 7, **given}, "rounds": rounds, "stop": stop, "plain": plain, "fields": [name.strip() for name in chosen["features"].split(",")],
                "label": chosen["label"], "weight": chosen.get("weight", ""), "group": chosen.get("group", ""), **{key: chosen.get(key, "") for key in ("base_margin", "label_lower_bound", "label_upper_bound")},
                "categorical": [name.strip() for name in chosen.get("categorical", "").split(",") if name],
                "begins": {part: self.begins(part, ranks, chosen.get("group")) for part in ("train", "valid")}}
        folder = scratch("own")
        words = [self.python, SOURCE / "tests/frameworks/scripts/xgboost_blocks.py", self.data, json.dumps(plan), folder / "model.ubj"]
        job = run([TRAINRT, "-n", ranks, "--", *words] if ranks > 1 else words, timeout=90, cwd=folder, env={"OMP_NUM_THREADS": 1})
        check_exit(job, FINISHED)
        result = json.loads((folder / "model.ubj.json").read_text())
        return (folder / "model.ubj").read_bytes(), result["found"], result["attributes"]

    def as_in_python(self, params, loop, ranks=1):
        config = self.config("here", params, **loop)
        job = finish(ranks, config)
        model, found, _ = self.own(params, loop, ranks)
        check(len(model) > 500 and model_of(config) == model, f"the model of {ranks} ranks is not that of the library's own Python", job)
        result, wanted = last_of(config), {name: values[-1] for name, values in found.items()}
        if ranks > 1:  # XGBoost 1.7 in Python averages the metric over all workers once more, which changes the last digit
            result, wanted = ({name: float(f"{value:.14g}") for name, value in metrics.items()} for metrics in (result, wanted))
        equal(result, wanted, "metrics", job)

    # ---- checks of the runtime ----

    def exact(self, ranks, params, loop, rounds=40):
        quiet, disturbed = (self.config(name, params, rounds, every=3, **loop) for name in ("quiet", "disturbed"))
        finish(ranks, quiet)
        for end in (None, signal.SIGKILL):
            interrupt(ranks, disturbed, end)
        job = finish(ranks, disturbed)
        check(len(attempts(run_dir_of(disturbed))) > 1, "the run finished before it was disturbed", job)
        check(model_of(disturbed) == model_of(quiet), "the model differs from the undisturbed run's", job)
        equal(reported_metrics(run_dir_of(disturbed)), reported_metrics(run_dir_of(quiet)), "metrics")

    def a_dead_rank_ends_all(self):
        config = self.config("dies", rounds=100000, every=100000)
        job = start_ranks(3, config)
        wait_for_reports(run_dir_of(config), 3, job, 60)
        ranks = job.wait_for_ranks(3)
        began = time.monotonic()
        kill([ranks[1]])
        code = job.wait(30)
        took = time.monotonic() - began
        check(code not in (FINISHED, STOPPED) and took < 15, f"exit code {code} after {took:.1f} s", job)

    def early_stopping(self):
        params = {**BINARY, "eval_metric": "logloss,auc", "learning_rate": 0.6}
        config = self.config("early", params, rounds=200, early_stopping_rounds=5)
        job = finish(1, config)
        model, found, attributes = self.own(params, {}, rounds=200, stop=5)
        check(0 < int(attributes["best_iteration"]) < 150, f"the library's own best iteration is {attributes['best_iteration']}")
        equal(len(reports(run_dir_of(config))), len(found["valid-auc"]), "rounds", job)
        printed = self.output_of_booster(config, "print(booster.best_iteration, booster.best_score)")
        equal([float(word) for word in printed.split()], [float(attributes["best_iteration"]), float(attributes["best_score"])], "best_iteration and best_score", job)

    def predictions_are_those_of_python(self):
        for name, more in (("classes", {}), ("categories", {"early_stopping_rounds": 3, "eta": 1.0}), ("margins_of_classes", {})):
            params, loop = CASES[name]
            config = self.config("predicts", params, 20, **loop, **more)
            finish(1, config)
            fields = loop.get("features", "x").split(", ")
            self.output_of_booster(config, f"""
table = numpy.load({str(self.data / "valid.npz")!r})
columns = numpy.column_stack([table[name] for name in {fields!r}])
rows = xgboost.DMatrix(columns, feature_names=booster.feature_names, feature_types=booster.feature_types, enable_categorical=True,
                       base_margin=table[{loop.get("base_margin", "")!r}] if {"base_margin" in loop} else None)
best = booster.attr("best_iteration")
assert {bool(more)} == (best is not None)
numpy.save({str(config.parent / "wanted.npy")!r}, booster.predict(rows, iteration_range=(0, int(best) + 1 if best else 0)))""")
            for ranks in (1, 3):
                out = config.parent / "predicted.npz"
                words = ["predict", run_dir_of(config), "--dataset", "valid", "-o", out, "--force", *([f"--xgboost.library={self.library}"] if self.library else [])]
                job = run([TRAINRT, *words, *(["-n", ranks] if ranks > 1 else [])])
                check_exit(job, FINISHED)
                self.output_of_booster(config, f"""
found, wanted = numpy.load({str(out)!r})["prediction"], numpy.load({str(config.parent / "wanted.npy")!r})
assert found.shape == wanted.shape and len(found) == {SIZES["valid"]} and (found == wanted).all(), (found, wanted)""")

    def output_of_booster(self, config, text):
        """Returns the output of Python lines that use the exported model `booster`."""
        path = scratch("export") / "model.ubj"
        check_exit(run([TRAINRT, "export", run_dir_of(config), "-o", path]), FINISHED)
        job = run([self.python, "-c", f"import xgboost, numpy\nbooster = xgboost.Booster(model_file={str(path)!r})\n{text}"], cwd=path.parent)
        check_exit(job, FINISHED)
        return job.out


def finish(ranks, config, timeout=90):
    job = run([TRAINRT, "--config", config], timeout=timeout) if ranks == 1 else run_ranks(ranks, config, timeout=timeout)
    check_exit(job, FINISHED)
    return job


def interrupt(ranks, config, signal_of_all=None):
    """Starts or continues the run. After some rounds, stops it by a signal to one rank, or kills all ranks."""
    before = report_count(run_dir_of(config))
    job = Job([TRAINRT, "--config", config]) if ranks == 1 else start_ranks(ranks, config)
    wait_for_reports(run_dir_of(config), before + random.randint(1, 4), job, 60)
    pids = job.ranks()
    if not job.ended() and pids:
        kill(pids.values() if signal_of_all else [pids[max(pids)]], signal_of_all or signal.SIGUSR1)
    job.code = job.wait(60)
    if not signal_of_all:
        check(job.code in (STOPPED, FINISHED), f"exit code {job.code}", job)


def model_of(config):
    return (checkpoints(run_dir_of(config))[-1] / "files/model.ubj").read_bytes()


def last_of(config):
    return {key: value for key, value in reports(run_dir_of(config))[-1].items() if not key.startswith("_")}
