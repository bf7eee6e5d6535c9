#!/usr/bin/python3
"""trainrt.data in one process: contents of datasets, operations, and errors."""
import gc
import json
import math
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.program_runs import *  # noqa: E402,F403

sys.path.insert(0, str(BUILD / "python"))
os.environ.pop("TRAINRT_FD", None)
os.environ["TRAINRT_EXECUTABLE"] = str(TRAINRT)
import numpy  # noqa: E402
from trainrt import data  # noqa: E402
from trainrt.data import _files  # noqa: E402
from trainrt.train._config import _datasets  # noqa: E402
from trainrt.data.preprocessors import Concatenator, Preprocessor  # noqa: E402
from trainrt.train import DataConfig, DataParallelTrainer, ScalingConfig  # noqa: E402


def same(found, expected, what):
    """Checks that two arrays have the same type, shape and values."""
    found, expected = numpy.asarray(found), numpy.asarray(expected)
    equal((found.dtype, found.shape), (expected.dtype, expected.shape), f"type and shape of {what}")
    check(numpy.array_equal(found, expected, equal_nan=found.dtype.kind == "f"), f"{what}: {found} is not {expected}")


def column(dataset, name):
    return numpy.concatenate([batch[name].copy() for batch in dataset.iter_batches(batch_size=7, remainder="uneven")])


NUMBERS = numpy.random.default_rng(1)


# ---- values ------------------------------------------------------------------------------------------------------------------


@test
def errors_of_a_dataset_do_not_show_its_generated_name():
    error = raises(ValueError, "where: at character 6", of=lambda: data.range(5).filter(expr="id > > 3").take_all())
    check("[data." not in str(error), f"the error shows the name: {error}")


@test
def arrays_come_back_with_their_types_and_shapes():
    for kind in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "?"):
        array = (NUMBERS.random((20, 3, 2)) * 100).astype(kind)
        same(column(data.from_numpy({"x": array, "n": numpy.arange(20)}), "x"), array, kind)


@test
def unsigned_arrays_become_the_next_signed_type():
    same(column(data.from_numpy(numpy.arange(5, dtype="u2")), "data"), numpy.arange(5, dtype="i4"), "u16")
    same(column(data.from_numpy(numpy.arange(5, dtype="u4")), "data"), numpy.arange(5, dtype="i8"), "u32")
    raises(OverflowError, "data", "64 bits", of=lambda: data.from_numpy(numpy.array([2**63], "u8")))


@test
def rows_with_strings_lists_and_nan_come_back():
    rows = [{"t": text, "f": f, "n": n, "l": values, "b": b}
            for text, f, n, values, b in (("täxt, \"1\"", 0.1, 7, [1, 2], True), ("", float("nan"), -2**62, [3], False), ("a\nb\t☃", 1e300, 0, [4, 5, 6], True))]
    found = data.from_items(rows).take_all()
    for row, expected in zip(found, rows, strict=True):
        equal((row["t"], row["n"], row["b"], row["l"].tolist()), (expected["t"], expected["n"], expected["b"], expected["l"]), "a row")
        check(row["f"] == expected["f"] or (row["f"] != row["f"] and expected["f"] != expected["f"]), f"{row['f']} is not {expected['f']}")


@test
def narrow_floats_in_a_dataset_with_strings_keep_their_type_and_bits():
    values = numpy.float32(NUMBERS.random(50))
    found = data.from_items([{"x": value, "t": "text"} for value in values])
    same(column(found, "x"), values, "f32 in a dataset with strings")


@test
def files_hold_what_numpy_and_h5py_wrote():
    import h5py
    folder, x, y = scratch(), NUMBERS.random((30, 4)).astype("f4"), numpy.arange(30)
    numpy.save(folder / "x.npy", x)
    numpy.savez(folder / "xy.npz", x=x, y=y)
    with h5py.File(folder / "xy.h5", "w") as file:
        file["x"], file["y"] = x, y
    (folder / "xy.csv").write_text("x,y\n" + "".join(f"{a!r},{b}\n" for a, b in zip(x[:, 0].tolist(), y)))
    (folder / "xy.jsonl").write_text("".join(json.dumps({"x": a, "y": b}) + "\n" for a, b in zip(x.tolist(), y.tolist())))
    same(column(data.read_numpy(folder / "x.npy"), "data"), x, "npy")
    for dataset, name in ((data.read_numpy(folder / "xy.npz"), "npz"), (data.read_hdf5(str(folder / "xy.h5")), "hdf5"),
                          (data.read_json(folder / "xy.jsonl", types={"x": "f32"}), "jsonl")):
        same(column(dataset, "x"), x, name)
        same(column(dataset, "y"), y, name)
    same(column(data.read_csv(folder / "xy.csv"), "x"), x[:, 0].astype("f8"), "csv")


def write_numbers(path, numbers):
    path.write_text("x\n" + "".join(f"{number}\n" for number in numbers))
    return path


def xs(dataset):
    return [row["x"] for row in dataset.take_all()]


@test
def a_second_read_of_a_path_gives_the_new_contents():
    folder = scratch()
    path = write_numbers(folder / "x.csv", [1, 2, 3])
    first = data.read_csv(path)
    begun = iter(first.iterator().iter_batches(batch_size=1))
    next(begun)
    for numbers in ([11, 22, 33, 44, 55], [7, 8, 9]):  # the last file has as many bytes as the first
        write_numbers(path, numbers)
        again = data.read_csv(path)
        equal((again.count(), xs(again), xs(again.limit(2))), (len(numbers), numbers, numbers[:2]), "samples and their number")
        equal(data.preprocessors.MinMaxScaler(["x"]).fit(data.read_csv(path)).stats_, {"min(x)": min(numbers), "max(x)": max(numbers)}, "statistics of fit()")
    equal([int(batch["x"][0]) for batch in begun], [2, 3], "the rest of an epoch that began before the change")
    write_numbers(folder / "y.csv", [10])
    equal(sorted(xs(data.read_csv(folder))), [7, 8, 9, 10], "a folder with one more file")


