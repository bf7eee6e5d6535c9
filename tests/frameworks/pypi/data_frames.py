"""trainrt.data with PyPI's pandas and TensorFlow: the same values as pandas reads, and batches as DataFrames and TensorFlow tensors."""
import environments
from frameworks import Framework
from harness import BUILD, TRAINRT, check_exit, run, scratch

PANDAS = Framework("trainrt_data_pandas", "", "torch", ("torch", "ray"), "pandas")
TENSORFLOW = Framework("trainrt_data_TensorFlow", "", "tensorflow", ("tensorflow", "tf_keras"), "tensorflow-cpu")

AS_PANDAS = r'''
import io, numpy, pandas
from trainrt import data

numbers = numpy.random.default_rng(1)
table = pandas.DataFrame({"whole": numbers.integers(-10**12, 10**12, 500), "real": numbers.standard_normal(500) * 10.0 ** numbers.integers(-300, 300, 500),
                          "single": numbers.random(500).astype("f4"), "flag": numbers.random(500) < 0.5,
                          "text": [f'a "quoted", text {n}\nof two lines ä' if n % 3 else f"plain {n}" for n in range(500)]})
table.loc[::7, "real"] = float("nan")
table.to_csv("table.csv", index=False)

def same(found, expected, what, types=True):
    assert list(found.columns) == list(expected.columns), (what, found.columns)
    for name in expected:
        one, two = found[name], expected[name]
        assert not types or one.dtype == two.dtype or name == "text", (what, name, one.dtype, two.dtype)
        if name == "text":
            assert one.tolist() == two.tolist(), (what, name)
        else:
            assert numpy.array_equal(one.to_numpy(), two.to_numpy(), equal_nan=two.dtype.kind == "f"), (what, name, one, two)

exact = pandas.read_csv("table.csv", float_precision="round_trip")
same(data.read_csv("table.csv").to_pandas(), exact, "read_csv")
same(data.read_csv("table.csv", types={"single": "f32"}).to_pandas(), exact.astype({"single": "f4"}), "a column as f32", types=False)
same(data.from_pandas(table).to_pandas(), table, "from_pandas", types=False)
same(data.from_pandas([table[:100], table[100:]]).to_pandas(), table, "several frames", types=False)
batch = next(iter(data.from_pandas(table).iter_batches(batch_size=16, batch_format="pandas")))
assert isinstance(batch, pandas.DataFrame) and batch["single"].dtype == "float32", batch.dtypes
more = data.from_pandas(table).map_batches(lambda frame: frame.assign(twice=frame["whole"] * 2), batch_format="pandas")
assert (more.to_pandas()["twice"] == table["whole"] * 2).all()
assert (data.from_pandas(table).add_column("sum", lambda frame: frame["whole"] + 1).to_pandas()["sum"] == table["whole"] + 1).all()
table[["whole", "real", "flag", "text"]].to_json("table.jsonl", orient="records", lines=True, double_precision=15)
found = data.read_json("table.jsonl").to_pandas()
assert found["whole"].tolist() == table["whole"].tolist() and found["text"].tolist() == table["text"].tolist() and found["flag"].tolist() == table["flag"].tolist()
print("SAME")
'''

AS_TENSORFLOW = r'''
import numpy, tensorflow as tf
from trainrt import data

x = numpy.random.default_rng(1).random((100, 3)).astype("f4")
dataset = data.from_numpy({"x": x, "y": numpy.arange(100)})
batches = list(dataset.iterator().iter_tf_batches(batch_size=30, dtypes={"y": tf.float32}))
assert [len(batch["x"]) for batch in batches] == [30, 30, 30, 10] and batches[0]["y"].dtype == tf.float32
assert numpy.array_equal(numpy.concatenate([batch["x"].numpy() for batch in batches]), x)
pairs = dataset.iterator().to_tf("x", "y", batch_size=30)
for epoch in range(2):
    found = list(pairs)
    assert numpy.array_equal(numpy.concatenate([features.numpy() for features, _ in found]), x), epoch
    assert numpy.array_equal(numpy.concatenate([labels.numpy() for _, labels in found]), numpy.arange(100)), epoch
several = next(iter(dataset.iterator().to_tf(["x", "y"], "y", batch_size=4)))
assert set(several[0]) == {"x", "y"} and several[1].shape == (4,)
texts = next(iter(data.from_items([{"t": "one"}, {"t": "zwölf"}]).iterator().iter_tf_batches()))
assert [text.decode() for text in texts["t"].numpy()] == ["one", "zwölf"]
print("SAME")
'''


def _runs(framework, text):
    folder, environment = scratch(), environments.ready(framework)
    (folder / "script.py").write_text(text)
    variables = {**environments.activated(framework, environment), "PYTHONPATH": BUILD / "python", "TRAINRT_EXECUTABLE": TRAINRT, "HOME": folder}
    job = run([environment / "bin/python3", folder / "script.py"], timeout=300, env=variables, cwd=folder)
    check_exit(job, 0)


def cases_of_data_frames():
    """Returns (framework, name, function) for each case."""
    return [(PANDAS, "same_values", lambda _: _runs(PANDAS, AS_PANDAS)), (TENSORFLOW, "same_values", lambda _: _runs(TENSORFLOW, AS_TENSORFLOW))]
