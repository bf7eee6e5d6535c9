#!/usr/bin/python3
"""trainrt.data.preprocessors: the same numbers as scikit-learn and pandas, in C++ and Python and after JSON; errors of use."""
import inspect
import json
import math
import os
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.program_runs import *  # noqa: E402,F403

sys.path.insert(0, str(BUILD / "python"))
os.environ.pop("TRAINRT_FD", None)
os.environ["TRAINRT_EXECUTABLE"] = str(TRAINRT)
import numpy  # noqa: E402
from trainrt import data  # noqa: E402
from trainrt.data import preprocessors as prep  # noqa: E402

try:
    import pandas
    import sklearn.preprocessing
    import sklearn.feature_extraction.text
    import sklearn.impute
except ImportError:
    sklearn = pandas = None

RANDOM = numpy.random.default_rng(5)
ROWS = 500


def need_sklearn():
    if sklearn is None:
        skip("scikit-learn and pandas are not installed (packages python3-sklearn and python3-pandas)")


def numbers():
    """Returns real columns a, b (with NaN) and c (constant), the integer column n and the f32 column f."""
    b = RANDOM.normal(3, 1e-3, ROWS)
    b[::7] = math.nan
    return {"a": RANDOM.lognormal(size=ROWS), "b": b, "c": numpy.full(ROWS, 0.1), "n": RANDOM.integers(-5, 5, ROWS), "f": RANDOM.random(ROWS).astype("f4")}


def matrix(columns, names):
    return numpy.stack([columns[name].astype("f8") for name in names], axis=1)


def made(preprocessor, columns, names):
    """Returns the result of fit_transform() of a dataset as a matrix."""
    dataset = preprocessor.fit_transform(data.from_numpy(columns))
    batch = dataset.take_batch(ROWS)
    return numpy.concatenate([numpy.asarray(batch[name], "f8").reshape(ROWS, -1) for name in names], axis=1)


def close(found, expected, what, tolerance=1e-12):
    expected = numpy.asarray(expected, "f8")
    check(found.shape == expected.shape and numpy.allclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True),
          f"{what}: {found[:3]} is not {expected[:3]}")


# ---- scikit-learn ------------------------------------------------------------------------------------------------------------


@test
def scalers_agree_with_scikit_learn():
    need_sklearn()
    names = ["a", "b", "n"]
    for ours, theirs in ((prep.StandardScaler(names), sklearn.preprocessing.StandardScaler()), (prep.MinMaxScaler(names), sklearn.preprocessing.MinMaxScaler()),
                         (prep.MaxAbsScaler(names), sklearn.preprocessing.MaxAbsScaler()), (prep.RobustScaler(names), sklearn.preprocessing.RobustScaler()),
                         (prep.RobustScaler(names, (0.1, 0.7)), sklearn.preprocessing.RobustScaler(quantile_range=(10, 70)))):
        columns = numbers()
        close(made(ours, columns, names), theirs.fit_transform(matrix(columns, names)), type(ours).__name__, 1e-9)


@test
def constant_columns_agree_with_scikit_learn():
    need_sklearn()
    columns = numbers()
    for name in ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"):
        close(made(getattr(prep, name)(["c"]), columns, ["c"]), getattr(sklearn.preprocessing, name)().fit_transform(matrix(columns, ["c"])), name)


@test
def normalizer_agrees_with_scikit_learn():
    need_sklearn()
    columns, names = numbers(), ["a", "n", "c"]
    for each in columns.values():
        each[3] = 0
    for norm in ("l1", "l2", "max"):
        close(made(prep.Normalizer(names, norm), columns, names), sklearn.preprocessing.normalize(matrix(columns, names), norm), norm)


@test
def imputers_agree_with_scikit_learn():
    need_sklearn()
    columns = numbers()
    columns["b"] = numpy.round(columns["b"], 3)
    for strategy, fill in (("mean", None), ("most_frequent", None), ("constant", 7.5)):
        theirs = sklearn.impute.SimpleImputer(strategy=strategy, fill_value=fill)
        close(made(prep.SimpleImputer(["b", "n"], strategy, fill), columns, ["b", "n"]), theirs.fit_transform(matrix(columns, ["b", "n"])), strategy)


@test
def encoders_agree_with_scikit_learn():
    need_sklearn()
    words = numpy.array(["Ulm", "Bonn", "Köln", "Essen"], object)[RANDOM.integers(0, 4, ROWS)]
    columns = {"n": RANDOM.integers(-3, 3, ROWS), "w": words}
    table = pandas.DataFrame(columns)
    close(made(prep.OrdinalEncoder(["n", "w"]), columns, ["n", "w"]), sklearn.preprocessing.OrdinalEncoder().fit_transform(table), "OrdinalEncoder")
    close(made(prep.OneHotEncoder(["n", "w"]), columns, ["n", "w"]), sklearn.preprocessing.OneHotEncoder().fit_transform(table).toarray(), "OneHotEncoder")
    close(made(prep.LabelEncoder("w"), columns, ["w"]), sklearn.preprocessing.LabelEncoder().fit_transform(words)[:, None], "LabelEncoder")
    close(made(prep.Categorizer(["w"]), columns, ["w"]), pandas.Categorical(words).codes[:, None], "Categorizer")
    lists = RANDOM.integers(0, 9, (ROWS, 3))
    theirs = sklearn.feature_extraction.text.CountVectorizer(analyzer=lambda row: row).fit(lists.tolist())
    close(made(prep.MultiHotEncoder(["l"]), {"l": lists}, ["l"]), theirs.transform(lists.tolist()).toarray(), "MultiHotEncoder")


@test
def count_vectorizer_agrees_with_scikit_learn():
    need_sklearn()
    texts = numpy.array([" ".join(f"w{word}" for word in RANDOM.zipf(1.5, RANDOM.integers(1, 9)) % 40) for _ in range(ROWS)], object)
    theirs = sklearn.feature_extraction.text.CountVectorizer(analyzer=str.split).fit(texts)
    counts = theirs.transform(texts).toarray()
    order = sorted(range(counts.shape[1]), key=lambda at: (-counts[:, at].sum(), theirs.get_feature_names_out()[at]))
    close(made(prep.CountVectorizer(["t"]), {"t": texts}, ["t"]), counts[:, order], "CountVectorizer")
    close(made(prep.CountVectorizer(["t"], max_features=5), {"t": texts}, ["t"]), counts[:, order[:5]], "max_features")