@test
def datasets_derived_from_one_read_open_its_files_once():
    import pickle
    from trainrt.data._batches import _server
    path, server, opened = write_numbers(scratch() / "x.csv", range(20)), _server.server(), []
    ask = server.ask
    server.ask = lambda op, *rest, **fields: (opened.append(fields["name"]) if op == "data_open" else None, ask(op, *rest, **fields))[1]
    try:
        numbers = data.read_csv(path)
        for dataset in (numbers, numbers.map(lambda row: {"x": row["x"] + 1}), pickle.loads(pickle.dumps(numbers)), numbers.select_columns("x")):
            equal((dataset.count(), len(list(dataset.iter_rows())), dataset.columns()), (20, 20, ["x"]), "samples")
        equal(len(opened), 1, f"number of opened datasets: {opened}")
        data.read_csv(path).count()
        numbers.count()
        equal((len(opened), len(set(opened))), (2, 1), f"opened datasets of two reads, and their names: {opened}")
    finally:
        del server.ask


@test
def the_random_order_does_not_depend_on_the_number_of_reads():
    path = write_numbers(scratch() / "x.csv", range(50))
    orders = {tuple(xs(data.read_csv(path).random_shuffle(seed=2))) for _ in range(3)}
    equal((len(orders), sorted(*orders)), (1, list(range(50))), "orders")


@test
def several_files_and_patterns_are_one_dataset():
    folder = scratch()
    for part in range(3):
        (folder / f"part-{part}.csv").write_text(f"x\n{2 * part}\n{2 * part + 1}\n")
    for paths in (folder / "part-*.csv", [folder / "part-0.csv", folder / "part-1.csv", folder / "part-2.csv"], str(folder), f"file://{folder}"):
        same(column(data.read_csv(paths), "x"), numpy.arange(6), f"{paths}")


@test
def texts_are_decoded_with_the_given_encoding():
    path = scratch() / "lines.txt"
    path.write_bytes("größe\n".encode("latin-1") + b"two\n")
    raises(ValueError, "text", "utf-8", "encoding", of=data.read_text(path).take_all)
    equal([row["text"] for row in data.read_text(path, encoding="latin-1").take_all()], ["größe", "two"], "texts")


@test
def torch_datasets_become_columns_of_their_items():
    try:
        import torch
    except ImportError:
        skip("torch is not installed for this Python")
    samples = torch.utils.data.TensorDataset(torch.arange(12).reshape(6, 2).float(), torch.arange(6))
    dataset = data.from_torch(samples)
    same(column(dataset, "item_0"), numpy.arange(12, dtype="f4").reshape(6, 2), "the first part")
    batch = next(iter(dataset.iter_torch_batches(batch_size=4, dtypes={"item_1": torch.float64})))
    equal((batch["item_0"].dtype, batch["item_1"].dtype, batch["item_1"].tolist()), (torch.float32, torch.float64, [0.0, 1.0, 2.0, 3.0]), "a batch")
    pairs = dataset.iterator().to_torch(label_column="item_1", batch_size=4)
    (features, labels), *_ = iter(pairs)
    equal((tuple(features.shape), labels.tolist()), ((4, 2), [[0], [1], [2], [3]]), "features and labels")
    texts = data.from_items([{"t": "a"}])
    raises(TypeError, "'t'", "collate_fn", of=lambda: next(iter(texts.iter_torch_batches())))
    equal(next(iter(texts.iter_torch_batches(collate_fn=lambda batch: torch.tensor([len(text) for text in batch["t"]])))).tolist(), [1], "collated")


@test
def a_hugging_face_dataset_keeps_its_columns():
    class Split:
        column_names = ["text", "label", "ids"]
        _columns = {"text": ["one", "zwölf"], "label": [1, 0], "ids": [[1, 2, 3], [4]]}

        def __getitem__(self, name):
            return self._columns[name]

    batch = next(iter(data.from_huggingface(Split()).iter_batches(batch_size=2)))
    equal((batch["text"].tolist(), batch["label"].tolist(), [part.tolist() for part in batch["ids"]]), (["one", "zwölf"], [1, 0], [[1, 2, 3], [4]]),
          "a batch")

    class Splits(Split):
        column_names = {"train": ["text"]}

    raises(TypeError, "dataset['train']", of=lambda: data.from_huggingface(Splits()))


@test
def arrays_of_batches_keep_their_values():
    """The memory of a batch is reused, but not while a view of the batch exists."""
    array = NUMBERS.random((1000, 50))
    batches = list(data.from_numpy(array).iter_batches(batch_size=64))
    for number, batch in enumerate(batches[:-1]):
        same(batch["data"], array[64 * number:64 * number + 64], f"batch {number}")
    views = [batch["data"][::2, 3] for batch in data.from_numpy(array).iter_batches(batch_size=64)]
    gc.collect()
    same(views[2], array[128:192:2, 3], "a view")


@test
def memory_of_released_batches_is_reused():
    dataset = data.from_numpy(NUMBERS.random((4000, 100)))
    iterator = dataset.iterator()
    before = len(iterator._link._slots)
    for batch in iterator.iter_batches(batch_size=16):
        batch["data"].sum()
    del batch
    check(len(iterator._link._slots) <= before + 2, f"{len(iterator._link._slots)} blocks of memory were allocated")


# ---- operations on samples -------------------------------------------------------------------------------------------------


@test
def functions_are_applied_in_order():
    made = data.range(10).map(lambda row: {"x": row["id"] + 1}).map_batches(lambda batch: {"x": batch["x"] * 10}).rename_columns({"x": "y"})
    equal([row["y"] for row in made.take_all()], [10 * (n + 1) for n in range(10)], "values")
    wide = made.map(lambda row: {**row, "z": float(row["y"])})
    equal((wide.columns(), wide.select_columns("z").columns(), wide.drop_columns(["z"]).columns()), (["y", "z"], ["z"], ["y"]), "columns")
    equal(repr(wide.schema()), "y: int64\nz: float64", "schema")


@test
def window_pack_explode_and_draw_by_weight_make_new_samples():
    rows = data.range(12).map(lambda row: {"station": row["id"] % 3, "x": row["id"] * 10.0}).materialize()
    windows = rows.window(3, within="station")
    same(column(windows, "x"), [[0.0, 30, 60], [30, 60, 90], [10, 40, 70], [40, 70, 100], [20, 50, 80], [50, 80, 110]], "windows")
    same(column(windows, "station"), [0, 0, 1, 1, 2, 2], "a column that is constant within a window")
    same(column(rows.limit(4).window(3, stride=2, pad=True).drop_columns("station"), "count"), numpy.array([3, 2], "i4"), "number of samples in padded windows")
    documents = data.from_items([{"t": [1, 2, 3], "w": 0.0}, {"t": [4], "w": 1.0}, {"t": [5, 6], "w": 0.0}])
    same(column(documents.pack("t", 3, separator=0), "t"), [[1, 2, 3], [0, 4, 0], [5, 6, 0]], "packed")
    same(column(documents.explode("t"), "t"), [1, 2, 3, 4, 5, 6], "exploded")
    equal([row["t"].tolist() for row in documents.draw_by_weight("w").take_all()], 3 * [[4]], "drawn")
    packed = documents.pack("t", 1)
    first, rest = packed.split_at_indices([2])
    equal((first.count(), column(rest, "t").ravel().tolist(), column(packed.filter(lambda row: row["t"][0] % 2 == 0).limit(2), "t").ravel().tolist()),
          (2, [3, 4, 5, 6], [2, 4]), "choices of made samples")


