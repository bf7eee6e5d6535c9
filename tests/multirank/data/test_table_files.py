#!/usr/bin/python3
"""Train functions get the exact values of Parquet and Arrow files written by pyarrow: all types, codecs, missing values, row groups and
files, in order and shuffled, on one or more ranks, and across stops. An unsupported file or column is an error that names it."""
import decimal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from tools import arrow_python  # noqa: E402,F401  restarts this script in a Python with pyarrow
from runs.read_back import *  # noqa: E402,F403

try:
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as pq
except ImportError:
    pa = None

ROWS = 23
NUMBERS = ("i1", "i2", "i4", "i8", "u1", "f2", "f4", "f8", "?")


def needs_arrow():
    if pa is None:
        skip("pyarrow is not installed (PyPI could not be reached)")
    if not (BUILD / "modules/arrow.so").exists():
        skip("the module arrow.so is not built (-DARROW_ROOT)")
    setup_read_back()


def table_of_many_types(rows=ROWS, seed=1):
    """Returns a table and the expected fields."""
    random = numpy.random.default_rng(seed)
    expected = {f"n_{dtype.replace('?', 'bool')}": values_of(dtype, rows) for dtype in NUMBERS}
    arrays = {name: pa.array(values) for name, values in expected.items()}
    for dtype, wider in (("u2", "i4"), ("u4", "i8")):
        values = values_of(dtype, rows)
        arrays[dtype], expected[dtype] = pa.array(values), values.astype(wider)
    words = texts(rows)
    for name, kind in (("text", pa.string()), ("large", pa.large_string()), ("words", pa.dictionary(pa.int8(), pa.string()))):
        arrays[name], expected[name] = pa.array(words).cast(kind), as_bytes(words)
    arrays["bytes"], expected["bytes"] = pa.array([word.encode() for word in words]), as_bytes(words)
    lists = [random.normal(size=number % 4).astype("f4") for number in range(rows)]
    arrays["list"], expected["list"] = pa.array([list(map(float, one)) for one in lists], pa.list_(pa.float32())), lists
    arrays["large_list"], expected["large_list"] = arrays["list"].cast(pa.large_list(pa.float32())), lists
    vectors = random.integers(-5, 5, (rows, 3)).astype("i2")
    arrays["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 3)
    expected["vector"] = vectors
    arrays["hash"] = pa.array([bytes([number % 251] * 4) for number in range(rows)], pa.binary(4))
    expected["hash"] = numpy.array([[number % 251] * 4 for number in range(rows)], "u1")
    days = numpy.arange(rows, dtype="i8") * 1000 - 3
    arrays["day"] = pa.array(days.astype("i4")).cast(pa.date32())
    arrays["moment"] = pa.array(days * 1000003).cast(pa.timestamp("us", tz="UTC"))
    expected["day"], expected["moment"] = days, days * 1000003
    holes = [None if number % 3 == 0 else number for number in range(rows)]
    nan = numpy.array([numpy.nan if number is None else number for number in holes])
    arrays["real_holes"], expected["real_holes"] = pa.array(holes, pa.float32()), nan.astype("f4")
    arrays["whole_holes"], expected["whole_holes"] = pa.array(holes, pa.int16()), nan
    arrays["flag_holes"] = pa.array([None if one is None else one % 2 == 0 for one in holes])
    expected["flag_holes"] = numpy.array([numpy.nan if one is None else float(one % 2 == 0) for one in holes])
    arrays["text_holes"] = pa.array([None if one is None else f"t{one}" for one in holes])
    expected["text_holes"] = as_bytes(["" if one is None else f"t{one}" for one in holes])
    arrays["list_holes"] = pa.array([None if one is None else [one, None] for one in holes], pa.list_(pa.float64()))
    expected["list_holes"] = [numpy.array([] if one is None else [one, numpy.nan], "f8") for one in holes]
    arrays["vector_holes"] = pa.array([None if one is None else [one, None] for one in holes], pa.list_(pa.float64(), 2))
    expected["vector_holes"] = numpy.array([[numpy.nan] * 2 if one is None else [one, numpy.nan] for one in holes])
    arrays["number_words"], expected["number_words"] = pa.array(days % 3).dictionary_encode(), days % 3
    return pa.table(arrays), expected


def parquet_files_of_many_types(folder):
    table, expected = table_of_many_types()
    pq.write_table(table, folder / "x.parquet", row_group_size=5)
    return {"source": folder / "x.parquet"}, expected


def parquet_files_that_are_not_kept_in_memory(folder):
    table, expected = table_of_many_types()
    for first in (0, 7, 8):
        end = {0: 7, 7: 8, 8: ROWS}[first]
        pq.write_table(table.slice(first, end - first), folder / f"{first}.parquet", row_group_size=6, use_dictionary=first != 7)
    columns = [name for name in expected if not name.endswith("_holes")]  # each file has its own missing values
    return {"source": folder, "format": "parquet", "memory": "0 B", "columns": ", ".join(columns)}, {name: expected[name] for name in columns}


def parquet_files_of_every_codec(folder):
    table, expected = table_of_many_types()
    columns = ["n_f8", "text", "list", "n_bool"]
    codecs = ("none", "snappy", "gzip", "zstd", "lz4", "brotli")
    for number, codec in enumerate(codecs):
        pq.write_table(table.select(columns), folder / f"{number}.parquet", compression=codec, row_group_size=9, version="1.0" if number % 2 else "2.6",
                       data_page_version="2.0" if number % 2 else "1.0", use_dictionary=number % 3 == 0)
    repeated = {name: list(expected[name]) * len(codecs) if isinstance(expected[name], list) else numpy.tile(expected[name], len(codecs)) for name in columns}
    return {"source": folder / "*.parquet", "memory": "0 B", "columns": ", ".join(columns)}, repeated


def the_numbers_of_parquet_files_as_one_field(folder):
    random = numpy.random.default_rng(3)
    features, labels, holes = random.normal(size=(ROWS, 5)), numpy.arange(ROWS) % 4, numpy.arange(ROWS) % 2
    arrays = {"label": pa.array(labels), **{f"f{n}": pa.array(features[:, n]) for n in range(5)},
              "holes": pa.array([None if hole else 7 for hole in holes], pa.int32()), "name": pa.array(texts(ROWS))}
    pq.write_table(pa.table(arrays), folder / "x.parquet", row_group_size=4)
    x = numpy.column_stack([features, numpy.where(holes, numpy.nan, 7)]).astype("f4")
    return ({"source": folder / "x.parquet", "types": "label:i32", "vector": "x", "memory": "0 B"},
            {"label": labels.astype("i4"), "x": x, "name": as_bytes(texts(ROWS))})


def arrow_files_of_many_types(folder):
    table, expected = table_of_many_types()
    table = table.append_column("view", table["text"].cast(pa.string_view()))
    with pa.ipc.new_file(folder / "x.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=5)
    return {"source": folder / "x.arrow"}, {**expected, "view": expected["text"]}


def feather_files_that_are_not_kept_in_memory(folder):
    table, expected = table_of_many_types()
    feather.write_feather(table, folder / "x.feather", compression="zstd", chunksize=6)
    return {"source": folder / "x.feather", "memory": "0 B"}, expected


def row_groups_too_large_for_the_cache(folder):
    table = pa.table({f"c{n}": values_of("<f8", 4000) for n in range(3)})
    pq.write_table(table, folder / "x.parquet", row_group_size=1000)
    return {"source": folder / "x.parquet", "memory": "0 B", "chunk_cache": "8 kB"}, {name: table[name].to_numpy() for name in table.column_names}


def converted(source, output, *words):
    job = run([TRAINRT, "data", "convert", source, "-o", output, *map(str, words)])
    check_exit(job, FINISHED)
    return output


def parquet_files_of_convert(folder):
    """Converts a file with every type of field to Parquet; checks the result with pyarrow, and returns it with the expected values."""
    table, expected = table_of_many_types()
    images = values_of("u1", ROWS, 3, 4, 2)
    table = table.append_column("image", pa.FixedShapeTensorArray.from_numpy_ndarray(images))
    lists = [list(range(number % 5)) for number in range(ROWS)]
    flags = [[one % 2 == 0 for one in each] for each in lists]
    table = table.append_column("flags", pa.array(flags)).append_column("ids", pa.array(lists, pa.list_(pa.int64())))
    expected.update(image=images, flags=[numpy.array(each, "?") for each in flags], ids=[numpy.array(each, "i8") for each in lists])
    pq.write_table(table, folder / "from.parquet")
    path = converted(folder / "from.parquet", folder / "x.parquet", "--compress", "zstd")
    found = pq.read_table(path)
    found.validate(full=True)
    equal([str(found.schema.field(name).type) for name in ("n_u1", "text", "list", "vector")],
          ["uint8", "string", "list<element: float not null>", "fixed_size_list<element: int16 not null>[3]"], "types")
    equal((found["image"].type.shape, found.num_rows), ([3, 4, 2], ROWS), "shape of the images, and number of rows")
    equal({found[name].null_count for name in found.column_names}, {0}, "missing values")
    check(found["image"].combine_chunks().to_numpy_ndarray().tobytes() == images.tobytes(), "the images differ")
    for name, values in expected.items():
        column = found[name].to_pylist()
        if name in ("text", "large", "words", "bytes", "text_holes"):
            values = [bytes(one).decode() for one in values]
        elif name == "image":
            values = [one.ravel().tolist() for one in values]
        else:
            values = [numpy.asarray(one).tolist() for one in values]
        equal(repr(column), repr(values), f"{name}, read by pyarrow")
    return {"source": path}, expected


if pa is not None:
    for each in (parquet_files_of_convert,):
        written(each, (1, 2))
    for each in (parquet_files_of_many_types, parquet_files_that_are_not_kept_in_memory, parquet_files_of_every_codec,
                 the_numbers_of_parquet_files_as_one_field, arrow_files_of_many_types, feather_files_that_are_not_kept_in_memory,
                 row_groups_too_large_for_the_cache):
        written(each, (1, 3))


# ---- convert -----------------------------------------------------------------------------------------------------------------


@test
def convert_writes_the_same_parquet_file_with_any_number_of_threads():
    folder, rows = scratch(), 700_000
    random = numpy.random.default_rng(3)
    arrays = {"x": random.normal(size=(rows, 4)), "y": random.integers(0, 9, rows), "flag": random.integers(0, 2, rows).astype(bool)}
    numpy.savez(folder / "a.npz", **arrays)
    whole = converted(folder / "a.npz", folder / "whole.parquet", "--threads", 1)
    check(pq.ParquetFile(whole).metadata.num_row_groups > 1, "the file has only one row group")
    check(whole.read_bytes() == converted(folder / "a.npz", folder / "again.parquet", "--threads", 3).read_bytes(), "the file depends on the number of threads")
    for codec in ("snappy", "zstd", "gzip", "lz4", "brotli"):
        path = converted(folder / "a.npz", folder / f"{codec}.parquet", "--compress", codec, "--columns", "y,x")
        equal(pq.ParquetFile(path).metadata.row_group(1).column(0).compression, codec.upper(), "codec")
        found = pq.read_table(path)
        equal(found.column_names, ["y", "x"], "columns")
        check(found["y"].to_numpy().tobytes() == arrays["y"].tobytes(), f"{codec}: the labels differ")
        check(found["x"].combine_chunks().flatten().to_numpy().tobytes() == arrays["x"].tobytes(), f"{codec}: the vectors differ")
    converted(folder / "a.npz", folder / "s.parquet", "--split", "0.8", "--shuffle", "--columns", "y", "--where", "y > 3")
    parts = [pq.read_table(folder / f"s-{name}.parquet")["y"].to_numpy() for name in ("train", "test")]
    equal(sorted(numpy.concatenate(parts)), sorted(arrays["y"][arrays["y"] > 3]), "labels of both parts")


@test
def a_value_that_parquet_cannot_store_is_an_error_and_leaves_no_file():
    folder = scratch()
    (folder / "a.txt").write_bytes(b"good\nbad \xff\n")
    numpy.savez(folder / "e.npz", empty=numpy.zeros((3, 0)), y=numpy.arange(3))
    for source, words, says in (("a.txt", (), ["row 1", "'text'", "UTF-8", "--columns"]), ("e.npz", (), ["'empty'", "0 values"]),
                                ("e.npz", ("--compress", "lzo"), ["--compress lzo", "snappy or zstd"])):
        job = run([TRAINRT, "data", "convert", folder / source, "-o", folder / "x.parquet", *words])
        check_exit(job, USAGE)
        for word in says:
            check(word in job.err, f"the message lacks '{word}'", job)
    job = run([TRAINRT, "data", "convert", folder / "e.npz", "-o", folder / "x.parquet", "--columns", "y"], env={"TRAINRT_MODULE_PATH": str(folder)})
    check_exit(job, USAGE)
    for word in ("written by the module arrow.so", "pip install pyarrow"):
        check(word in job.err, f"the message lacks '{word}'", job)
    equal(sorted(path.name for path in folder.iterdir()), ["a.txt", "e.npz"], "remaining files")


@test
def a_conversion_that_fails_at_an_integer_leaves_no_file_and_the_corrected_command_works():
    folder = scratch()
    pq.write_table(pa.table({"a": pa.array([1, 2**63], pa.uint64())}), folder / "a.parquet")
    job = run([TRAINRT, "data", "convert", folder / "a.parquet", "-o", folder / "x.csv"])
    check_exit(job, USAGE)
    check("9223372036854775808" in job.err and "to resume" not in job.err, "another message", job)
    equal([path.name for path in folder.iterdir()], ["a.parquet"], "remaining files")
    equal(converted(folder / "a.parquet", folder / "x.csv", "--types=a:f64").read_text(), "a\n1.0\n9223372036854775808.0\n", "the values")


# ---- stops -------------------------------------------------------------------------------------------------------------------


def seen_of(run_dir):
    return {name: value for name, value in state_of(run_dir).items() if name == "seen"}


@test
def a_run_over_parquet_files_sees_the_same_samples_after_a_stop_at_any_step():
    folder, rows = scratch(), 31
    images = numpy.repeat((numpy.arange(rows) % 251).astype("u1"), 4)
    table = pa.table({"images": pa.FixedSizeListArray.from_arrays(pa.array(images), 4), "other": pa.array(texts(rows))})
    for first, count in ((0, 13), (13, 18)):
        pq.write_table(table.slice(first, count), folder / f"{first:02}.parquet", row_group_size=5)
    sections = {"train": {"library": module_of("samples")}, "data.train": {"source": folder / "*.parquet", "shuffle": True, "memory": "0 B"},
                "failure": {"max_failures": 0}}
    def config(name, **loop):
        return write_config(folder / f"{name}.ini", {"run": {"name": name, "storage_path": folder / "runs", "seed": 5}, "loop": {"batch_size": 3, **loop}, **sections})
    whole = config("whole")
    job = run_ranks(3, whole)
    check_exit(job, FINISHED)
    steps = step_of(run_dir_of(whole))
    check(steps == 8, f"{steps} steps")
    for step in range(1, steps):
        stopped = config(f"stopped_{step}", stop_at=step)
        check_exit(run_ranks(3, stopped), STOPPED)
        check_exit(run_ranks(1 if step % 2 else 3, stopped, "--scaling.on_resize=keep_global_batch"), FINISHED)
        check(seen_of(run_dir_of(stopped)) == seen_of(run_dir_of(whole)), f"different samples after a stop at step {step}")


# ---- errors -----------------------------------------------------------------------------------------------------


def refused(source, *words, code=USAGE, **keys):
    folder = scratch()
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": module_of("reads")},
                                               "loop": {"batch_size": 4, "out": folder}, "data.read": {"source": source, "memory": "0 B", **keys}})
    job = run_ranks(1, config)
    check_exit(job, code)
    for word in words:
        check(word in job.err, f"the message lacks '{word}'", job)
    return job