@test
def power_transformer_agrees_with_scikit_learn():
    need_sklearn()
    columns = numbers()
    columns["n"] = columns["n"].astype("f8")
    for method, name in (("yeo-johnson", "n"), ("box-cox", "a")):
        theirs = sklearn.preprocessing.PowerTransformer(method, standardize=False).fit(matrix(columns, [name]))
        close(made(prep.PowerTransformer([name], theirs.lambdas_[0], method), columns, [name]), theirs.transform(matrix(columns, [name])), method, 1e-9)
    for power in (0, 2):
        theirs.lambdas_, theirs.method = numpy.array([float(power)]), "yeo-johnson"
        close(made(prep.PowerTransformer(["n"], power), columns, ["n"]), theirs.transform(matrix(columns, ["n"])), f"power {power}")


@test
def discretizers_agree_with_pandas():
    need_sklearn()
    columns = numbers()
    for right, lowest in ((True, False), (False, False), (True, True)):
        for name in ("a", "b", "n", "c"):
            codes = pandas.cut(pandas.Series(columns[name]), 6, labels=False, right=right)
            found = made(prep.UniformKBinsDiscretizer([name], 6, right=right), columns, [name])
            close(found[:, 0], codes, f"{name}, right={right}")
        edges = [0.2, 0.5, 1, 4]
        codes = pandas.cut(pandas.Series(columns["a"]), edges, labels=False, right=right, include_lowest=lowest)
        close(made(prep.CustomKBinsDiscretizer(["a"], edges, right=right, include_lowest=lowest), columns, ["a"])[:, 0], codes, f"edges, right={right}")


@test
def hashers_choose_the_same_columns_as_rays():
    import hashlib
    place = lambda text, width: int(hashlib.sha256(text.encode()).hexdigest(), 16) % width
    columns = {"a": numpy.arange(ROWS), "b": RANDOM.random(ROWS), "t": numpy.array(["x y y", "", "z"] * ROWS, object)[:ROWS]}
    hashed = made(prep.FeatureHasher(["a", "b"], 3, "h"), columns, ["h"])
    expected = numpy.zeros((ROWS, 3))
    for name in ("a", "b"):
        expected[:, place(name, 3)] += columns[name]
    close(hashed, expected, "FeatureHasher")
    counts = made(prep.HashingVectorizer(["t"], 5), columns, ["t"])
    for row, text in zip(counts, columns["t"]):
        expected = numpy.zeros(5)
        for word in text.split(" "):
            expected[place(word, 5)] += 1
        equal(row.tolist(), expected.tolist(), "HashingVectorizer")


# ---- C++ and Python ----------------------------------------------------------------------------------------------------------

EVERY = (
    lambda: prep.StandardScaler(["a", "b", "c", "n", "f"]), lambda: prep.MinMaxScaler(["a", "b", "f"], output_columns=["x", "y", "z"]),
    lambda: prep.MaxAbsScaler(["a", "n", "f"]), lambda: prep.RobustScaler(["a", "b", "f"]), lambda: prep.Normalizer(["a", "n", "f"]),
    lambda: prep.Normalizer(["a", "b", "f"], "max"), lambda: prep.Normalizer(["a", "n"], "l1", output_columns=["x", "y"]), lambda: prep.SimpleImputer(["b", "n"]),
    lambda: prep.SimpleImputer(["t"], "most_frequent"), lambda: prep.SimpleImputer(["t"], "constant", "none"), lambda: prep.LabelEncoder("t"),
    lambda: prep.OneHotEncoder(["t", "n"], max_categories={"n": 4}), lambda: prep.OrdinalEncoder(["t", "n"]), lambda: prep.Categorizer(["t", "b"]),
    lambda: prep.MultiHotEncoder(["l"]), lambda: prep.UniformKBinsDiscretizer(["a", "n"], {"a": 3, "n": 9}), lambda: prep.CustomKBinsDiscretizer(["a"], [0, 1, 2, 1e9]),
    lambda: prep.PowerTransformer(["n", "b", "f"], 0.3), lambda: prep.PowerTransformer(["a", "n"], -0.5, "box-cox"), lambda: prep.FeatureHasher(["a", "n", "f"], 4, "h"),
    lambda: prep.CountVectorizer(["t"], max_features=2), lambda: prep.HashingVectorizer(["t"], 6), lambda: prep.Concatenator(["a", "n", "l"], flatten=True),
    lambda: prep.Concatenator(["n", "f"], "v", numpy.float32), lambda: prep.Chain(prep.SimpleImputer(["b"]), prep.StandardScaler(["b", "f"]), prep.Concatenator(["b", "f"])),
)


def mixed():
    return {**numbers(), "t": numpy.array(["a b", "", "b", "täxt"], object)[RANDOM.integers(0, 4, ROWS)], "l": RANDOM.integers(0, 5, (ROWS, 2))}


@test
def each_preprocessor_has_the_same_values_after_json():
    columns = mixed()
    dataset = data.from_numpy(columns)
    for make in EVERY:
        fitted = make().fit(dataset)
        again = prep.Preprocessor.deserialize(fitted.serialize())
        equal(type(again), type(fitted), "type")
        equal(again.to_json(), fitted.to_json(), "JSON")
        for name, column in fitted.transform_batch(columns).items():
            check(identical(again.transform_batch(columns)[name], column), f"{fitted!r}: {name} differs")


