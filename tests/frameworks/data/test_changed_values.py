#!/usr/bin/python3
"""Every command that drops, changes or merges a value of a data file reports it: inferred types, different files, classes, queries."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.program_runs import *  # noqa: E402,F403

PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082")


def files(**texts):
    """Returns a folder with these files. The argument NAME_csv becomes NAME.csv."""
    folder = scratch("files")
    for name, text in texts.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def data(tool, folder, *words):
    return subprocess.run([TRAINRT, "data", tool, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=60)


def inspect(folder, *words):
    """Returns the values of the first samples by field, and the standard error."""
    done = data("inspect", folder, *words, "--json")
    check(done.returncode == 0, f"{words}: exit {done.returncode}: {done.stderr}")
    first = json.loads(done.stdout)["first"]
    return {name: [sample[name] for sample in first] for name in first[0]}, done.stderr


def refused(folder, *words, says):
    done = data("inspect", folder, *words)
    equal(done.returncode, USAGE, f"exit code of {words}: {done.stderr}{done.stdout}")
    for text in says:
        check(text in done.stderr, f"{words}: {text!r} is not in: {done.stderr}")


def dirty(value):
    return files(d_csv="a,income,y\n" + "".join(f"{i % 7},{value if i == 37 else i},{i % 2}\n" for i in range(100)))


@test
def a_column_that_is_text_because_of_one_value_is_reported_with_row_and_value():
    for value, shown in (("N/A", "N/A"), ("?", "?"), ("-", "-"), ("None", "None"), ('"5,432"', "5,432"), ("37 EUR", "37 EUR"), ("true", "true")):
        _, said = inspect(dirty(value), "d.csv")
        check(f"column 'income' is text, not numbers: 99 of 100 values are numbers, but row 39 has '{shown}'" in said, f"{value}: {said}")
    values, said = inspect(dirty("N/A"), "d.csv", "--na=N/A")
    check(said == "" and values["income"][:2] == [0, 1], f"with na: {values}, {said}")
    check(inspect(dirty("N/A"), "d.csv", "--types=income:text")[1] == "", "a given type is warned about")
    check("row 39" in inspect(dirty("?"), "d.csv", "--vector=x")[1], "a column that vector drops is not reported")
    check(inspect(dirty(" "), "d.csv")[1] == "", "a blank value does not count as missing")


@test
def tree_functions_name_the_columns_that_are_not_features():
    folder = dirty("?")
    config = write_config(folder / "t.ini", {"run": {"name": "t", "storage_path": folder / "runs"}, "train": {"function": "xgboost"},
                                             "loop": {"label": "y", "objective": "binary:logistic", "num_boost_round": 1}, "data.train": {"source": folder / "d.csv"}})
    job = run_program(1, config)
    if "libxgboost" in job.err:
        skip("XGBoost is not installed (package libxgboost-dev)")
    equal(job.code, FINISHED, "exit code", job)
    for text in ("row 39 has '?'", "fields that are not used as features: 'income' (text)"):
        check(text in job.err, f"the message {text!r} is missing", job)


@test
def integers_are_never_rounded_silently():
    folder = files(ids_csv="id,n\n9007199254740992,A\n9007199254740993,B\n,C\n", big_csv="id\n18446744073709551615\n", real_csv="id\n1e300\n9007199254740994\n\n0.5\n",
                   ids_jsonl='{"id":18446744073709551615}\n', null_jsonl='{"id":9007199254740993}\n{"id":null}\n')
    refused(folder, "ids.csv", says=["row 3", "column 'id'", "9007199254740993", "set types = id:f64 to round such integers", "types = id:text"])
    equal(inspect(folder, "ids.csv", "--types=id:text")[0]["id"], ["9007199254740992", "9007199254740993", ""], "as texts")
    equal(inspect(folder, "ids.csv", "--types=id:f64")[0]["id"][1], 9007199254740992.0, "rounded on request")
    equal(inspect(folder, "real.csv")[0]["id"][:2], [1e300, 9007199254740994.0], "values of f64")
    refused(folder, "big.csv", says=["row 2", "18446744073709551615"])
    refused(folder, "ids.jsonl", says=["row 1", "'id'", "18446744073709551615", "id:text"])
    refused(folder, "null.jsonl", says=["row 1", "9007199254740993"])
    equal(inspect(folder, "ids.jsonl", "--types=id:text")[0]["id"], ["18446744073709551615"], "as a text")


@test
def integers_of_sqlite_are_never_rounded_silently():
    import sqlite3
    folder = files()
    base = sqlite3.connect(folder / "t.db")
    base.executescript("create table t (id integer, v); insert into t values (9007199254740993, 1), (null, 2), (3, 'N/A'), (4, 4);")
    base.close()
    done = data("inspect", folder, "t.db", "--table=t")
    if "built without SQLite" in done.stderr:
        skip("trainrt was built without SQLite")
    equal(done.returncode, USAGE, f"exit code: {done.stderr}")
    check("row 0: f64 cannot represent the integer 9007199254740993 exactly" in done.stderr, done.stderr)
    check("column 'v' is text, not numbers: 3 of 4 values are numbers, but row 3 has 'N/A'" in done.stderr, done.stderr)


@test
def lost_leading_zeros_are_reported():
    folder = files(zip_csv="zip,x\n00501,0.5\n02134,0.25\n")
    _, said = inspect(folder, "zip.csv")
    check("'zip' is read as numbers, without the leading zeros of '00501' in row 2" in said and "'x'" not in said, said)
    equal(data("convert", folder, "zip.csv", "-o", "z.csv", "--types=zip:text", "--quiet").returncode, 0, "exit code")
    equal((folder / "z.csv").read_text().split(), ["zip,x", "00501,0.5", "02134,0.25"], "the file written")


@test
def json_lines_have_all_keys_of_the_first_objects():
    folder = files(late_jsonl='{"a":1}\n{"a":2,"b":20}\n{"a":3,"b":30,"t":"x"}\n', lists_jsonl='{"a":[1,2]}\n{"b":"x"}\n{"a":null,"b":"y"}\n',
                   later_jsonl='{"a":1}\n' * 10000 + '{"a":2,"c":1}\n')
    values, _ = inspect(folder, "late.jsonl")
    equal(values["a"], [1, 2, 3], "a")
    equal(values["b"][1:], [20, 30], "b")
    check(values["b"][0] is None or values["b"][0] != values["b"][0], f"b has no missing value: {values}")
    equal(values["t"], ["", "", "x"], "t")
    equal(inspect(folder, "lists.jsonl")[0]["a"], [[1, 2], [], []], "lists")
    check("row 10001 has the key 'c', which is not read" in inspect(folder, "later.jsonl", "--all")[1], "a later key is dropped without a message")
    check("'c'" not in inspect(folder, "later.jsonl", "--columns=a")[1], "a key is reported although `columns` does not select it")


@test
def values_of_different_types_in_json_lines_are_an_error_that_names_the_rows():
    folder = files(mixed_jsonl='{"a":1}\n{"a":"two"}\n', nan_jsonl='{"a":1.5}\n{"a":NaN}\n', inf_jsonl='{"a":-Infinity}\n', twice_jsonl='{"a":1,"a":2}\n')
    refused(folder, "mixed.jsonl", says=["row 1 has a number, 1, and row 2 has a text, two", "types = a:text"])
    equal(inspect(folder, "mixed.jsonl", "--types=a:text")[0]["a"], ["1", "two"], "as texts")
    refused(folder, "nan.jsonl", says=["row 2", "NaN is not a JSON value", "write null"])
    refused(folder, "inf.jsonl", says=["row 1", "-Infinity is not a JSON value"])
    refused(folder, "twice.jsonl", says=["row 1", "the key 'a' occurs twice"])


@test
def columns_of_several_files_are_matched_by_name():
    folder = files(one_csv="a,b\n1,2\n", two_csv="b,a\n4,3\n", three_csv="a,c\n1,2\n", real_csv="a,b\n0.5,2\n", one_jsonl='{"a":1,"b":"x"}\n', two_jsonl='{"b":"y","a":2}\n')
    equal(inspect(folder, "one.csv,two.csv")[0], {"a": [1, 3], "b": [2, 4]}, "CSV")
    equal(inspect(folder, "two.csv,one.csv")[0], {"b": [4, 2], "a": [3, 1]}, "CSV the other way round")
    equal(inspect(folder, "one.jsonl,two.jsonl")[0], {"a": [1, 2], "b": ["x", "y"]}, "JSON lines")
    refused(folder, "one.csv,two.csv", "--vector=x", says=["vector: the columns of 'one.csv' are a, b, but those of 'two.csv' are b, a"])
    refused(folder, "one.csv,three.csv", says=["'one.csv' has 'b', and 'three.csv' has only a, c"])
    refused(folder, "one.csv,real.csv", says=["'one.csv' has a i64[], and 'real.csv' has a f64[]", "types = a:f64"])
    equal(inspect(folder, "one.csv,real.csv", "--types=a:f64")[0]["a"], [1, 0.5], "with the type that is advised")


@test
def every_rank_reads_files_with_columns_in_any_order():
    folder = files(one_csv="a,b\n1,2\n3,4\n", two_csv="b,a\n6,5\n8,7\n")
    config = program_config(python("""