@test
def an_unsupported_column_type_or_vector_is_an_error_that_names_the_column():
    folder = scratch()
    table = pa.table({"a": pa.array([1, 2, 300]), "s": pa.array([{"x": 1}] * 3), "d": pa.array([decimal.Decimal("1.25")] * 3, pa.decimal128(20, 2)), "t": ["x"] * 3,
                      "ll": [[[1]]] * 3, "u": pa.array([1, 2, 2**63], pa.uint64())})
    pq.write_table(table, folder / "x.parquet")
    path = folder / "x.parquet"
    refused(path, "columns", "'s'", "struct<x: int64>", "nested", columns="a, s")
    refused(path, "columns", "'d'", "decimal128(20, 2)", "float64", columns="d")
    refused(path, "columns", "'ll'", "nested", columns="ll")
    refused(path, "columns", "no 'b'", columns="a, b")
    refused(path, "types", "'t'", "string", columns="t", types="t:f32")
    refused(path, "types", "'a'", "not text", columns="a", types="a:text")
    refused(path, "vector", "no column of numbers", columns="t", vector="x")
    for keys, words in (({"columns": "a", "types": "a:u8"}, ("column 'a'", "row 2", "300")), ({"columns": "u"}, ("column 'u'", "row 2", "9223372036854775808"))):
        refused(path, "x.parquet", *words, **keys)
    job = refused(path, "9223372036854775808")
    for left_out in ("'s'", "'d'", "'ll'"):
        check(f"left out: the column {left_out}" in job.err, f"no message that {left_out} is left out", job)