def identical(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and (a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes())


# All ranks together fit the preprocessors that the lines of `list` describe, and transform all samples with each. Each rank writes the
# fitted preprocessors and all bytes to files.
CPP = r"""
#include <fstream>
#include <trainrt/trainrt.hpp>

using namespace trainrt;

static Table table_of(Dataset& data) {
  Table table;
  for (const auto& batch : data.epoch(0).batches(data.size())) {
    table.samples = batch.size();
    for (const auto& field : data.fields()) {
      Table::Column column{field, {}, {}};
      const auto add = [&column](const TensorView& values) {
        const auto* bytes = static_cast<const std::byte*>(values.data);
        column.values.insert(column.values.end(), bytes, bytes + values.bytes());
      };
      for (std::size_t i = 0; field.varies && i < batch.size(); ++i) {
        add(batch.varying(field.name, i));
        column.ends.push_back(column.values.size());
      }
      if (!field.varies) add(batch.field(field.name));
      table.columns.push_back(std::move(column));
    }
  }
  return table;
}

void fits(Context& ctx) {
  auto data = ctx.dataset("train"), all = ctx.dataset("all");
  const auto table = table_of(all);
  const auto out = ctx.config<std::string>("out") + std::to_string(ctx.world_rank());
  std::ofstream fitted(out + ".json"), bytes(out + ".bytes", std::ios::binary);
  std::ifstream list(ctx.config<std::string>("list"));
  std::string last;
  for (std::string line; std::getline(list, line);) {
    auto preprocessor = Preprocessor::from_json(line);
    preprocessor.fit(data);
    last = preprocessor.to_json();
    fitted << last << "\n";
    auto changed = table;
    Preprocessor::from_json(last).transform(changed);
    for (const auto& column : changed.columns) {
      bytes << column.field.name << ' ' << name_of(column.field.dtype) << ' ' << to_string(column.field.sample_shape) << ' ' << column.values.size() << '\n';
      bytes.write(reinterpret_cast<const char*>(column.values.data()), static_cast<std::streamsize>(column.values.size()));
    }
  }
  ctx.checkpoint_metadata("{\"preprocessor\": " + last + "}");
  double epoch = 0;
  State state;
  state.value("epoch", epoch);
  ctx.restore(state);
  ctx.report({{"done", 1}});
  ctx.save();
}
TRAINRT_TRAIN_FUNCTION("fits", fits)
"""
_library = None


def library():
    global _library
    if _library is None:
        if shutil.which("g++") is None:
            skip("g++ is not installed")
        folder = scratch()
        (folder / "fits.cpp").write_text(CPP)
        _library = folder / "libfits.so"
        built = run(["g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{SOURCE / 'include'}", folder / "fits.cpp", "-o", _library],
                    timeout=120)
        check(built.code == 0, "the module was not built", built)
    return _library


def in_cpp(ranks, columns, descriptions):
    """Fits the descriptions on `ranks` ranks. Returns the run directory, the fitted preprocessors as JSON, and the bytes of the columns."""
    folder = scratch()
    (folder / "list").write_text("".join(json.dumps(each) + "\n" for each in descriptions))
    keys = data.from_numpy(columns)._config(folder)
    keys["source"] = str(keys["source"])
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": library()},
                                               "loop": {"list": folder / "list", "out": folder / "out"}, "data.train": keys, "data.all": {**keys, "split": False}})
    done = run_program(ranks, config)
    check(done.code == 0, "the run failed", done)
    for rank in range(1, ranks):
        for suffix in ("json", "bytes"):
            check((folder / f"out{rank}.{suffix}").read_bytes() == (folder / f"out0.{suffix}").read_bytes(), f"the {suffix} of rank {rank} differs from rank 0")
    return run_dir_of(config), (folder / "out0.json").read_text().splitlines(), (folder / "out0.bytes").read_bytes()


def as_cpp_writes(columns):
    names = {"f8": "f64", "f4": "f32", "i8": "i64", "u1": "u8"}
    for name, column in columns.items():
        if column.dtype == object:
            values = "".join(column).encode()
            yield f"{name} u8 [] {len(values)}\n".encode() + values
        else:
            shape = ", ".join(map(str, column.shape[1:]))
            yield f"{name} {names[column.dtype.str[1:]]} [{shape}] {column.nbytes}\n".encode() + column.tobytes()


@test
def cpp_and_python_fit_and_transform_to_the_same_bits_on_1_2_and_3_ranks():
    columns = mixed()
    dataset = data.from_numpy(columns)
    fitted = [make().fit(dataset) for make in EVERY]
    expected = b"".join(part for each in fitted for part in as_cpp_writes(each.transform_batch(columns)))
    for ranks in (1, 2, 3):
        run_dir, found, made_bytes = in_cpp(ranks, columns, [make().to_dict() for make in EVERY])
        for ours, theirs in zip(fitted, found, strict=True):
            equal(json.loads(theirs).get("stats"), ours.to_dict().get("stats"), f"stats of {ours!r} on {ranks} ranks")
        if made_bytes != expected:
            for each, theirs in zip(fitted, found):
                for part in as_cpp_writes(each.transform_batch(columns)):
                    check(part in made_bytes, f"column '{part.split()[0].decode()}' of {each!r} differs in C++")
        check(made_bytes == expected, f"the columns of C++ on {ranks} ranks differ from Python")
        metadata = json.loads((checkpoints(run_dir)[-1] / "manifest.json").read_text())["metadata"]
        equal(prep.Preprocessor.from_dict(metadata["preprocessor"]).to_json(), fitted[-1].to_json(), "the preprocessor in the checkpoint's metadata")



class Halved(prep.Preprocessor):
    """A preprocessor that a user has written for Ray's API."""

    def _fit(self, dataset):
        self.maximum = max(row["a"] for row in dataset.iter_rows())

    def _transform_numpy(self, batch):
        return {**batch, "a": batch["a"] / self.maximum}


@test
def a_preprocessor_with_the_methods_of_rays_class_is_fitted_and_applied():
    dataset = data.from_items([{"a": 1.0}, {"a": 4.0}])
    equal([row["a"] for row in Halved().fit_transform(dataset).iter_rows()], [0.25, 1.0], "transformed rows")


@test
def transforms_of_torchvision_are_applied_to_each_image_or_to_a_batch():
    try:
        import torch
    except ImportError:
        skip("PyTorch is not installed (package python3-torch)")
    images = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4, 1)

    def to_tensor(image):
        if isinstance(image, torch.Tensor):
            raise TypeError("takes arrays only")
        return torch.from_numpy(image).permute(2, 0, 1)

    made = prep.TorchVisionPreprocessor(["image"], to_tensor).transform_batch({"image": images, "y": numpy.arange(2)})
    check(numpy.array_equal(made["image"], images.transpose(0, 3, 1, 2)), f"images of shape {made['image'].shape}")
    both = prep.TorchVisionPreprocessor(["image"], lambda batch: batch * 2, output_columns=["doubled"], batched=True).transform_batch({"image": images})
    check(numpy.array_equal(both["doubled"], images * 2) and both["image"] is not None, "columns of a batch")
    raises(ValueError, "one output column", of=lambda: prep.TorchVisionPreprocessor(["image"], to_tensor, output_columns=["a", "b"]))


@test
def a_checkpoint_of_a_model_holds_its_preprocessor():
    try:
        import xgboost
    except ImportError:
        skip("XGBoost is not installed (package python3-xgboost)")
    from trainrt.train.xgboost import XGBoostCheckpoint
    fitted = prep.StandardScaler(["a", "b"]).fit(data.from_numpy(numbers()))
    booster = xgboost.train({}, xgboost.DMatrix(numpy.arange(8.0).reshape(8, 1), label=numpy.arange(8.0)), 2)
    checkpoint = XGBoostCheckpoint.from_model(booster, preprocessor=fitted)
    equal(checkpoint.get_preprocessor().to_json(), fitted.to_json(), "preprocessor")
    equal(checkpoint.get_model().num_boosted_rounds(), 2, "rounds")

@test
def all_ranks_of_a_program_fit_a_shard_together():
    folder, columns = scratch(), mixed()
    keys = data.from_numpy(columns)._config(folder)
    command = python("from trainrt.data import preprocessors as prep\n"
                     "text = prep.Chain(prep.StandardScaler(['a', 'b']), prep.RobustScaler(['f']), prep.OneHotEncoder(['t'])).fit(ctx.dataset('train')).to_json()\n"
                     f"open(f'{folder}/fitted{{ctx.world_rank}}', 'w').write(text)\n"
                     "ctx.restore(trainrt.State())\n")
    expected = prep.Chain(prep.StandardScaler(["a", "b"]), prep.RobustScaler(["f"]), prep.OneHotEncoder(["t"])).fit(data.from_numpy(columns)).to_json()
    done = run_program(2, program_config(command, **{"data.train": keys}))
    check(done.code == 0, "the run failed", done)
    for rank in (0, 1):
        equal((folder / f"fitted{rank}").read_text(), expected, f"rank {rank}")