@test
def join_is_an_error_that_names_duckdb_and_pandas():
    raises(NotImplementedError, "Dataset.join() was removed", "DuckDB or pandas", of=lambda: data.range(3).join(data.range(3), on="id"))


@test
def operations_that_the_runtime_cannot_do_run_first_in_this_process():
    calls = []

    def several(row):
        calls.append(row["id"])
        return [{"id": row["id"], "k": k} for k in range(row["id"] % 3)]

    flat = data.range(6).flat_map(several)
    equal(calls, [], "calls before the first read")
    equal([(row["id"], row["k"]) for row in flat.take_all()], [(1, 0), (2, 0), (2, 1), (4, 0), (5, 0), (5, 1)], "rows of flat_map")
    equal((flat.count(), calls), (6, list(range(6))), "number of rows, and one call per sample")
    same(column(data.range(6).map(lambda row: {"x": 2 * row["id"]}).window(2, stride=2), "x"), [[0, 2], [4, 6], [8, 10]], "windows of mapped samples")
    same(column(data.range(6).window(2, stride=2).window(2), "id"), [[[0, 1], [2, 3]], [[2, 3], [4, 5]]], "windows of windows")
    same(column(data.range(8).window(2).limit(4).window(2, stride=2), "id"), [[[0, 1], [1, 2]], [[2, 3], [3, 4]]], "windows of some windows")
    raises(TypeError, "flat_map(", "list of dicts", of=data.range(2).flat_map(lambda row: row).count)
    drawn = data.range(4).draw_by_weight("id")
    for wrong in (lambda: drawn.limit(2), lambda: drawn.window(2), lambda: drawn.filter(lambda row: True), lambda: drawn.flat_map(several)):
        raises(ValueError, "draw_by_weight", of=wrong)
    raises(ValueError, "random=True", of=lambda: data.range(4).map(lambda row, rng: row, random=True).window(2))
    raises(ValueError, "rename_columns", of=lambda: drawn.pack("a b", 2))
    raises(ValueError, "pack", "'id'", of=data.range(4).pack("id", 2).count)
    raises(ValueError, "method that sets this key", of=lambda: data.range(4).options(sequence="2"))


class Adder:
    made = 0

    def __init__(self, what):
        Adder.made += 1
        self.what = what

    def __call__(self, batch):
        return {"id": batch["id"] + self.what}


@test
def a_class_is_instantiated_once_and_called_for_each_batch():
    dataset = data.range(20).map_batches(Adder, fn_constructor_args=(5,), num_cpus=1)
    equal([int(n) for batch in dataset.iter_batches(batch_size=3, remainder="uneven") for n in batch["id"]], list(range(5, 25)), "values")
    equal(Adder.made, 1, "objects")


@test
def a_filter_function_runs_before_the_first_batch():
    even = data.range(100).map(lambda row: {"x": 3 * row["id"]}).filter(lambda row: row["x"] % 2 == 0)
    equal(even.count(), 50, "count")
    equal([row["x"] for row in even.take_all()], list(range(0, 300, 6)), "filtered and mapped samples")
    equal([row["x"] for row in even.filter(lambda row: row["x"] >= 270).take_all()], [270, 276, 282, 288, 294], "a filter on a filter")
    equal(data.range(5).filter(lambda row: False).take_all(), [], "a filter that keeps nothing")
    raises(ValueError, "left out", of=lambda: data.range(5).options(on_error="skip").filter(lambda row: True))


@test
def a_filter_expression_combines_with_other_operations_in_any_order():
    ids = lambda dataset: [row["id"] for row in dataset.take_all()]
    numbers = data.range(100)
    equal(numbers.filter(expr="id >= 90 and id != 95").count(), 9, "count")
    equal(ids(numbers.filter(expr="id >= 90").filter(expr="id < 92 or id > 98")), [90, 91, 99], "two conditions")
    equal(ids(numbers.limit(10).filter(expr="id > 3").limit(2)), [4, 5], "between two limits")
    equal(ids(numbers.filter(lambda row: row["id"] % 2 == 0).filter(expr="id < 5")), [0, 2, 4], "after a function")
    equal(ids(numbers.filter(expr="id < 5").filter(lambda row: row["id"] % 2 == 0)), [0, 2, 4], "before a function")
    mapped = numbers.map(lambda row: {"x": 3 * row["id"]}).filter(expr="x > 290")
    equal([row["x"] for row in mapped.take_all()], [291, 294, 297], "mapped samples")
    texts = data.from_items([{"n": n, "t": word} for n, word in enumerate(["a", "b\"c", "", "a b"])])
    equal([row["n"] for row in texts.filter(expr="t == 'a b' or t == 'b\"c'").take_all()], [1, 3], "texts")
    for wrong in ({}, {"fn": len, "expr": "id > 1"}):
        raises(TypeError, "either a function or expr", of=lambda wrong=wrong: numbers.filter(**wrong))
    raises(ValueError, "one line", of=lambda: numbers.filter(expr=" "))
    raises(ValueError, "filter(expr", of=lambda: numbers.options(where="id > 3"))
    raises(Exception, "no field 'x'", "id", of=lambda: numbers.filter(expr="x > 3").count())