@test
def files_with_different_schemas_are_an_error_that_names_column_and_types():
    folder = scratch()
    for number, values in enumerate(([1, 2], [3, 4], [5.5, 6.5])):
        pq.write_table(pa.table({"same": [0, 0], "price": values}), folder / f"{number}.parquet")
    refused(folder / "*.parquet", "0.parquet' has price i64[]", "2.parquet' has price f64[]")
    pq.write_table(pa.table({"same": [0, 0]}), folder / "1.parquet")
    refused(folder / "*.parquet", "0.parquet' has 'price'", "1.parquet' has only same")


@test
def a_missing_value_is_an_error_if_the_given_type_has_no_nan():
    folder = scratch()
    pq.write_table(pa.table({"n": pa.array([1, 2, None, 4])}), folder / "x.parquet", row_group_size=2)
    refused(folder / "x.parquet", "column 'n'", "row 2 has no value", types="n:i64")
    refused(folder / "x.parquet", "column 'n'", "row 2 has no value", vector="x:i32")


@test
def a_file_that_expands_to_more_than_max_expanded_bytes_is_an_error():
    folder = scratch()
    pq.write_table(pa.table({"text": ["x" * 1_000_000] * 100}), folder / "texts.parquet", compression="gzip")  # the dictionary stores the text once
    pq.write_table(pa.table({"n": numpy.zeros(5_000_000, "f4")}), folder / "zeros.parquet", row_group_size=5_000_000, compression="gzip")
    for name, code in (("texts", FAILED), ("zeros", USAGE)):
        check((folder / f"{name}.parquet").stat().st_size < 50_000, f"{name}.parquet is not small")
        refused(folder / f"{name}.parquet", f"{name}.parquet", "max_expanded_bytes", code=code, max_expanded_bytes="10 MiB")