# ---- the key preprocess ------------------------------------------------------------------------------------------------------

# Writes column x of each epoch to a file, in the order of the samples.
READS = """state = trainrt.State()
state["epoch"] = 0
ctx.restore(state)
while state["epoch"] < ctx.config("epochs", 1):
    batches = ctx.dataset("train").iter_batches(batch_size=7, remainder="uneven", epoch=state["epoch"])
    rows = [(int(i), x.tolist()) for batch in batches for i, x in zip(batch["i"], batch["x"])]
    open(f"{folder}/epoch{state['epoch']}-{ctx.world_rank}", "w").write(repr(rows))
    state["epoch"] += 1
    ctx.report({"epoch": state["epoch"]})
ctx.save()
"""


def run_with_key(folder, epochs, preprocess, ranks=2, **more):
    command = python(f"folder = {str(folder)!r}\n" + READS)
    config = program_config(command, loop={"epochs": epochs}, folder=folder, **{"data.train": {"source": folder / "t.csv", "preprocess": preprocess, **more}, "scaling": {"on_resize": "keep_global_batch"}})
    return config, run_program(ranks, config)


def rows_of(folder, epoch):
    return numpy.array([row for _, row in sorted(pair for path in folder.glob(f"epoch{epoch}-*") for pair in eval(path.read_text()))])


def write_rows(folder, factor):
    values = factor * (numpy.arange(50) * 7 % 9)
    (folder / "t.csv").write_text("i,x\n" + "".join(f"{i},{value}\n" for i, value in enumerate(values)))
    return values


@test
def the_key_preprocess_is_fitted_at_the_start_and_restarts_keep_its_statistics():
    folder = scratch()
    x = write_rows(folder, 1)
    config, job = run_with_key(folder, 1, "StandardScaler(columns: x)")
    check(job.code == 0, "the run failed", job)
    close(rows_of(folder, 0), (x - x.mean()) / x.std(), "the first epoch")
    metadata = json.loads((checkpoints(run_dir_of(config))[-1] / "manifest.json").read_text())["metadata"]
    fitted = prep.Preprocessor.from_dict(metadata["preprocessors"]["train"])
    close(numpy.array(list(fitted.stats_.values())), [x.mean(), x.std()], "statistics in the checkpoint's metadata")
    others = write_rows(folder, 3)
    _, job = run_with_key(folder, 2, "StandardScaler(columns: x)", ranks=3)
    check(job.code == 0, "the restart failed", job)
    close(rows_of(folder, 1), (others - x.mean()) / x.std(), "the epoch after the restart")
    _, job = run_with_key(folder, 3, "MinMaxScaler(columns: x)")
    check(job.code == 0, "the restart with another preprocessor failed", job)
    close(rows_of(folder, 2), others / others.max(), "another preprocessor is fitted")
    # Now the key names a file with a fitted preprocessor.
    (folder / "scaler.json").write_text(fitted.to_json())
    other = scratch()
    write_rows(other, 3)
    _, job = run_with_key(other, 1, f"@{folder}/scaler.json", ranks=1)
    check(job.code == 0, "the run with a file failed", job)
    close(rows_of(other, 0), (others - x.mean()) / x.std(), "statistics from a file")


@test
def an_invalid_key_preprocess_is_an_error_that_names_the_cause():
    folder = scratch()
    write_rows(folder, 1)
    (folder / "bad.json").write_text('{"preprocessor": "StandardScaler", "version": 1, "parameters": {"columns": ["x"]}}')
    for text, words in (("StandardScalar(columns: x)", "did you mean 'StandardScaler'"), ("StandardScaler(columns: y)", "no field 'y'"),
                        (f"@{folder}/bad.json", "not fitted"), (f"@{folder}/none.json", "none.json")):
        _, job = run_with_key(folder, 1, text, ranks=1)
        check(job.code == 64 and words in job.err and "[data.train]" in job.err, f"{text}: the message lacks {words}, or the exit code is not 64", job)


# ---- datasets, and errors of use -------------------------------------------------------------------------------------------


@test
def samples_mapped_in_python_are_fitted_like_files():
    columns = mixed()
    plain = data.from_numpy(columns)
    changed = plain.map_batches(lambda batch: dict(batch))
    for make in EVERY:
        equal(make().fit(changed).to_json(), make().fit(plain).to_json(), repr(make()))
    doubled = plain.map_batches(lambda batch: {**batch, "a": batch["a"] * 2})
    equal(prep.MinMaxScaler(["a"]).fit(doubled).stats_["max(a)"], 2 * columns["a"].max(), "maximum of doubled values")
    equal(prep.MinMaxScaler(["a"]).fit(plain.filter(lambda row: row["a"] < 1)).stats_["max(a)"], columns["a"][columns["a"] < 1].max(), "maximum of a filtered dataset")
    equal(prep.MaxAbsScaler(["a"]).fit(plain.limit(1)).stats_["abs_max(a)"], columns["a"][0], "maximum of one sample")


@test
def batches_of_different_shapes_and_types_are_fitted_together():
    """fit() passes 65536 samples at a time; here the last sample forms a batch of its own."""
    last, numbers_ = 1 << 16, data.range((1 << 16) + 1)

    def lists(make):
        made = numbers_.map_batches(lambda batch: {"l": [make(i) for i in batch["id"].tolist()]})
        return prep.MultiHotEncoder(["l"]).fit(made).stats_["unique_values(l)"]

    equal(lists(lambda i: [*range(i % 3 + 1)]), {0: 0, 1: 1, 2: 2}, "lists that vary in all batches but the last")
    equal(lists(lambda i: [1, 2] if i < last else [1, 2, 3]), {1: 0, 2: 1, 3: 2}, "a longer list in the last batch")
    equal(lists(lambda i: [1, 2] if i < last - 1 else [2.5]), {1: 0, 2: 1, 2.5: 2}, "lists of reals after lists of integers")
    mixed_types = numbers_.map_batches(lambda batch: {"x": batch["id"] * (1 if batch["id"][0] else numpy.float32(0.5)), "t": ["a"] * len(batch["id"])})
    for scaler in (prep.MinMaxScaler(["x"]), prep.Chain(prep.OneHotEncoder(["t"]), prep.MinMaxScaler(["x"]))):
        stats = scaler.fit(mixed_types).stats_
        equal((stats["min(x)"], stats["max(x)"]), (0, last), "statistics of reals, with an integer in the last batch")