@test
def parts_of_a_split_are_disjoint_and_complete():
    ids = lambda dataset: [row["id"] for row in dataset.take_all()]
    for n in (1, 2, 3, 7):
        parts = data.range(20).split(n)
        equal(sum((ids(part) for part in parts), []), list(range(20)), f"{n} parts together")
        check(max(map(len, map(ids, parts))) - min(map(len, map(ids, parts))) <= 1, f"{n} parts differ in size")
    equal([part.count() for part in data.range(20).split(3, equal=True)], [6, 6, 6], "equal parts")
    equal([ids(part) for part in data.range(6).split_at_indices([1, 4])], [[0], [1, 2, 3], [4, 5]], "at indices")
    equal([part.count() for part in data.range(10).split_proportionately([0.2, 0.5])], [2, 5, 3], "in proportions")
    train, test_part = data.range(100).train_test_split(0.25, shuffle=True, seed=3)
    equal((train.count(), sorted(ids(train) + ids(test_part))), (75, list(range(100))), "train and test")
    equal(ids(data.range(100).train_test_split(0.25, shuffle=True, seed=3)[1]), ids(test_part), "the same seed, the same test")
    check(ids(test_part) != list(range(75, 100)), "a shuffled split took the last samples")
    equal(ids(data.range(50).filter(lambda row: row["id"] % 5 == 0).limit(3)), [0, 5, 10], "the first filtered samples")


@test
def the_seed_of_a_shuffle_determines_the_order():
    order = lambda seed: [row["id"] for row in data.range(50).random_shuffle(seed=seed).take_all()]
    equal(sorted(order(1)), list(range(50)), "samples")
    equal(order(1), order(1), "the same seed")
    check(order(1) != order(2), "two seeds gave the same order")


@test
def parts_of_a_shuffled_dataset_are_random_and_reproducible():
    ids = lambda dataset: [row["id"] for row in dataset.take_all()]
    shuffled = data.range(100).random_shuffle(seed=3)
    first = ids(shuffled.limit(10))
    check(sorted(first) != list(range(10)), "the first samples of the file were taken")
    equal(sorted(ids(data.range(100).random_shuffle(seed=3).limit(10))), sorted(first), "the same part")
    equal(sorted(sum((ids(part) for part in shuffled.split(3)), [])), list(range(100)), "parts together")
    equal(sorted(ids(shuffled.filter(lambda row: row["id"] < 5))), [0, 1, 2, 3, 4], "a filter after a shuffle")
    training, rest = shuffled.train_test_split(0.2)
    equal(sorted(ids(training) + ids(rest)), list(range(100)), "train and test")
    raises(ValueError, "1000000000", "at most", of=lambda: data.range(10**9).random_shuffle().limit(3))
    equal([part.count() for part in data.range(10**9).split(4)], 4 * [250_000_000], "parts of a large dataset")
    check(ids(training) != sorted(ids(training)), "the order of a shuffled dataset's part is not shuffled")


@test
def a_dataset_can_be_pickled_for_another_process():
    import pickle
    dataset = data.from_items([{"x": n} for n in range(10)]).filter(lambda row: row["x"] > 6)
    dataset.count()
    equal([row["x"] for row in pickle.loads(pickle.dumps(dataset)).take_all()], [7, 8, 9], "samples")


@test
def materialized_samples_are_computed_once():
    calls = []
    made = data.range(10).map(lambda row: (calls.append(1), {"x": row["id"] ** 2, "t": f"no {row['id']}"})[1]).materialize()
    count = len(calls)
    equal([row["t"] for row in made.filter(lambda row: row["x"] > 50).take_all()], ["no 8", "no 9"], "values")
    equal(len(calls), count, "calls of the function after materialize()")


@test
def options_set_keys_of_the_config():
    dataset = data.range(8).options(cast="id: f32", one_hot=None)
    same(column(dataset, "id"), numpy.arange(8, dtype="f4"), "cast")
    raises(ValueError, "nonsense", of=data.range(8).options(nonsense=1).take_all)
    raises(ValueError, "subset", "filter()", of=lambda: data.range(8).options(subset="0:3"))


@test
def the_last_batch_is_padded_dropped_or_uneven():
    sizes = lambda **how: [len(batch["id"]) for batch in data.range(10).iter_batches(batch_size=4, **how)]
    equal((sizes(remainder="uneven"), sizes(drop_last=True), sizes()), ([4, 4, 2], [4, 4], [4, 4, 2]), "sizes")


def ids(iterator):
    return [row["id"] for row in iterator.iter_rows()]


@test
def a_pipeline_goes_through_several_epochs_as_in_ray_1():
    numbers = data.range(5)
    equal(ids(numbers.repeat(2)), [*range(5)] * 2, "two epochs")
    equal(numbers.repeat(2).map(lambda row: {"id": -row["id"]}).take_all(), [{"id": -number} for number in range(5)], "methods that explore")
    equal(numbers.repeat().flat_map(lambda row: [row, row]).count(), 10, "samples of flat_map()")
    equal([ids(window) for window in numbers.repeat(3).iter_datasets()], 3 * [[*range(5)]], "windows")
    equal([batch["id"].tolist() for batch in numbers.repeat(2).iter_batches(batch_size=3, remainder="uneven")], 2 * [[0, 1, 2], [3, 4]], "batches")
    windows = numbers.window(blocks_per_window=1).repeat().random_shuffle_each_window().iter_epochs()
    orders = [ids(next(windows)) for _ in range(4)]
    check(len({tuple(order) for order in orders}) > 1 and all(sorted(order) == [*range(5)] for order in orders), f"orders: {orders}")
    equal(orders[0], ids(numbers.random_shuffle()), "the order of the first epoch")
    once = numbers.repeat(2).iterator()
    equal((len(ids(once)), ids(once)), (10, []), "a second loop")
    check(isinstance(numbers.repeat().filter(expr="id > 1").split(2)[0].random_shuffle(), data.DatasetPipeline), "methods lose the epochs")
    raises(TypeError, "blocks_per_window", of=lambda: numbers.window(2, blocks_per_window=1))
    raises(ValueError, "repeat()", of=lambda: numbers.repeat(0))


@test
def a_streaming_split_has_disjoint_parts():
    numbers = data.range(7).map(lambda row: {"id": row["id"]})
    equal([ids(part) for part in numbers.streaming_split(2)], [[0, 1, 2, 3], [4, 5, 6]], "parts")
    equal([ids(part) for part in numbers.streaming_split(2, equal=True, locality_hints=["a", "b"])], [[0, 1, 2], [3, 4, 5]], "equal parts")
    raises(ValueError, "streaming_split()", of=lambda: numbers.streaming_split(0))


