#!/usr/bin/python3
"""read_parquet(), read_sql() and the write_...() methods of trainrt.data: trainrt and the library of each format read the written files back
bit for bit."""
import contextlib
import os
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from tools import arrow_python  # noqa: E402,F401  restarts the test in another Python
from runs.program_runs import *  # noqa: E402,F403

sys.path.insert(0, str(BUILD / "python"))
os.environ.pop("TRAINRT_FD", None)
os.environ["TRAINRT_EXECUTABLE"] = str(TRAINRT)
import numpy  # noqa: E402
from trainrt import data  # noqa: E402

try:
    import pyarrow.parquet as pq
except ImportError:
    pq = None


def needs_pyarrow():
    if pq is None:
        skip("pyarrow is not installed (PyPI could not be reached)")
    if not (BUILD / "modules/arrow.so").exists():
        skip("the module arrow.so is not built (-DARROW_ROOT)")


ROWS = 20
IMAGES = numpy.arange(120, dtype="u1").reshape(ROWS, 3, 2)


def of_texts():
    reals = numpy.random.default_rng(1).normal(size=ROWS)
    return data.from_items([{"n": n * 7, "x": float(reals[n]), "name": f'täxt, "{n}"', "words": list(range(n % 3)), "flag": n % 3 == 0} for n in range(ROWS)])


def of_arrays():
    return data.from_numpy({"image": IMAGES, "half": numpy.arange(ROWS).astype("f2"), "n": numpy.arange(ROWS, dtype="i4")})


def same_rows(found, expected):
    equal(len(found), len(expected), "rows")
    for one, other in zip(found, expected):
        equal(list(one), list(other), "columns")
        for name in one:
            a, b = numpy.asarray(one[name]), numpy.asarray(other[name])
            check(a.dtype == b.dtype and numpy.array_equal(a, b), f"{name}: {a!r} is not {b!r}")


@test
def trainrt_and_pyarrow_read_written_parquet_files():
    needs_pyarrow()
    folder = scratch()
    made = of_texts().map(lambda row: {**row, "n": row["n"] + 1})
    made.write_parquet(folder / "out", max_rows_per_file=7, compression="zstd")
    equal(sorted(pq.read_metadata(path).num_rows for path in (folder / "out").iterdir()), [6, 7, 7], "rows of the files")
    equal(sorted(pq.read_table(folder / "out")["n"].to_pylist()), [n * 7 + 1 for n in range(ROWS)], "values that pyarrow reads")
    same_rows(data.read_parquet(folder / "out").take_all(), made.take_all())
    same_rows(data.read_parquet(folder / "out", columns=["x", "name"]).take_all(), made.select_columns(["x", "name"]).take_all())
    batch = data.read_parquet(folder / "out", columns=["n", "x"], types={"n": "i32"}, vector="v").take_batch(ROWS)
    check(batch["n"].dtype == numpy.int32 and batch["v"].dtype == numpy.float32 and batch["v"].shape == (ROWS, 1), f"{batch}")
    of_arrays().write_parquet(folder / "arrays")
    same_rows(data.read_parquet(folder / "arrays").take_all(), of_arrays().take_all())


@test
def written_csv_and_numpy_files_are_read_back():
    folder = scratch()
    plain = of_texts().select_columns(["n", "x", "name"])
    plain.write_csv(folder / "csv", max_rows_per_file=9)
    equal(len(list((folder / "csv").iterdir())), 3, "files")
    same_rows(data.read_csv(folder / "csv").take_all(), plain.take_all())
    of_arrays().write_numpy(folder / "npy", column="image")
    (path,) = (folder / "npy").iterdir()
    check(numpy.array_equal(numpy.load(path), IMAGES), "images differ")
    raises(ValueError, "image", "arrays", of=lambda: of_arrays().write_csv(folder / "bad"))
    raises(ValueError, "words", "vary", of=lambda: of_texts().write_numpy(folder / "bad", column="words"))
    raises(ValueError, "no column 'y'", of=lambda: of_texts().write_numpy(folder / "bad", column="y"))
    raises(TypeError, "write_csv", "arrow_csv_args", of=lambda: of_texts().write_csv(folder / "bad", arrow_csv_args={}))
    equal(list((folder / "bad").iterdir()), [], "remaining files after an error")


@test
def write_modes_append_overwrite_or_refuse():
    folder = scratch() / "out"
    small = data.from_numpy(numpy.arange(3))
    for mode, files in (("append", 1), ("append", 2), ("ignore", 2), ("overwrite", 1)):
        small.write_csv(folder, mode=mode)
        equal(len(list(folder.iterdir())), files, f"files after {mode}")
    raises(FileExistsError, "out", of=lambda: small.write_csv(folder, mode="error"))
    raises(ValueError, "mode", "append", of=lambda: small.write_csv(folder, mode="twice"))


@test
def read_sql_reads_a_query_by_path_or_connection_function():
    path = scratch() / "x.db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (a INTEGER, b TEXT)")
        db.executemany("INSERT INTO t VALUES (?, ?)", [(n, f"b{n}") for n in range(9)])
        db.commit()
    query = "SELECT a * 2 AS a,\n  b FROM t\nORDER BY a DESC"
    for database in (path, str(path), lambda: sqlite3.connect(path)):
        rows = data.read_sql(query, database).take_all()
        equal([(int(row["a"]), row["b"]) for row in rows], [(n * 2, f"b{n}") for n in reversed(range(9))], "rows")
    raises(ValueError, "ORDER BY", of=data.read_sql("SELECT a FROM t", path).take_all)
    raises(ValueError, "in memory", of=lambda: data.read_sql(query, lambda: sqlite3.connect(":memory:")))


main()