seen = []
for batch in ctx.dataset("train").iter_batches(batch_size=1):
    seen.append((float(batch["a"][0]), float(batch["b"][0])))
assert all(b == a + 1 for a, b in seen), seen
ctx.report(metrics={"n": len(seen)})"""), folder=folder, **{"data.train": {"source": f"{folder}/one.csv,{folder}/two.csv", "shuffle": "true"}})
    job = run_program(2, config)
    equal(job.code, FINISHED, "exit code", job)


@test
def a_likely_delimiter_and_columns_in_folder_names_are_reported():
    folder = files(semi_csv="a;b\n1;2\n")
    check("set delimiter = ; to split it" in inspect(folder, "semi.csv")[1], "the other delimiter is not named")
    equal(inspect(folder, "semi.csv", "--delimiter=;")[0], {"a": [1], "b": [2]}, "with the delimiter")
    for year in (2023, 2024):
        (folder / f"years/year={year}").mkdir(parents=True)
        (folder / f"years/year={year}/x.csv").write_text(f"v\n{year}\n")
    check("'year' in the names of the folders (year=2023, year=2024, ...) is not read as a column" in inspect(folder, "years")[1], "the message about folders that name a column")


@test
def inspect_skips_the_same_lines_as_a_run():
    folder = files(one_csv="a,b\n1,2\n", bad_csv="a,b\n1,2,3\n", two_csv="a,b\n3,4\n")
    values, said = inspect(folder, "one.csv,bad.csv,two.csv", "--on_error=skip")
    equal(values, {"a": [1, 3], "b": [2, 4]}, "values")
    check("'bad.csv', row 2" in said, said)
    (folder / "broken.jsonl").write_text('{"a":1}\n{"a":2,\n{"b":"x"\n{"a":9007199254740993}\n')
    values, said = inspect(folder, "broken.jsonl", "--on_error=skip")
    equal(values, {"a": [1, 9007199254740993]}, "a skipped line does not change the type of a column")


def classes(folder, **sets):
    for name, labels in sets.items():
        for label in labels:
            (folder / name / label).mkdir(parents=True)
            (folder / name / label / "0.png").write_bytes(PNG)


@test
def all_datasets_have_the_classes_of_train():
    folder = files()
    classes(folder, train=["ant", "bee", "cow"], test=["bee", "cow"], other=["ant", "dog"], numbers=[str(i) for i in range(12)])
    done = data("inspect", folder, "train")
    if "libspng" in done.stderr or "PNG" in done.stderr:
        skip("trainrt was built without PNG")
    sections = {"run": {"name": "c", "storage_path": folder / "runs"}, "train": {"program": "/bin/true"}, "data.train": {"source": folder / "train"}}
    config = write_config(folder / "c.ini", {**sections, "data.test": {"source": folder / "test"}})
    done = subprocess.run([TRAINRT, "check", "--config", config], capture_output=True, text=True, timeout=60)
    check(done.stdout.count("classes: 0 ant, 1 bee, 2 cow") == 2, done.stdout + done.stderr)
    equal(inspect(folder, "--config", config, "test")[0]["label"], [1, 2], "labels of the test set")
    config = write_config(folder / "d.ini", {**sections, "data.test": {"source": folder / "other"}})
    done = subprocess.run([TRAINRT, "check", "--config", config], capture_output=True, text=True, timeout=60)
    equal(done.returncode, USAGE, f"exit code: {done.stdout}{done.stderr}")
    check("'dog' is not among the classes of [data.train]: ant, bee, cow" in done.stdout + done.stderr, done.stdout + done.stderr)
    equal(inspect(folder, "test", "--classes=cow,bee")[0]["label"], [1, 0], "labels by the key classes")
    check("class '10' has the label 2" in inspect(folder, "numbers")[1], "the order of numeric class names is not reported")


def trees(name, rows, ranks=1, **loop):
    folder = files(t_csv=rows)
    config = write_config(folder / "t.ini", {"run": {"name": name, "storage_path": folder / "runs"}, "train": {"function": "xgboost"},
                                             "loop": {"num_boost_round": 1, **loop}, "data.train": {"source": folder / "t.csv"}, "failure": {"max_failures": 3}})
    job = run_program(ranks, config)
    if "libxgboost" in job.err:
        skip("XGBoost is not installed (package libxgboost-dev)")
    return job


def ranking(queries, ranks=1):
    rows = "x,rel,q\n" + "".join(f"{i},{i % 3},{query}\n" for i, query in enumerate(queries))
    return trees("q", rows, ranks, label="rel", group="q", objective="rank:ndcg", eval_metric="ndcg")


@test
def separated_rows_of_a_query_are_an_error_that_names_them():
    job = ranking([i % 10 for i in range(100)])
    equal(job.code, USAGE, "exit code", job)
    check("the rows of query 0 ('q') are not consecutive: sample 0, and again sample 10" in job.err, "the query is not named", job)
    halves = [0] * 20 + [1] * 10 + [2] * 10 + [0] * 20
    for ranks in (1, 3):
        job = ranking(halves, ranks)
        equal(job.code, USAGE, f"exit code of {ranks} ranks", job)
        check("the rows of query 0 ('q') are not consecutive: samples 0 to 19, and again samples 40 to 59" in job.err, "the query is not named", job)
    for queries in ([9 - i // 10 for i in range(100)], [7] * 50 + [3] * 40 + [5] * 10):  # not sorted, but together
        equal(ranking(queries, 3).code, FINISHED, "exit code of queries with consecutive rows")
    job = ranking([0.5] * 20)
    check(job.code == USAGE and "query 'q' of sample 0 is 0.5: every row needs an integer" in job.err, "the query 0.5 is not refused", job)


@test
def an_invalid_category_is_an_error_before_the_first_round():
    rows = "c,y\n" + "".join(f"{-1 if i == 7 else i % 3},{i % 2}\n" for i in range(40))
    job = trees("c", rows, label="y", categorical="c", objective="binary:logistic")
    equal(job.code, USAGE, "exit code", job)
    check("categorical field 'c' of sample 7 is -1" in job.err, "the sample is not named", job)


@test
def unknown_categories_are_counted():
    folder = files(t_csv="c,x,y\n" + "".join(f"{'ab'[i % 2]},{i},{i % 2}\n" for i in range(40)), p_csv="c,x,y\na,1,0\nzebra,2,0\nyak,3,0\n,4,0\n")
    config = write_config(folder / "t.ini", {"run": {"name": "t", "storage_path": folder / "runs"}, "train": {"function": "xgboost"},
                                             "loop": {"num_boost_round": 1, "label": "y", "categorical": "c", "objective": "binary:logistic"}, "data.train": {"source": folder / "t.csv"}})
    job = run_program(1, config)
    if "libxgboost" in job.err:
        skip("XGBoost is not installed (package libxgboost-dev)")
    equal(job.code, FINISHED, "exit code", job)
    done = subprocess.run([TRAINRT, "predict", folder / "runs/t", f"--data.test.source={folder / 'p.csv'}", "-o", folder / "found.csv"], capture_output=True, text=True, timeout=60)
    check(done.returncode == 0 and "field 'c': 2 values are not among the categories of [data.train], first 'zebra' in sample 1; such values count as missing" in done.stderr, done.stderr + done.stdout)


main()