@test
def configure_must_return_iterators_of_each_worker():
    def settings(result, workers=2):
        config = type("Own", (DataConfig,), {"configure": lambda self, datasets, world_size, worker_handles, worker_node_ids, **others: result(datasets["x"])})
        return DataParallelTrainer(print, datasets={"x": data.range(6)}, dataset_config=config(), scaling_config=ScalingConfig(num_workers=workers)).settings()
    parts = settings(lambda x: [{"x": x.iterator()}, {"y": x.limit(2)}])
    equal({key: text for key, text in parts.items() if "subset" in key or "split" in key}, {"data.x-0.split": "false", "data.y-1.split": "false",
                                                                                          "data.y-1.subset": "0:2"}, "separate datasets")
    equal(settings(lambda x: [{"x": x.iterator()}, {"x": x.iterator()}]), {**settings(lambda x: x.streaming_split(2) and [{"x": x}, {"x": x}])}, "all samples")
    raises(TypeError, "Own.configure() returned a list of 1", "a list of 2 dicts", of=lambda: settings(lambda x: [{"x": x.iterator()}]))
    raises(TypeError, "returned None", of=lambda: settings(lambda x: None))
    raises(TypeError, "returned an int for 'x'", "streaming_split()", of=lambda: settings(lambda x: [{"x": 1}, {"x": 1}]))
    raises(ValueError, "the name 'a b'", of=lambda: settings(lambda x: [{"a b": x.iterator()}] * 2))
    raises(ValueError, "a fixed number of workers", of=lambda: settings(lambda x: [{"x": part} for part in x.streaming_split(3)[:2]], (1, 2)))


@test
def options_of_ray_datas_execution_are_accepted_and_reported_once():
    code = '''if True:
        import trainrt
        from trainrt.data import DataContext, ExecutionOptions, ExecutionResources, NodeIdStr
        from trainrt.data.context import DataContext
        from trainrt.actor import ActorHandle
        from trainrt.train import DataConfig
        options = trainrt.data.DataContext.get_current().execution_options
        options.preserve_order = True
        for _ in range(2):
            options.resource_limits = ExecutionResources(cpu=2)
            DataContext.get_current().target_max_block_size = 1 << 20
        DataContext.get_current().execution_options = DataConfig.default_ingest_options()
        print(DataContext.get_current().execution_options.preserve_order, trainrt.actor.ActorHandle is ActorHandle)'''
    job = run([PYTHON, "-c", code], env={"PYTHONPATH": str(BUILD / "python")})
    equal(job.out.strip(), "True True", "output", job)
    notes = job.err.strip().splitlines()
    check(len(notes) == 2 and "ExecutionOptions(resource_limits=...) changes nothing" in notes[0] and "target_max_block_size changes" in notes[1],
          f"notes: {notes}")
    raises(AttributeError, "no option 'preserve'", "preserve_order", of=lambda: data.ExecutionOptions().__setattr__("preserve", True))
    raises(TypeError, "must be an ExecutionOptions", of=lambda: setattr(data.DataContext(), "execution_options", {}))
    raises(AttributeError, "no setting 'eager_free'", of=lambda: data.DataContext().eager_free)


@test
def each_iteration_over_batches_is_an_epoch():
    batches = data.range(6).random_shuffle().iterator().iter_batches(batch_size=4)
    epochs = [[int(n) for batch in batches for n in batch["id"]] for _ in range(4)]
    for epoch in epochs:
        equal(sorted(epoch), list(range(6)), "samples of an epoch")
    check(len(set(map(tuple, epochs))) > 1, "all epochs have the same order")
    for _ in batches:  # the loop ends before the epoch does
        break
    equal(sum(len(batch["id"]) for batch in batches), 6, "samples of the epoch after an unfinished one")


@test
def an_abandoned_epoch_ends_before_the_next_one_begins():
    dataset = data.range(10)
    iterator = dataset.iterator()
    walk = iter(iterator.iter_batches(batch_size=2))
    next(walk)
    link, sent = iterator._link, []
    ask, link.ask = link.ask, lambda op, **fields: (_ for _ in ()).throw(RuntimeError("busy"))
    del walk  # as the garbage collector may do while the link is busy
    link.ask = lambda op, **fields: (sent.append(op), ask(op, **fields))[1]
    equal(len(next(iter(iterator.iter_batches(batch_size=3)))["id"]), 3, "samples")
    check(sent.index("data_end") < sent.index("data_begin"), f"the order of messages is {sent}")
    link.ask = ask


@test
def small_batches_share_a_message_and_large_ones_do_not():
    def messages(dataset, batch_size):
        iterator, asked = dataset.iterator(), []
        link = iterator._link
        ask, link.ask = link.ask, lambda op, **fields: (asked.append(op), ask(op, **fields))[1]
        try:
            batches = [{name: column.copy() for name, column in batch.items()} for batch in iterator.iter_batches(batch_size=batch_size)]
        finally:
            link.ask = ask
        return asked.count("data_next"), batches

    dataset = data.range(1000)
    asked, batches = messages(dataset, 2)
    equal([batch["id"].tolist() for batch in batches], [[first, first + 1] for first in range(0, 1000, 2)], "small batches")
    check(asked < 50, f"500 batches of 16 bytes took {asked} messages")
    rows = numpy.arange(6 * 300_000, dtype="u1").reshape(6, -1)
    asked, batches = messages(data.from_numpy(rows), 1)
    same(numpy.concatenate([batch["data"] for batch in batches]), rows, "large batches")
    check(asked >= len(batches), f"{len(batches)} batches of 300 kB took {asked} messages")


# ---- errors ----------------------------------------------------------------------------------------------------------


@test
def a_concatenator_joins_columns():
    columns = {"b": numpy.array([3, 4], "i4"), "y": numpy.array([5.0, 6.0], "f4"), "a": numpy.array([1.5, 2.5])}
    both = Concatenator(columns=["a", "b"], output_column_name="x", dtype=numpy.float32)
    made = both.fit_transform(data.from_items([{name: column[row] for name, column in columns.items()} for row in (0, 1)]))
    equal(made.columns(), ["y", "x"], "columns")
    same(column(made, "x"), numpy.array([[1.5, 3], [2.5, 4]], "f4"), "the vectors")
    same(both.transform_batch(columns)["x"], column(made, "x"), "a batch")
    vectors = {"v": numpy.arange(4.0).reshape(2, 2), "a": columns["a"]}
    same(Concatenator(["v", "a"], flatten=True).transform_batch(vectors)["concat_out"], [[0, 1, 1.5], [2, 3, 2.5]], "with vectors")
    raises(ValueError, "Missing columns specified in '['z']'", "the columns are: v, a", of=lambda: Concatenator(["z"]).transform_batch(vectors))
    raises(ValueError, "shape (2,); flatten=True", of=lambda: Concatenator(["v", "a"]).transform_batch(vectors))
    raises(TypeError, "contains texts", of=lambda: Concatenator(["t"]).transform_batch({"t": ["one", "two"]}))
    raises(ValueError, "must be a list of column names", of=lambda: Concatenator("a"))
    raises(TypeError, "takes a dataset of trainrt.data", of=lambda: both.transform(vectors))


