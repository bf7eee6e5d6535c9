#!/usr/bin/python3
"""A `trainrt data convert` that was killed and is run again writes the same bytes as one that was not killed. If its sources have
changed, it is refused. A value that the output format cannot hold is refused, not replaced."""
import contextlib
import sqlite3
import struct
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.conversions import *  # noqa: E402,F403
from fakes.object_store import Store  # noqa: E402
import h5py  # noqa: E402

ROWS = 200_000
SLOW = "pwrite:slow=300:.part"  # slows down the writing of parts, so that the kill comes after the first noted part


def write_table(path, rows=ROWS):
    words = ("one", "two", "three")
    path.write_text("key,x,word\n" + "".join(f"{row % 3},{row * 0.37:.6g},{words[row % 7 % 3]}\n" for row in range(rows)))
    return path


def replaced(path, data):
    """Writes other bytes; returns a function that restores the file and its modification time."""
    before, times = path.read_bytes(), path.stat()
    check(before != data, "the bytes are the same")
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 1_000_000_000))

    def restore():
        path.write_bytes(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    return restore


def refused_until_restored(output, words, change, message, env=None):
    """Checks that a killed conversion is refused after change(), and that it resumes after the function that change() returns has
    undone the change. It must then write the same bytes as a conversion that was not killed."""
    begun(output, *words, slow=SLOW, env=env)
    undo = change()
    refused("convert", *words, "-o", output, message=["is incomplete", "--force", *message], env=env)
    undo()
    job = tool("convert", *words, "-o", output, env=env)
    check("resuming after" in job.err, "the conversion did not resume", job)
    whole = output.parent / f"whole{output.suffix}"
    tool("convert", *words, "-o", whole, env=env)
    check(output.read_bytes() == whole.read_bytes(), f"different bytes after {message}")
    nothing_left(output.parent)
    output.unlink(), whole.unlink()


# ---- sources that change after the kill ----------------------------------------------------------------------------------


def write_png(path, value):
    """Writes 8 x 8 pixels of one color. The file size is the same for every color."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + bytes([value]) * 24) * 8
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b""))


def image_classes(folder, each):
    """Writes images with the same names and sizes in two classes; each has a different modification time."""
    for number, name in enumerate(("cat", "dog")):
        (folder / name).mkdir(parents=True)
        for i in range(each):
            path = folder / name / f"{i:04}.png"
            write_png(path, number * 100 + i % 50)
            os.utime(path, (1_700_000_000 + number * 10_000 + i,) * 2)
    return folder


def swapped(one, other):
    def swap():
        spare = one.parent / "spare"
        one.rename(spare), other.rename(one), spare.rename(other)
    swap()
    return swap


@test
def a_conversion_is_not_resumed_after_a_change_of_an_image():
    for each in (150, 700):  # recorded as one line per image, and as one line for many images
        folder = scratch()
        images = image_classes(folder / "images", each)
        words = [images, "--size=96x96"]
        output = folder / "out.h5"
        last = images / "dog" / f"{each - 2:04}.png"
        named = [last.name] if each == 150 else ["images"]
        refused_until_restored(output, words, lambda: swapped(images / "cat", images / "dog"), ["a source has changed", "images"])
        refused_until_restored(output, words, lambda: replaced(last, last.read_bytes()[:-20] + bytes(20)), ["a source has changed", *named])
        moved = images / "cat" / f"{each}.png"
        refused_until_restored(output, words, lambda: (last.rename(moved), lambda: moved.rename(last))[1], ["a source has changed", "names and labels"])


@test
def a_conversion_is_not_resumed_after_a_change_of_a_file_named_by_a_key():
    folder = scratch()
    table = write_table(folder / "a.csv")
    rows, scaler = folder / "rows.txt", folder / "scaler.json"
    rows.write_text("0:150000")
    fitted = {"preprocessor": "StandardScaler", "version": 1, "parameters": {"columns": ["x"]}, "stats": {"mean(x)": 1.5, "std(x)": 2.5}}
    scaler.write_text(json.dumps(fitted))
    numbers = ["--columns", "key,x"]
    for keys, changed, data in (([f"--subset=@{rows}", *numbers], rows, b"1:150001"), ([f"--subset_after=@{rows}", *numbers], rows, b"1:150001"),
                                ([f"--preprocess=@{scaler}", "--subset_after=0:150000", *numbers], scaler, json.dumps(fitted).replace("2.5", "3.5").encode())):
        refused_until_restored(folder / "out.h5", [table, *keys], lambda: replaced(changed, data), ["a source has changed", changed.name])


@test
def a_conversion_is_not_resumed_after_a_change_of_an_object():
    folder, own = scratch(), Store()
    own.put("data", "a.csv", write_table(folder / "a.csv").read_bytes())
    if run([TRAINRT, "data", "inspect", "s3://data/a.csv"], env=own.environment()).code != FINISHED:
        skip("built without object stores")

    def put_other():
        before = own.buckets["data"]["a.csv"]
        own.put("data", "a.csv", before[:-3] + b"ix\n")
        return lambda: own.put("data", "a.csv", before)
    refused_until_restored(folder / "out.csv", ["s3://data/a.csv"], put_other, ["a source has changed", "s3://data/a.csv"], env=own.environment())


# ---- several output files ------------------------------------------------------------------------------------------------


def kinds_of_files():
    yield "h5", ["--columns", "key,x"]
    yield "h5", ["--columns", "key,x", "--compress", "gzip"]
    yield "npz", ["--columns", "key,x"]
    yield "csv", []
    yield "jsonl", ["--shuffle"]
    if (BUILD / "modules/arrow.so").exists():
        yield "parquet", []


@test
def a_split_that_is_killed_in_its_second_file_keeps_the_first_file():
    folder = scratch()
    table = write_table(folder / "a.csv")
    for ending, words in kinds_of_files():
        command = [table, "--split", "0.6", "--threads", 2, *words, "-o"]
        tool("convert", *command, f"{folder}/whole.{ending}")
        train, test_ = folder / f"out-train.{ending}", folder / f"out-test.{ending}"
        job = start_convert(*command, f"{folder}/out.{ending}", slow="pwrite:slow=500:.out-test,write:slow=500:.out-test")
        kill_once(lambda: noted(train).get("complete", False), job)
        written = (folder / f".{train.name}.part").stat()
        job = tool("convert", *command, f"{folder}/out.{ending}")
        check(f"{train}: " in job.err and "resuming after" in job.err, "the first file was not kept", job)
        equal((train.stat().st_ino, train.stat().st_mtime_ns), (written.st_ino, written.st_mtime_ns), f"{train.name}: inode and modification time")
        for path in (train, test_):
            check(path.read_bytes() == (folder / path.name.replace("out", "whole")).read_bytes(), f"different bytes in {path.name} {words}")
            path.unlink()
        nothing_left(folder)
        for path in folder.glob("whole-*"):
            path.unlink()


@test
def a_complete_file_that_was_not_renamed_is_renamed_by_the_next_command():
    folder = scratch()
    table = write_table(folder / "a.csv")
    for ending, words in kinds_of_files():
        whole, output = folder / f"whole.{ending}", folder / f"out.{ending}"
        tool("convert", table, *words, "-o", whole)
        fault = {"LD_PRELOAD": str(BUILD / "tests/fault_shim.so"), "TRAINRT_FAULTS": f"rename:EIO:/{output.name}$"}
        tool("convert", table, *words, "-o", output, code=FAILED, env=fault)
        check(noted(output).get("complete", False) and not output.exists(), f"{output.name}: the part is not complete, or was renamed")
        tool("convert", table, *words, "-o", output)
        check(output.read_bytes() == whole.read_bytes(), f"different bytes in {output.name} {words}")
        nothing_left(folder)
        whole.unlink(), output.unlink()


# ---- values that a file cannot hold ---------------------------------------------------------------------------------------------


@test
def jsonl_refuses_strings_and_names_that_are_not_utf_8():
    folder = scratch()
    source = folder / "a.txt"
    lines = [b"one", "Grüße".encode(), b"caf\xe9", b"end"]
    source.write_bytes(b"\n".join(lines) + b"\n")
    job = refused("convert", source, "-o", folder / "out.jsonl", message=["line 3 of ", "out.jsonl'", "'text'", "not UTF-8", "--columns"])
    check(not (folder / "out.jsonl").exists(), "an output file was created", job)
    nothing_left(folder)
    tool("convert", source, "--subset=0:2, 3", "-o", folder / "out.jsonl")
    equal([json.loads(line)["text"] for line in (folder / "out.jsonl").read_text("utf-8").splitlines()], ["one", "Grüße", "end"], "the other lines")
    tool("convert", source, "-o", folder / "out.csv")
    equal((folder / "out.csv").read_bytes(), b"text\n" + b"\n".join(lines) + b"\n", "bytes of the .csv file")
    refused("convert", folder / "out.csv", "-o", folder / "back.csv", message=["not valid UTF-8"])
    with h5py.File(folder / "b.h5", "w") as file:
        file.create_dataset(b"caf\xe9", data=[1, 2])
    refused("convert", folder / "b.h5", "-o", folder / "b.jsonl", message=["is not UTF-8, which JSON requires", "--columns"])


@test
def csv_refuses_two_columns_with_the_same_name():
    folder = scratch()
    with h5py.File(folder / "a.h5", "w") as file:
        file["x"], file["x_0"], file["y"] = [[1, 2], [3, 4]], [5, 6], [7, 8]
    refused("convert", folder / "a.h5", "-o", folder / "out.csv", message=["'x'", "'x_0'", "a column 'x_0'", "--columns"])
    equal([path.name for path in folder.iterdir()], ["a.h5"], "files")
    tool("convert", folder / "a.h5", "--columns", "x,y", "-o", folder / "out.csv")
    equal((folder / "out.csv").read_text(), "x_0,x_1,y\n1,2,7\n3,4,8\n", "the selected columns")


# ---- keys -------------------------------------------------------------------------------------------------------


@test
def inspect_and_convert_apply_preprocessors():
    folder = scratch()
    (folder / "a.csv").write_text("id,x\n" + "".join(f"{i},{i * 0.5}\n" for i in range(5)))
    words = [folder / "a.csv", "--preprocess=StandardScaler(columns: x)"]
    tool("convert", *words, "-o", folder / "out.csv")
    first, *_, last = [float(line.split(",")[1]) for line in (folder / "out.csv").read_text().splitlines()[1:]]
    check(abs(last - 2**0.5) < 1e-12 and abs(first + 2**0.5) < 1e-12, f"x is from {first} to {last}")
    shown = tool("inspect", *words)
    check("made of them: 5 samples" in shown.out and "1.41421" in shown.out, "the scaled values are not shown", shown)
    refused("convert", folder / "a.csv", "--preprocess=StandardScaler(columns: y)", "-o", folder / "no.csv", message=["StandardScaler", "no field 'y'"])


@test
def keys_that_repeat_or_skip_samples_are_an_error_that_names_the_key():
    folder = scratch()
    table = write_table(folder / "a.csv", 10)
    refused("convert", table, "--weights=1", "--shuffle", "-o", folder / "out.csv", message=["[data.SOURCE]", "remove weights", "each sample once"])
    refused("convert", table, "--on_error=skip", "-o", folder / "out.csv", message=["[data.SOURCE]", "on_error = stop", "each sample once"])
    tool("convert", table, "--on_error=stop", "-o", folder / "out.csv")


@test
def force_does_not_replace_files_named_by_keys():
    folder = scratch()
    table = write_table(folder / "a.csv", 10)
    rows, listed = folder / "rows.csv", folder / "list.csv"
    rows.write_text("0:5")
    listed.write_text(f"{table}\n")
    (folder / "link.csv").symlink_to(rows)
    for words, output in (([table, f"--data.subset=@{rows}"], rows), ([table, f"--data.subset=@{rows}"], folder / "link.csv"),
                          ([f"@{listed}", "--format=csv"], listed)):
        refused("convert", *words, "-o", output, "--force", message=[output.name, "a key of [data.SOURCE] names"])
    equal((rows.read_text(), listed.read_text()), ("0:5", f"{table}\n"), "the files")
    virtual, part = folder / "v.h5", folder / "part.h5"
    with h5py.File(part, "w") as file:
        file["x"] = [1, 2, 3]
    layout = h5py.VirtualLayout((3,), "i8")
    layout[:] = h5py.VirtualSource(str(part), "x", (3,))
    with h5py.File(virtual, "w") as file:
        file.create_virtual_dataset("x", layout)
    refused("convert", virtual, "-o", part, "--force", message=["is a source of"])


# ---- failures before the first row ---------------------------------------------------------------------------------------


@test
def a_failure_before_the_first_row_leaves_no_file():
    folder = scratch()
    table = write_table(folder / "a.csv", 1000)
    train, test_ = folder / "train.csv", folder / "test.csv"
    test_.write_text("mine")
    refused("convert", table, "--split", "0.5", "-o", f"{train},{test_}", message=["test.csv' exists already"])
    nothing_left(folder)
    test_.unlink()
    for other in ("./train.csv", "../" + folder.name + "/train.csv", "here/train.csv"):
        (folder / "here").is_symlink() or (folder / "here").symlink_to(folder)
        refused("convert", table, "--split", "0.5", "-o", f"{train},{folder}/{other}", message=["--split"])
        nothing_left(folder)
    (folder / ".train.csv.part").write_text("")  # left by a command that was killed before its first part
    (folder / ".train.csv.part.json").write_text(json.dumps({"sources": ["a"], "job": "b", "parts": 0, "position": "", "complete": False}))
    tool("convert", table, "--split", "0.5", "--columns", "key", "-o", f"{train},{test_}")
    nothing_left(folder)


@test
def a_refused_split_keeps_the_incomplete_file_of_an_earlier_command():
    folder = scratch()
    table = write_table(folder / "a.csv")
    train, test_ = folder / "train.csv", folder / "test.csv"
    words = [table, "--split", "0.5", "-o", f"{train},{test_}"]
    kill_after_first_note(train, *words, slow=SLOW)
    test_.write_text("mine")
    refused("convert", *words, message=["test.csv' exists already"])
    check(parts_noted(train) > 0, "the noted parts are lost")
    test_.unlink()
    check("resuming after" in tool("convert", *words).err, "the conversion did not resume")
    nothing_left(folder)


# ---- databases -----------------------------------------------------------------------------------------------------------


def database(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        for statement in statements:
            base.execute(statement)
    if "built without SQLite" in run([TRAINRT, "data", "inspect", path, "--query=SELECT 1 ORDER BY 1"]).err:
        skip("built without SQLite")
    return path


@test
def a_query_can_be_inspected_converted_and_measured():
    folder = scratch()
    base = database(folder / "a.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, x REAL)", "INSERT INTO t VALUES (1, 0.5), (2, 1.5), (3, 2.5)")
    words = [base, "--query=SELECT id, x FROM t WHERE id > 1 ORDER BY id"]
    tool("convert", *words, "-o", folder / "out.csv")
    equal((folder / "out.csv").read_text(), "id,x\n2,1.5\n3,2.5\n", "rows of the query")
    check("2 samples" in tool("inspect", *words, "--memory=1MiB").out, "samples")
    check("batches shuffled" in tool("bench", *words, "--seconds", 0.2).out, "rates")
    refused("inspect", *words, "--memory=20 B", message=["query", "memory = 20 bytes"])


@test
def strings_of_a_utf_16_database_are_read_as_utf_8():
    folder = scratch()
    words = ["Grüße", "", "日本", "one"]
    for encoding in ("UTF-16le", "UTF-16be", "UTF-8"):
        base = database(folder / f"{encoding}.db", f"PRAGMA encoding = '{encoding}'", "CREATE TABLE t (word TEXT, number)",
                        "INSERT INTO t VALUES " + ", ".join(f"('{word}', x'6869')" for word in words))
        tool("convert", base, "--table=t", "-o", folder / "out.jsonl", "--force")
        found = [json.loads(line) for line in (folder / "out.jsonl").read_text("utf-8").splitlines()]
        equal([row["word"] for row in found], words, f"strings of {encoding}")
        equal({row["number"] for row in found}, {"hi"}, f"blobs of {encoding}")


@test
def a_view_given_as_a_table_is_an_error_that_shows_the_query_to_use():
    folder = scratch()
    base = database(folder / "a.db", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1), (2)", "CREATE VIEW v AS SELECT x * 2 AS y FROM t")
    refused("inspect", base, "--table=v", message=["a.db", "table: 'v' has no rowids, or is a view", "query = SELECT * FROM"])
    equal("2 samples" in tool("inspect", base, "--table=t").out, True, "the table")


@test
def a_conversion_that_fails_at_a_value_leaves_no_file_and_the_corrected_command_works():
    folder = scratch()
    base = database(folder / "a.db", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1), (300)")
    job = tool("convert", base, "--table=t", "--types=a:u8", "-o", folder / "out.csv", code=FAILED)
    check("300 cannot be stored as u8" in job.err and "to resume" not in job.err, "another message", job)
    nothing_left(folder)
    tool("convert", base, "--table=t", "--types=a:u8", "--split", "0.5", "-o", folder / "two.csv", code=FAILED)
    nothing_left(folder)
    tool("convert", base, "--table=t", "--types=a:i16", "-o", folder / "out.csv")
    equal((folder / "out.csv").read_text(), "a\n1\n300\n", "rows")


main()