@test
def every_sample_counts_once_despite_lists_of_varying_length():
    rows = [{"l": [1, 2] if n < 15000 else [3.5], "m": [n] if n < 14000 else [n, 1], "x": float(n)} for n in range(20000)]
    made = data.range(20000).map_batches(lambda batch: {name: [rows[i][name] for i in batch["id"]] for name in ("l", "m", "x")})
    stats = prep.Chain(prep.StandardScaler(["x"]), prep.MultiHotEncoder(["l"]), prep.MultiHotEncoder(["m"])).fit(made).stats_
    close(numpy.array([stats["mean(x)"], stats["std(x)"]]), [numpy.arange(20000).mean(), numpy.arange(20000).std()], "mean and deviation")
    equal((list(stats["unique_values(l)"]), list(stats["unique_values(m)"])), ([1, 2, 3.5], [*range(20000)]), "values in lists")


@test
def a_fit_of_mapped_samples_leaves_no_open_dataset():
    from trainrt.data._batches import _server
    before = dict(_server.server()._opened)
    prep.StandardScaler(["x"]).fit(data.range(11).map_batches(lambda batch: {"x": batch["id"]}))
    new = [name for name in _server.server()._opened if name not in before]
    equal(len(new), 1, f"datasets that stay open (only the source may): {new}")


@test
def missing_values_of_a_batch_are_filled_or_passed_through():
    nan = math.nan
    batch = {"t": numpy.array(["a", None, nan, ""], object), "x": [1, None, nan, 3]}

    def fill(columns, value, given):
        return {name: column.tolist() for name, column in prep.SimpleImputer(columns, "constant", value).transform_batch(given).items()}

    equal(fill(["t"], "z", batch)["t"], ["a", "z", "z", "z"], "filled texts")
    equal(fill(["x"], 2, batch), {"t": ["a", None, None, ""], "x": [1, 2, 2, 3]}, "filled numbers, and strings that are passed through")
    close(prep.SimpleImputer(["x"]).fit(data.from_numpy({"x": numpy.array([1.0, 3.0])})).transform_batch(batch)["x"], [1, 2, 2, 3], "by a mean")
    for value in ("z", 5):
        for missing in ([None, None], [nan, nan], [None, nan]):
            equal(fill(["t"], value, {"t": missing})["t"], [value, value], f"nothing but {missing}")
    chain = prep.Chain(prep.SimpleImputer(["t"], "constant", "z"), prep.HashingVectorizer(["t"], 1))
    equal(chain.transform_batch(batch)["t"].tolist(), [[1], [1], [1], [1]], "in a chain")
    equal([each if each is None else each.tolist() for each in prep.HashingVectorizer(["t"], 1).transform_batch(batch)["t"]], [[1], None, None, [1]], "counts")
    equal(fill(["x"], 1, {"x": [None, 2], "l": [None, [1, 2]]}), {"x": [1, 2], "l": [None, [1, 2]]}, "a list that is missing")
    raises(TypeError, "SimpleImputer.transform_batch() was given a list", of=lambda: fill(["x"], 1, [1]))


@test
def missing_values_of_a_frame_are_filled_or_passed_through():
    need_sklearn()
    texts, whole = pandas.array(["b", None], dtype="string"), pandas.array([4, None], dtype="Int64")
    frame = pandas.DataFrame({"t": ["a", None], "x": [1, math.nan], "s": texts, "n": whole}, index=[3, 4])
    found = prep.SimpleImputer(["x", "n"], "constant", 7).transform_batch(frame)
    equal((found.index.tolist(), found["x"].tolist(), found["n"].tolist(), found["t"].tolist(), found["s"].tolist()),
          ([3, 4], [1, 7], [4, 7], ["a", None], ["b", None]), "with numbers filled")
    found = prep.SimpleImputer(["t", "s"], "constant", "z").transform_batch(frame)
    equal((found["t"].tolist(), found["s"].tolist(), found["x"].isna().tolist()), (["a", "z"], ["b", "z"], [False, True]), "with filled strings")


@test
def a_numeric_fill_value_may_be_given_as_a_string():
    parameters = {"columns": ["x"], "strategy": "constant", "fill_value": "0.5"}
    imputer = prep.Preprocessor.from_dict({"preprocessor": "SimpleImputer", "version": 1, "parameters": parameters})
    for kind in ("f8", "f4"):
        found = imputer.transform_batch({"x": numpy.array([1, math.nan], kind)})["x"]
        check(identical(found, numpy.array([1, 0.5], kind)), f"{found} of {kind}")
    equal(imputer.transform_batch({"x": ["", "1"]})["x"].tolist(), ["0.5", "1"], "in a column of texts it stays a text")
    equal(imputer.transform_batch({"x": [1, 2]})["x"].tolist(), [1, 2], "integers")
    for wrong in ("none", "nan", " 1", ""):
        raises(TypeError, "'x' contains numbers", repr(wrong), of=lambda: prep.SimpleImputer(["x"], "constant", wrong).transform_batch({"x": [1.0, math.nan]}))


def same_values(found, expected, what):
    check(numpy.array_equal(numpy.asarray(found, "f8"), numpy.asarray(expected, "f8"), equal_nan=True), f"{what}: found {found}, expected {expected}")


@test
def missing_values_in_encoders_and_discretizers_behave_as_documented():
    dataset = data.from_items([{"w": "b", "n": 1.0}, {"w": "", "n": 2.0}])
    for encoder in (prep.OrdinalEncoder(["w", "n"]), prep.OneHotEncoder(["w", "n"]), prep.LabelEncoder(["w", "n"]), prep.MultiHotEncoder(["w", "n"])):
        encoder.fit(dataset)
        for batch, names in (({"w": ["b", "b"], "n": [1.0, math.nan]}, ["n"]), ({"w": ["b", None], "n": [1.0, 2.0]}, ["w"])):
            raises(ValueError, f"Unable to transform columns {names} because", of=lambda: encoder.transform_batch(batch))  # noqa: B023
    codes = prep.Categorizer(["w", "n"]).fit(dataset).transform_batch({"w": ["b", None, ""], "n": [2.0, math.nan, 1.0]})
    equal([list(codes["w"]), list(codes["n"])], [[0, -1, -1], [1, -1, 0]], "codes of Categorizer")
    hot = prep.MultiHotEncoder(["l"]).fit(data.from_items([{"l": [1.0, 2.0]}]))
    equal(hot.transform_batch({"l": numpy.array([[1.0, math.nan]])})["l"].tolist(), [[1, 0]], "NaN in a list")
    equal(prep.OrdinalEncoder(["w"]).fit(dataset).transform_batch({"w": ["", "b"]})["w"].tolist(), [0, 1], "an empty text")
    for bins in (prep.CustomKBinsDiscretizer(["n"], [0, 5]), prep.UniformKBinsDiscretizer(["n"], 2).fit(dataset)):
        same_values(bins.transform_batch({"n": [1.0, math.nan]})["n"], [0, math.nan], type(bins).__name__)
    raises(ValueError, "infinite", of=lambda: prep.StandardScaler(["n"]).fit(data.from_items([{"n": math.inf}])))