@test
def a_concatenator_joins_all_columns_but_the_excluded_ones():
    rows = [{"a": 1.0, "target": 7, "b": 2}, {"a": 3.0, "target": 8, "b": 4}]
    joined = Concatenator(exclude=["target", "absent"], dtype=numpy.float32)
    made = joined.fit_transform(data.from_items(rows))
    equal(made.columns(), ["target", "concat_out"], "columns")
    same(column(made, "concat_out"), numpy.array([[1, 2], [3, 4]], "f4"), "the vectors")
    same(column(Preprocessor.from_json(joined.to_json()).transform(data.from_items(rows)), "concat_out"), column(made, "concat_out"), "after JSON")
    same(Concatenator(include=["b", "a"]).transform_batch({"a": [1.5], "b": [2.0]})["concat_out"], [[2, 1.5]], "include")
    check("exclude" not in Concatenator(["a"]).to_json(), "JSON has an argument that earlier versions do not know")
    path = scratch("unnamed") / "table.csv"
    path.write_text(",a,target,b\n0,1,7,2\n1,3,8,4\n")
    unnamed = Concatenator(exclude=["", "target"], dtype=numpy.float32)
    same(column(unnamed.fit_transform(data.read_csv(str(path))), "concat_out"), column(made, "concat_out"), "without the column that has no name")
    same(column(Preprocessor.from_json(unnamed.to_json()).transform(data.read_csv(str(path))), "concat_out"), column(made, "concat_out"), "after JSON, unnamed")
    same(Concatenator(["c0", "a"], exclude=[""]).transform_batch({"c0": [0], "a": [1.5]})["concat_out"], [[1.5]], "columns without the one that has no name")
    raises(ValueError, "exclude names all columns: '', a", of=lambda: Concatenator(["c0"], exclude=["", "a"]))
    raises(ValueError, "exclude names all columns of the data: a", of=lambda: Concatenator(exclude=["a"]).transform_batch({"a": [1]}))
    raises(ValueError, "only one may be given", of=lambda: Concatenator(["a"], include=["a"]))


@test
def a_concatenator_refuses_values_outside_of_an_integer_type():
    put = lambda dtype, *values: Concatenator(["a", "b"], dtype=dtype).transform_batch({"a": numpy.zeros(len(values)), "b": numpy.array(values)})["concat_out"]
    for dtype, value, words in (("i32", float("nan"), "nan"), ("i32", 3e10, "30000000000"), ("i64", 2.0**63, ""), ("u8", 300, "300"), ("u8", -1, "-1"),
                                ("u8", -0.5, "-0.5"), ("i8", numpy.float16(numpy.inf), "inf"), ("i32", 2**31, "2147483648")):
        raises(ValueError, f"column 'b' contains {words}", f"out of the range of {dtype}", of=lambda: put(dtype, 1, value))
    same(put("u8", 0, 255, 2.9), numpy.array([[0, 0], [0, 255], [0, 2]], "u1"), "u8 values without their fractions")
    same(put("i32", -2**31, 2**31 - 1), numpy.array([[0, -2**31], [0, 2**31 - 1]], "i4"), "the limits of i32")
    same(put("i64", -2**63, 2**63 - 1)[:, 1], numpy.array([-2**63, 2**63 - 1]), "the limits of i64")
    same(put("i16", True, False), numpy.array([[0, 1], [0, 0]], "i2"), "truth values")
    same(put("i8"), numpy.empty((0, 2), "i1"), "no samples")


@test
def without_arrow_the_error_names_the_build_option_and_the_conversion():
    folder = scratch()
    (folder / "x.parquet").write_bytes(b"PAR1" + bytes(64) + b"PAR1")
    code = f"import trainrt; trainrt.data.read_parquet({str(folder / 'x.parquet')!r}).count()"
    job = run([PYTHON, "-c", code], env={"PYTHONPATH": str(BUILD / "python"), "TRAINRT_MODULE_PATH": str(folder)})
    for words in ("ValueError", "built without Apache Arrow", "-DARROW_ROOT=$(python3 -c 'import pyarrow;",
                  "python3 -c \"import pandas; pandas.read_parquet('x.parquet').to_csv('x.csv', index=False)\""):
        check(words in job.err, f"{words!r} is not in: {job.err}")


@test
def wrong_arguments_are_named():
    raises(FileNotFoundError, "nowhere.csv", of=lambda: data.read_csv("nowhere.csv"))
    raises(ValueError, "hdfs://", "object store", of=lambda: data.read_csv("hdfs://bucket/x.csv"))
    raises(TypeError, "read_csv", "arrow_csv_args", of=lambda: data.read_csv("/etc/passwd", arrow_csv_args={}))
    raises(TypeError, "map", "function", of=lambda: data.range(3).map(3))
    raises(TypeError, "map", "nothing_like_it", of=lambda: data.range(3).map(dict, nothing_like_it=1))
    raises(ValueError, "batch_size", "0", of=lambda: list(data.range(3).iter_batches(batch_size=0)))
    raises(ValueError, "random_shuffle", of=lambda: data.range(3).iter_batches(local_shuffle_buffer_size=100))
    raises(ValueError, "pad", "uneven", "rubbish", of=lambda: list(data.range(3).iter_batches(remainder="rubbish")))
    raises(KeyError, "'nope'", "id", of=data.range(3).select_columns(["nope"]).take_all)
    raises(ValueError, "0.1", "at least one", of=lambda: data.range(3).train_test_split(0.1))