@test
def a_damaged_file_is_an_error_that_names_the_file():
    folder = scratch()
    table, _ = table_of_many_types()
    pq.write_table(table, folder / "good.parquet", row_group_size=5)
    feather.write_feather(table, folder / "good.feather", chunksize=5)
    random = numpy.random.default_rng(1)
    for good in ("good.parquet", "good.feather"):
        whole = (folder / good).read_bytes()
        path = folder / f"bad{Path(good).suffix}"
        bad = [whole[:size] for size in (0, 3, 11, len(whole) // 2, len(whole) - 1)]
        bad.append(whole[:-8] + b"\xff\xff\xff\x7f" + whole[-4:])
        bad.append(whole[:-8] + b"\x00\x00\x00\x00" + whole[-4:])
        for number, content in enumerate(bad):
            path.write_bytes(content)
            refused(path, path.name)
        for number in range(8):
            content = bytearray(whole)
            for at in random.integers(0, len(content), 1 + number):
                content[at] = random.integers(0, 256)
            path.write_bytes(content)
            job = run_ranks(1, write_config(scratch() / "run.ini", {
                "run": {"name": "run", "storage_path": scratch()}, "train": {"library": module_of("reads")}, "loop": {"batch_size": 4, "out": scratch()},
                "data.read": {"source": path, "memory": "0 B"}}))
            check(job.code in (FINISHED, USAGE, FAILED), f"exit code {job.code}", job)
            check(job.code == FINISHED or path.name in job.err, "the file is not named", job)


@test
def without_the_module_an_error_explains_how_to_install_it():
    folder = scratch()
    (folder / "x.parquet").write_bytes(b"PAR1")
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder}, "train": {"function": "linear"}, "data.train": {"source": folder / "x.parquet"}})
    job = run_ranks(1, config, env={"TRAINRT_MODULE_PATH": str(folder)})
    check_exit(job, USAGE)
    for word in ("arrow.so", "pip install pyarrow", "ARROW_ROOT"):
        check(word in job.err, f"the message lacks '{word}'", job)


main(needs_arrow)