@test
def unknown_categories_and_all_nan_columns_behave_as_documented():
    dataset = data.from_items([{"w": "b", "n": 1, "x": math.nan}, {"w": "a", "n": 2, "x": math.nan}])
    batch = {"w": ["a", "z"], "n": [2, 9], "x": [1.0, math.nan]}
    same_values(prep.OrdinalEncoder(["w", "n"]).fit(dataset).transform_batch(batch)["w"], [0, math.nan], "OrdinalEncoder")
    equal(prep.OneHotEncoder(["n"]).fit(dataset).transform_batch(batch)["n"].tolist(), [[0, 1], [0, 0]], "OneHotEncoder")
    same_values(prep.LabelEncoder("w").fit(dataset).transform_batch(batch)["w"], [0, math.nan], "LabelEncoder")
    same_values(prep.CustomKBinsDiscretizer(["n"], [0, 5]).transform_batch(batch)["n"], [0, math.nan], "a number outside all bins")
    check(numpy.isnan(prep.StandardScaler(["x"]).fit(dataset).transform_batch(batch)["x"]).all(), "a column of NaN alone has a mean")
    equal(prep.StandardScaler(["x"]).fit(dataset).stats_, {"mean(x)": None, "std(x)": None}, "stats of a column of NaN alone")
    raises(ValueError, "Column x has no fill value. Check the data used to fit", of=lambda: prep.SimpleImputer(["x"]).fit(dataset).transform_batch(batch))
    raises(ValueError, "Unable to fit column because it contains null values", of=lambda: prep.OneHotEncoder(["x"]).fit(dataset))
    raises(ValueError, "Unable to transform columns ['n'] because", of=lambda: prep.OrdinalEncoder(["n"]).fit(dataset).transform_batch({"n": [1.0, math.nan]}))
    encoder = prep.LabelEncoder("w").fit(dataset)
    equal(encoder.inverse_transform_batch(encoder.transform_batch({"w": ["b", "a"]}))["w"], ["b", "a"], "labels from numbers")
    if pandas is not None:
        frame = encoder.inverse_transform_batch(pandas.DataFrame({"w": [1, 0], "z": [5, 6]}, index=[7, 8]))
        equal((frame["w"].tolist(), frame["z"].tolist(), list(frame.index)), (["b", "a"], [5, 6], [7, 8]), "labels of a DataFrame")
    equal(encoder.stats_, {"unique_values(w)": {"a": 0, "b": 1}}, "stats of LabelEncoder")
    equal(encoder.inverse_transform(encoder.transform(dataset)).take_batch()["w"].tolist(), ["b", "a"], "labels of a dataset")


@test
def a_nearly_constant_column_is_shifted_and_not_scaled():
    values = [1.0, 1.0 + 2e-9, 1.0 + 4e-9]
    dataset = data.from_items([{"x": value} for value in values])
    for scaler, offset in ((prep.StandardScaler(["x"]), values[1]), (prep.MinMaxScaler(["x"]), values[0])):
        scaler.fit(dataset)
        for found in (scaler.transform_batch({"x": values})["x"], scaler.transform(dataset).take_batch()["x"]):
            check(numpy.allclose(found, [value - offset for value in values], atol=1e-15), f"{scaler}: {found}")


@test
def frames_come_back_as_frames():
    need_sklearn()
    frame = pandas.DataFrame({"w": ["b", "a", "b"], "x": [1.0, 2.0, 3.0]}, index=[5, 6, 7])
    dataset = data.from_pandas(frame)
    found = prep.Chain(prep.Categorizer(["w"]), prep.StandardScaler(["x"])).fit(dataset).transform_batch(frame)
    equal((found.index.tolist(), found["w"].tolist(), str(found["w"].dtype)), ([5, 6, 7], ["b", "a", "b"], "category"), "a categorical column")
    equal(found["x"].tolist()[1], 0.0, "a scaled column")


@test
def unsuitable_columns_and_arguments_are_errors_that_name_them():
    dataset = data.from_items([{"x": 1.0, "t": "a b"}, {"x": 2.0, "t": "b"}])
    raises(prep.PreprocessorNotFittedException, "StandardScaler", "fit", of=lambda: prep.StandardScaler(["x"]).transform(dataset))
    equal(prep.StandardScaler(["x"]).stats_, {}, "stats before fit()")
    raises(ValueError, "StandardScaler", "'y'", of=lambda: prep.StandardScaler(["y"]).fit(dataset))
    raises(ValueError, "StandardScaler", "'t' contains texts", of=lambda: prep.StandardScaler(["t"]).fit(dataset))
    raises(ValueError, "'y'", "x, t", of=lambda: prep.StandardScaler(["x"]).fit(dataset).transform_batch({"x": [1], "y": [2]}) and prep.Normalizer(["y"]).transform_batch({"x": [1], "t": ["a"]}))
    raises(TypeError, "'t' contains texts", of=lambda: prep.StandardScaler(["x"], ["z"]).fit(dataset) and prep.Normalizer(["t"]).transform_batch({"t": ["a"]}))
    raises(ValueError, "columns", of=lambda: prep.StandardScaler("x"))
    raises(ValueError, "2 names", of=lambda: prep.StandardScaler(["x"], ["a", "b"]))
    raises(ValueError, "strategy", of=lambda: prep.SimpleImputer(["x"], "median"))
    raises(ValueError, "strictly increasing", of=lambda: prep.CustomKBinsDiscretizer(["x"], [1, 1]))
    raises(TypeError, "tokenization_fn", "JSON", of=lambda: prep.CountVectorizer(["t"], str.split).to_json())
    raises(ValueError, "no samples", of=lambda: prep.StandardScaler(["x"]).fit(dataset.filter(lambda row: False)))
    raises(TypeError, "takes a dataset", of=lambda: prep.StandardScaler(["x"]).fit({"x": [1.0]}))
    for text in ("{}", "[]", '{"preprocessor": "Nobody", "version": 1, "parameters": {}}', '{"preprocessor": "StandardScaler", "version": 1, "parameters": {"x": 1}}',
                 '{"preprocessor": "StandardScaler", "version": 1, "parameters": {"columns": ["x"]}, "stats": {}}', "no JSON"):
        raises(ValueError, of=lambda: prep.Preprocessor.from_json(text))
    tokenizer = {"preprocessor": "Tokenizer", "version": 1, "parameters": {"columns": ["t"]}}
    raises(ValueError, "Tokenizer was removed", "jobs/python/token_files.py", of=lambda: prep.Preprocessor.from_dict(tokenizer))