@test
def samples_are_sorted_combined_and_grouped():
    rows = data.from_items([{"a": 1, "x": 2.0}, {"a": 0, "x": 3.0}, {"a": 1, "x": math.nan}])
    equal([row["a"] for row in rows.sort("a", descending=True).take_all()], [1, 1, 0], "descending")
    equal([repr(row["x"]) for row in rows.sort(["x"], [True]).take_all()], ["3.0", "2.0", "nan"], "missing values come last")
    equal((rows.union(rows).count(), data.range(2).zip(data.range(2)).take_all()), (6, [{"id": 0, "id_1": 0}, {"id": 1, "id_1": 1}]), "union and zip")
    equal(rows.groupby("a").sum("x").take_all(), [{"a": 0, "sum(x)": 3.0}, {"a": 1, "sum(x)": 2.0}], "sums of groups")
    equal(rows.groupby("a").map_groups(lambda group: {"n": [len(group["a"])]}).take_all(), [{"n": 1}, {"n": 2}], "groups")
    sampled = data.range(1000).random_sample(0.3, seed=1)
    check(200 < sampled.count() < 400 and sampled.take_all() == data.range(1000).random_sample(0.3, seed=1).take_all(), "the sample is not a third, or differs")
    equal([batch["id"].tolist() for batch in data.range(5).sort("id", descending=True).iter_batches(batch_size=3)], [[4, 3, 2], [1, 0]], "batches")
    raises(ValueError, "Cannot zip datasets of different number of rows: 2, 3", of=data.range(2).zip(data.range(3)).take_all)
    raises(ValueError, "different columns: a, x; and id", of=rows.union(data.range(2)).take_all)
    raises(ValueError, "there's no such column in the dataset", of=rows.sort("z").take_all)


@test
def aggregations_have_rays_names_and_ignore_missing_values():
    from trainrt.data.aggregate import AbsMax, Count, Mean, Std
    rows = data.from_items([{"a": 1, "x": 2.0, "t": "b"}, {"a": -3, "x": 3.0, "t": None}, {"a": 1, "x": math.nan, "t": "b"}])
    equal((rows.min("a"), rows.max("x"), rows.mean("x"), rows.sum(["a", "x"]), rows.std("x", ddof=0)), (-3, 3.0, 2.5, {"sum(a)": -1, "sum(x)": 5.0}, 0.5), "values")
    equal(rows.aggregate(Mean("x"), Count(), AbsMax("a"), Std("a", alias_name="s")),
          {"mean(x)": 2.5, "count()": 3, "abs_max(a)": 3, "s": numpy.std([1, -3, 1], ddof=1)}, "aggregate()")
    equal((rows.unique("t"), rows.unique("t", ignore_nulls=True), rows.mean("x", ignore_nulls=False)), (["b", None], ["b"], None), "missing values")
    equal((data.range(0).sum("id"), data.range(0).count(), data.range(0).columns()), (None, 0, ["id"]), "no samples")


@test
def values_that_only_the_script_can_hold_stay_in_its_process():
    rows = data.from_items([{"t": "a", "l": ["x", "y"], "d": {"k": 1}}, {"t": None, "l": [], "d": {"k": 2}}])
    changed = rows.filter(lambda row: row["t"] is None).map(lambda row: {"t": row["t"], "d": row["d"], "n": row["d"]["k"]})
    equal(changed.take_all(), [{"t": None, "d": {"k": 2}, "n": 2}], "rows")
    equal(sorted(str(row["t"]) for row in rows.random_shuffle(seed=3).take_all()), ["None", "a"], "shuffled rows")
    equal([len(batch["t"]) for batch in rows.iter_batches(batch_size=1)], [1, 1], "batches")
    folder = scratch()
    raises(ValueError, "column 'l' has samples that are list, such as ['x', 'y']", of=lambda: rows._config(str(folder)))
    raises(TypeError, "column 'd' has samples that are dict", of=lambda: rows.select_columns(["d"]).materialize()._config(str(folder)))
    texts = rows.select_columns(["t"]).materialize()
    stored = (Path(texts._config(str(folder))["source"])).read_text()
    equal(stored, '{"t": "a"}\n{"t": ""}\n', "the file for the ranks")


@test
def categories_of_a_frame_stay_with_their_column():
    try:
        import pandas
    except ImportError:
        skip("pandas is not installed")
    kind = pandas.CategoricalDtype(["z", "b", "a"], ordered=True)
    frame = pandas.DataFrame({"x": [1, 2, 3], "c": pandas.Categorical(["a", None, "b"], dtype=kind)})
    rows = data.from_pandas(frame)
    for changed in (rows, rows.materialize(), rows.random_shuffle().materialize(), rows.map_batches(lambda each: each, batch_format="pandas")):
        equal(changed.to_pandas()["c"].dtype, kind, f"dtype of {changed!r}")
    equal([row["c"] for row in rows.take_all()], ["a", None, "b"], "values")
    equal(rows.rename_columns({"c": "d"}).to_pandas()["d"].dtype, kind, "renamed")
    equal(type(next(iter(rows.iter_batches()))["c"]), numpy.ndarray, "type of the column in a batch")


@test
def an_invalid_result_of_a_function_is_an_error():
    raises(TypeError, "map(", "int", of=data.range(3).map(lambda row: 3).take_all)
    raises(TypeError, "map_batches(", "list", of=data.range(3).map_batches(lambda batch: [1]).take_all)
    raises(ValueError, "several lengths", of=data.range(3).map_batches(lambda batch: {"a": [1], "b": [1, 2]}).take_all)
    raises(ValueError, "different keys", of=data.range(3).map(lambda row: {f"k{row['id']}": 1}).take_all)


@test
def a_dataframe_is_read_exactly_or_refused():
    try:
        import pandas
    except ImportError:
        skip("pandas is not installed")
    for frame in ({"km/h": [1.5], "file": [1]}, {"km/h": [1.5], "a\\\\b": ["x"]}, {"file": ["x"], "": [2]}):
        row = {name: values[0] for name, values in frame.items()}
        equal(data.from_pandas(pandas.DataFrame(frame)).take_all(), [row], "rows")
    frame = pandas.DataFrame({"text": ["a", None], "flag": pandas.array([True, False], dtype="boolean"), "id": pandas.array([1, 2**60 + 1], dtype="Int64"),
                              "few": pandas.array([3, None], dtype="Int64"), "known": pandas.array([None, True], dtype="boolean")})
    rows = data.from_pandas(frame).take_all()
    equal([repr([row[name] for row in rows]) for name in frame], [repr(["a", None]), "[True, False]", f"[1, {2**60 + 1}]", "[3.0, nan]", "[nan, 1.0]"], "values")
    raises(ValueError, "2 columns named 'a'", of=lambda: data.from_pandas(pandas.DataFrame([[1, 2]], columns=["a", "a"])))
    raises(ValueError, "2 columns named '0'", of=lambda: data.from_pandas(pandas.DataFrame([[1, 2]], columns=[0, "0"])))
    raises(ValueError, "names are equal", of=lambda: data.from_numpy({0: [1], "0": [2]}))
    raises(ValueError, str(2**53 + 1), "row 0", "'id'", of=lambda: data.from_pandas(pandas.DataFrame({"id": pandas.array([2**53 + 1, None], dtype="Int64")})))
    raises(ValueError, "'x/y'", "infinity in row 1", of=lambda: data.from_numpy({"x/y": [1.0, math.inf]}).take_all())