# ---- values that only the script's process can hold, and Ray's methods -----------------------------------------------------------------------


@test
def strings_with_missing_values_and_lists_of_strings_are_fitted_as_in_ray():
    rows = data.from_items([{"t": "b", "l": ["x"]}, {"t": None, "l": ["y", "x"]}, {"t": "b", "l": []}])
    filled = prep.SimpleImputer(["t"], "most_frequent").fit(rows)
    equal((filled.stats_, filled.transform(rows).take_all()[1]["t"]), ({"most_frequent(t)": "b"}, "b"), "the most frequent text")
    raises(ValueError, "Unable to fit column because it contains null values", of=lambda: prep.OrdinalEncoder(["t"]).fit(rows))
    hot = prep.MultiHotEncoder(["l"]).fit(rows)
    equal((hot.stats_, [row["l"].tolist() for row in hot.transform(rows).take_all()]), ({"unique_values(l)": {"x": 0, "y": 1}}, [[1, 0], [1, 1], [0, 0]]), "counts")
    equal([list(row["l"]) for row in prep.OrdinalEncoder(["l"]).fit_transform(rows).take_all()], [[0], [1, 0], []], "numbers of the elements")
    whole = prep.OrdinalEncoder(["l"], encode_lists=False).fit(rows)
    equal(whole.stats_, {"unique_values(l)": {(): 0, ("x",): 1, ("y", "x"): 2}}, "lists as categories")
    again = prep.Preprocessor.deserialize(whole.serialize())
    equal(again.transform_batch({"l": [["x"], ["y", "x"]]})["l"].tolist(), [1, 2], "after JSON")
    chain = prep.Chain(prep.SimpleImputer(["t"], "constant", "c"), prep.OneHotEncoder(["t"])).fit(rows)
    equal(chain.transform_batch({"t": ["c", None, "b"]})["t"].tolist(), [[0, 1], [0, 1], [1, 0]], "a chain")


@test
def functions_and_types_of_python_are_accepted_and_not_saved():
    texts = data.from_items([{"t": "a-b"}, {"t": "b"}])
    counts = prep.CountVectorizer(["t"], lambda text: text.split("-")).fit(texts)
    equal((counts.stats_, counts.transform_batch({"t": ["b-b-c"]})["t"].tolist()), ({"token_counts(t)": {"b": 2, "a": 1}}, [[2, 0]]), "counts of words")
    equal(prep.Tokenizer(["t"], lambda text: text.split("-")).transform(texts).take_all(), [{"t": ["a", "b"]}, {"t": ["b"]}], "words")
    raises(TypeError, "cannot be saved as JSON", of=counts.serialize)
    if pandas is not None:
        kind = pandas.CategoricalDtype(["low", "high"], ordered=True)
        found = prep.CustomKBinsDiscretizer(["x"], [0, 1, 2], dtypes={"x": kind}).transform_batch(pandas.DataFrame({"x": [0.5, 1.5, 9]}))["x"]
        equal((found.dtype, found.tolist()[:2]), (kind, ["low", "high"]), "names of bins")
        known = prep.Categorizer(["t"], {"t": pandas.CategoricalDtype(["b", "z"])}).fit(texts)
        equal([str(each) for each in known.transform(texts).to_pandas()["t"]], ["nan", "b"], "given categories")
        equal(prep.Categorizer(["t"]).fit(texts).stats_, {"t": pandas.CategoricalDtype(["a-b", "b"])}, "stats")


@test
def the_methods_and_attributes_of_rays_preprocessors_exist():
    rows, status = data.from_items([{"x": 1.0}, {"x": 3.0}]), prep.Preprocessor.FitStatus
    scaler = prep.RobustScaler(["x"], quantile_range=(0.1, 0.9), output_columns=["y"])
    equal((scaler.columns, scaler.output_columns, scaler.quantile_range, scaler.quantile_precision, scaler.get_input_columns(), scaler.get_output_columns()),
          (["x"], ["y"], (0.1, 0.9), 800, ["x"], ["y"]), "arguments as attributes")
    equal(repr(scaler), "RobustScaler(columns=['x'], quantile_range=(0.1, 0.9), output_columns=['y'])", "repr()")
    equal(repr(prep.Concatenator(["x"], dtype=None)), "Concatenator(columns=['x'])", "repr() without defaults")
    equal(repr(prep.CountVectorizer(["t"])), "CountVectorizer(columns=['t'], tokenization_fn=simple_split_tokenizer, max_features=None, output_columns=['t'])", "repr()")
    both = prep.Chain(prep.StandardScaler(["x"]).fit(rows), prep.MinMaxScaler(["x"]))
    equal([each.fit_status() for each in (both, both.preprocessors[0], both.preprocessors[1], prep.Normalizer(["x"]))],
          [status.PARTIALLY_FITTED, status.FITTED, status.NOT_FITTED, status.NOT_FITTABLE], "status")
    raises(prep.PreprocessorNotFittedException, "`fit` must be called before `transform_batch`", of=lambda: both.transform_batch({"x": [1.0]}))
    raises(prep.UnknownPreprocessorError, "Unknown preprocessor type: Nobody", of=lambda: prep.Preprocessor.from_dict({"preprocessor": "Nobody", "version": 1, "parameters": {}}))
    raises(ValueError, "Failed to deserialize preprocessor. Data preview: gAS", of=lambda: prep.Preprocessor.deserialize("gASVAAAA"))
    raises(KeyError, "'y'", of=lambda: prep.Normalizer(["y"]).transform_batch({"x": [1.0]}))
    import warnings
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        both.preprocessors[0].fit(rows)
    check("`fit` has already been called" in str(found[0].message), f"warnings: {found}")
    equal(prep.MaxAbsScaler(["x"]).fit_transform(rows, transform_batch_size=1, transform_num_cpus=1, transform_memory=1).take_all(), [{"x": 1 / 3}, {"x": 1.0}], "arguments")


@test
def equal_quantiles_make_all_values_zero():
    rows = data.from_items([{"x": value} for value in [0.0] * 8 + [5.0]])
    scaler = prep.RobustScaler(["x"]).fit(rows)
    equal((scaler.transform_batch({"x": [0.0, 5.0]})["x"].tolist(), scaler.stats_["high_quantile(x)"]), ([0, 0], 0), "values")


# ---- the table of preprocessors in C++ --------------------------------------------------------------------------------------------------------

def table():
    """Returns the table of C++, as `trainrt list all` prints it: {preprocessor: (help, {argument: (help, valid values and default)})}."""
    found, rows = {}, None
    for line in run([TRAINRT, "list", "all"]).out.splitlines():
        if head := re.fullmatch(r"preprocessor (\w+): (.*)", line):
            rows = {}
            found[head[1]] = head[2], rows
        elif rows is not None and (row := re.fullmatch(r"  (\w+) +(.*) \(([^()]*(?:\([^()]*\)[^()]*)*)\)", line)):
            rows[row[1]] = row[2], row[3]
        else:
            rows = None
    return found


def shown_default(facts):
    """Returns the Python default of an argument from its row, which ends, for example, with "; default: true"."""
    if facts.endswith("; required"):
        return inspect.Parameter.empty
    text = facts.split("; default: ")[1]
    value = None if text.startswith(("value of ", "all other ")) else json.loads(text)
    return tuple(value) if isinstance(value, list) else value


@test
def every_preprocessor_of_the_table_has_a_python_class_with_its_arguments_defaults_and_docs():
    rows = table()
    check(len(rows) >= 18, f"only {len(rows)} preprocessors were found")
    equal(sorted(rows), sorted(set(prep.__all__) - {"Chain", "Preprocessor", "PreprocessorNotFittedException", "Tokenizer", "TorchVisionPreprocessor",
                                               "UnknownPreprocessorError"}), "classes")
    for name, (text, parameters) in rows.items():
        kind = getattr(prep, name)
        docs = " ".join(inspect.getdoc(kind).split())
        check(" ".join(text.split())[1:] in docs, f"{name}: the docstring lacks '{text}'")
        signature = inspect.signature(kind)
        equal(list(signature.parameters), list(parameters), f"arguments of {name}")
        for argument, (help_, facts) in parameters.items():
            expected = False if argument == "raise_if_missing" else shown_default(facts)  # Ray's default; that of C++ stays, for its JSON
            equal(signature.parameters[argument].default, expected, f"default of {name}({argument})")
            check(signature.parameters[argument].annotation is not inspect.Parameter.empty, f"{name}({argument}) has no type")
            check(f" {argument} : " in docs and help_[1:] in docs, f"{name}: the docstring lacks '{argument} : {help_}'")
        check(kind.__mro__[1].__name__ == name, f"{name} has no NumPy code in trainrt/data/preprocessors")


@test
def arguments_have_the_order_of_rays_preprocessors():
    positional = {name: [each.name for each in inspect.signature(getattr(prep, name)).parameters.values() if each.kind is each.POSITIONAL_OR_KEYWORD]
                  for name in table()}
    columns = ["columns", "output_columns"]
    equal(positional, {
        "StandardScaler": columns, "MinMaxScaler": columns, "MaxAbsScaler": columns, "RobustScaler": ["columns", "quantile_range", "output_columns", "quantile_precision"],
        "Normalizer": ["columns", "norm"], "PowerTransformer": ["columns", "power", "method"], "SimpleImputer": ["columns", "strategy", "fill_value"],
        "LabelEncoder": ["label_column"], "OrdinalEncoder": ["columns"], "OneHotEncoder": ["columns"], "MultiHotEncoder": ["columns"],
        "Categorizer": ["columns", "dtypes", "output_columns"], "CountVectorizer": ["columns", "tokenization_fn", "max_features"],
        "HashingVectorizer": ["columns", "num_features", "tokenization_fn"], "FeatureHasher": ["columns", "num_features", "output_column"],
        "UniformKBinsDiscretizer": ["columns", "bins"], "CustomKBinsDiscretizer": ["columns", "bins"],
        "Concatenator": ["columns", "output_column_name", "dtype", "raise_if_missing", "flatten"]}, "positional arguments")


@test
def an_invalid_argument_is_an_error_that_names_argument_value_and_valid_values():
    for make, *words in (
            (lambda: prep.StandardScaler(["x", "x"]), "StandardScaler(columns=['x', 'x'])", "a list of column names without duplicates"),
            (lambda: prep.Normalizer(["x"], "l3"), "Normalizer(norm='l3')", "'l1', 'l2', 'max'"),
            (lambda: prep.PowerTransformer(["x"], "big"), "power='big'", "a finite number"),
            (lambda: prep.HashingVectorizer(["t"], 2.5), "num_features=2.5", "an int from 1 to 1048576"),
            (lambda: prep.CustomKBinsDiscretizer(["x"], {"x": ["a", "b"]}), "bins={'x': ['a', 'b']}", "a list of finite numbers, or a dict"),
            (lambda: prep.UniformKBinsDiscretizer(["x"], 0), "bins=0", "an int from 1 to 65536, or a dict"),
            (lambda: prep.UniformKBinsDiscretizer(["x"], {"y": 2}).fit(data.range(2)), "If `bins` is a dictionary, all elements of `columns` must"),
            (lambda: prep.OneHotEncoder(["t"], max_categories={"t": 0}), "max_categories={'t': 0}", "{'city': 10}"),
            (lambda: prep.OneHotEncoder(["t"], max_categories={"u": 1}).fit(data.range(2)), "You set `max_categories` for u, which is not present in ['t']"),
            (lambda: prep.SimpleImputer(["t"], "median"), "Strategy median is not supported. Supported values are: 'mean', 'most_frequent'"),
            (lambda: prep.SimpleImputer(["t"], "constant"), '`fill_value` must be set when using "constant" strategy'),
            (lambda: prep.StandardScaler(["x"], ["a", "b"]), "Invalid output_columns: Got len(columns) != len(output_columns)"),
            (lambda: prep.Concatenator(["x"], dtype="c16"), "dtype='c16'", "one of f64, f32"),
            (lambda: prep.Concatenator(["x"], flatten="yes"), "flatten='yes'", "True or False"),
            (lambda: prep.RobustScaler(["x"], (0.9, 0.1)), "quantile_range", "increasing numbers from 0 to 1")):
        raises(ValueError, *words, of=make)
    raises(ValueError, "StandardScaler: unknown parameter 'scale'", "columns, output_columns",
           of=lambda: prep.Preprocessor.from_dict({"preprocessor": "StandardScaler", "version": 1, "parameters": {"columns": ["x"], "scale": 1}}))


@test
def python_loads_a_preprocessor_that_cpp_fitted():
    folder = scratch()
    write_rows(folder, 1)
    config, job = run_with_key(folder, 1, "UniformKBinsDiscretizer(columns: x; bins: 3; output_columns: b), LabelEncoder(label_column: b), "
                               "CustomKBinsDiscretizer(columns: x; bins: -1, 4, 9; output_columns: c)", ranks=1)
    check(job.code == 0, "the run failed", job)
    metadata = json.loads((checkpoints(run_dir_of(config))[-1] / "manifest.json").read_text())["metadata"]["preprocessors"]["train"]
    chain = prep.Preprocessor.from_dict(metadata)
    equal(chain.to_dict(), metadata, "JSON")
    found = chain.transform_batch({"x": [0, 8, 3]})
    equal((found["b"].tolist(), found["c"].tolist()), ([0, 2, 1], [0, 1, 0]), "transformed values")


main()