@test
def times_of_a_dataframe_are_timestamps_in_samples_and_in_the_schema():
    try:
        import pandas
    except ImportError:
        skip("pandas is not installed")
    frame = pandas.DataFrame({"at": pandas.to_datetime(["2020-01-01 10:00", None]), "took": pandas.to_timedelta([1, 2], "s")})
    dataset = data.from_pandas(frame)
    first, second = dataset.take(2)
    equal(first, {"at": pandas.Timestamp("2020-01-01 10:00"), "took": pandas.Timedelta("1s")}, "the first sample")
    check(type(first["at"]) is pandas.Timestamp and second["at"] is pandas.NaT, f"{first}, {second}")
    equal(dataset.schema().types, ["datetime64[ns]", "timedelta64[ns]"], "types")
    equal(dataset.map(lambda row: {"year": row["at"].year}).take(1), [{"year": 2020}], "a map function")
    check(dataset.to_pandas().equals(frame), f"{dataset.to_pandas()}")


@test
def preprocessors_are_an_attribute_that_is_imported_at_its_first_use():
    text = ("import sys, trainrt.data as data; assert 'trainrt.data.preprocessors' not in sys.modules; "
            "print(data.preprocessors.LabelEncoder('city').label_column)")
    job = Job([sys.executable, "-c", text], env={"PYTHONPATH": f"{BUILD}/python"})
    check(job.wait() == 0 and job.out == "city\n", "the module was not found", job)


@test
def a_dataset_without_samples_has_columns_and_no_batches():
    empty = data.range(10).filter(lambda row: row["id"] > 100)
    for dataset in (empty, empty.random_shuffle(), empty.filter(lambda row: True), data.range(5).limit(0), data.range(1).split(2)[1], empty.materialize()):
        equal((dataset.count(), dataset.take_all(), list(dataset.iter_batches()), dataset.columns()), (0, [], [], ["id"]), repr(dataset))
    equal(repr(empty.map(lambda row: {"y": row["id"] / 2}).schema()), "y: float64", "schema of an empty mapped dataset")
    equal(repr(data.from_numpy({"x": numpy.zeros((0, 3), "f4")}).schema()), "x: float32[3]", "schema")
    equal((data.from_items([]).schema(), data.from_items([]).take_all(), data.range(3).flat_map(lambda row: []).take_all()), (None, [], []), "no columns")
    raises(ValueError, "empty", of=empty.take_batch)
    raises(ValueError, "'valid'", "no samples", of=lambda: _datasets.settings(_datasets.sections_of({"valid": empty}, None), str(scratch())))


@test
def a_damaged_file_is_named_with_its_row():
    path = scratch() / "bad.csv"
    path.write_text("x,y\n1,2\n3,4,5\n")
    raises(ValueError, "bad.csv", "row 3", of=data.read_csv(path).take_all)


# ---- files and processes ------------------------------------------------------------------------------------------------------


@test
def a_written_file_is_complete_or_absent():
    folder = scratch()

    def fails(file):
        file.write(b"half")
        raise OSError("no space")

    raises(OSError, "no space", of=lambda: _files.put(folder, fails, "npz", "abc"))
    equal(os.listdir(folder), [], "remaining files after a failure")
    first = _files.put_columns(folder, {"x": numpy.arange(3)})["source"]
    equal(_files.put_columns(folder, {"x": numpy.arange(3)})["source"], first, "the file of the same data")
    check(_files.put_columns(folder, {"x": numpy.arange(4)})["source"] != first, "different data got the same file")


@test
def no_files_or_processes_remain_after_exit():
    temporary = scratch()
    text = "import trainrt; print(trainrt.data.from_items([1, 2, 3]).count()); print(trainrt.data._batches._server.server()._process.pid)"
    done = run([PYTHON, "-c", text], env={"PYTHONPATH": BUILD / "python", "TMPDIR": temporary})
    check_exit(done, 0)
    count, process = done.out.split()
    equal(count, "3", "samples", done)
    check(not Path(f"/proc/{process}").exists(), f"process {process} of `trainrt data serve` is still running")
    equal(os.listdir(temporary), [], "remaining files")


@test
def a_killed_reader_is_replaced():
    text = ("import trainrt, os; numbers = trainrt.data.range(3); numbers.count(); reader = trainrt.data._batches._server.server()._process\n"
            "reader.kill(); reader.wait(); print(numbers.count(), trainrt.data.range(4).count())")
    done = run([PYTHON, "-c", text], env={"PYTHONPATH": BUILD / "python", "TMPDIR": scratch()})
    check_exit(done, 0)
    equal(done.out.split(), ["3", "4"], "samples of an old dataset and of a new one", done)


@test
def non_integers_and_duplicate_names_are_refused():
    rows = data.from_items([{"a": n, "b": 1} for n in range(6)])
    raises(ValueError, "limit(): -1 is not 0 or more", of=lambda: rows.limit(-1))
    raises(TypeError, "2.5 is not an integer", of=lambda: rows.take(2.5))
    raises(TypeError, "window(length=...): 4.5", of=lambda: rows.window(4.5))
    raises(ValueError, "window(stride=...): 0", of=lambda: rows.window(4, stride=0))
    raises(TypeError, "pack(length=...): True", of=lambda: rows.pack("a", True))
    raises(ValueError, "two columns would get the same name", of=lambda: rows.rename_columns({"a": "b"}).take(1))
    raises(ValueError, "num_features", of=lambda: data.preprocessors.HashingVectorizer(["a"], num_features=0))


@test
def the_reader_ends_with_its_killed_process():
    text = "import trainrt, os, sys; trainrt.data.range(3).count(); print(trainrt.data._batches._server.server()._process.pid, flush=True); os.kill(os.getpid(), 9)"
    done = run([PYTHON, "-c", text], env={"PYTHONPATH": BUILD / "python", "TMPDIR": scratch()})
    process = Path(f"/proc/{done.out.split()[0]}")
    wait_until(lambda: not process.exists(), 20, f"the end of {process}")


main()
