#!/usr/bin/python3
"""Train functions read the exact values of files that were written with other tools, on 1 and 2 ranks, in order and shuffled. The
test of a format is a function that writes a file and returns the section that reads it and the values of each field."""
import contextlib
import csv
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.read_back import *  # noqa: E402,F403

try:
    import h5py
except ImportError:
    h5py = None

# ---- NumPy -------------------------------------------------------------------------------------------------------------------


@written
def npy_files_with_labels(folder):
    data, labels = values_of("<f4", 11, 3, 2), values_of("<i8", 11)
    numpy.save(folder / "x.npy", data)
    numpy.save(folder / "y.npy", labels)
    return {"source": folder / "x.npy", "labels": folder / "y.npy"}, {"data": data, "labels": labels}


@written
def npy_files_of_a_folder(folder):
    parts = [values_of(">i2", count, 5) for count in (4, 1, 6)]
    for number, values in enumerate(parts):
        numpy.save(folder / f"{number}.npy", values)
    return {"format": "npy", "source": folder, "field": "x"}, {"x": numpy.concatenate(parts)}


@written
def npz_files_of_every_type(folder):
    arrays = {f"x{number}": values_of(dtype, 9, 2) for number, dtype in enumerate(
        [order + name for order in "<>" for name in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1")] + ["?"])}
    numpy.savez(folder / "x.npz", **arrays)
    return {"source": folder / "x.npz"}, arrays


@written
def compressed_npz_files(folder):
    arrays = {"x_train": values_of("u1", 13, 4, 4), "y_train": values_of("<i4", 13), "x_test": values_of("u1", 2, 4, 4)}
    numpy.savez_compressed(folder / "x.npz", **arrays)
    return ({"source": folder / "x.npz", "fields": "images=x_train, labels=y_train"}, {"images": arrays["x_train"], "labels": arrays["y_train"]})


# ---- HDF5 --------------------------------------------------------------------------------------------------------------------


def h5_datasets(**how):
    return {"images": (values_of("u1", 23, 5, 4), how), "more/x": (values_of(">f8", 23, 3), how), "labels": (values_of("<i4", 23), {})}


def write_h5(path, datasets):
    with h5py.File(path, "w") as file:
        for name, (values, how) in datasets.items():
            file.create_dataset(name, data=values, **({key: (value, *values.shape[1:]) if key == "chunks" else value for key, value in how.items()}))
    return {name: values for name, (values, how) in sorted(datasets.items())}


def contiguous_hdf5_datasets(folder):
    return {"source": folder / "x.h5"}, write_h5(folder / "x.h5", h5_datasets())


def compressed_chunks_of_hdf5_datasets(folder):
    how = {"chunks": 5, "compression": "gzip", "shuffle": True, "fletcher32": True}
    return {"source": folder / "x.hdf5", "memory": "0 B"}, write_h5(folder / "x.hdf5", h5_datasets(**how))


def hdf5_files_in_blocks(folder):
    parts = [write_h5(folder / f"{number}.h5", h5_datasets()) for number in range(3)]
    return ({"source": folder / "*.h5", "block": 6, "window": 2, "memory": "1 kB", "fields": "labels, images"},
            {name: numpy.concatenate([part[name] for part in parts]) for name in ("labels", "images")})


if h5py is not None:
    for each in (contiguous_hdf5_datasets, compressed_chunks_of_hdf5_datasets, hdf5_files_in_blocks):
        written(each)


# ---- text --------------------------------------------------------------------------------------------------------------------


@written
def tables_that_python_writes(folder):
    """Written by Python's csv module into several files, with missing values."""
    names, counts = texts(21), numpy.arange(21) * 1000003 - 7
    reals = numpy.random.default_rng(1).normal(size=21)
    for first in (0, 8, 20):
        with open(folder / f"{first:02}.csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["name", "count", "real", "holes"])
            end = {0: 8, 8: 20, 20: 21}[first]
            table.writerows([names[n], counts[n], repr(float(reals[n])), "NA" if n % 3 == 0 else n + 0.5] for n in range(first, end))
    holes = numpy.array([numpy.nan if n % 3 == 0 else n + 0.5 for n in range(21)])
    return ({"source": folder, "format": "csv", "types": "holes:f64", "memory": "0 B"},
            {"name": as_bytes(names), "count": counts.astype("i8"), "real": reals, "holes": holes})


@written
def the_numbers_of_a_table_as_one_field(folder):
    pixels, labels = numpy.random.default_rng(2).integers(0, 256, (9, 6)), numpy.arange(9) % 4
    with open(folder / "x.tsv", "w") as file:
        file.write("\t".join(["label", *(f"pixel{n}" for n in range(6))]) + "\n")
        file.writelines("\t".join(map(str, [label, *row])) + "\n" for label, row in zip(labels, pixels))
    return {"source": folder / "x.tsv", "types": "label:i64", "vector": "images:u8"}, {"label": labels.astype("i8"), "images": pixels.astype("u1")}


@written
def json_lines_that_python_writes(folder):
    names, vectors = texts(17), numpy.random.default_rng(4).normal(size=(17, 3))
    (folder / "x.jsonl").write_text("".join(json.dumps({"name": name, "v": list(map(float, v)), "n": n}) + "\n"
                                            for n, (name, v) in enumerate(zip(names, vectors))))
    return {"source": folder / "x.jsonl"}, {"name": as_bytes(names), "v": vectors, "n": numpy.arange(17, dtype="i8")}


@written
def lines_of_text(folder):
    lines = [text.replace("\n", " ") for text in texts(30)]
    (folder / "x.txt").write_text("\n".join(lines), encoding="utf-8")
    return {"source": folder / "x.txt", "memory": "0 B"}, {"text": as_bytes(lines)}


# ---- safetensors, SQLite --------------------------------------------------------------------------------------------------------


@written
def safetensors_files(folder):
    arrays = {"x": values_of("<f4", 11, 3, 2), "labels": values_of("<i8", 11), "u": values_of("u1", 11, 0), "flag": values_of("?", 11)}
    kinds, places, data = {"f4": "F32", "i8": "I64", "u1": "U8", "b1": "BOOL"}, {}, b""
    for name, values in arrays.items():
        places[name] = {"dtype": kinds[values.dtype.str[1:]], "shape": values.shape, "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    header = json.dumps({"__metadata__": {"format": "pt"}, **places}).encode()
    (folder / "x.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + data)
    return {"source": folder / "x.safetensors", "fields": "image=x, labels, flag"}, {"image": arrays["x"], "labels": arrays["labels"], "flag": arrays["flag"]}


def database(folder, rows=9500):
    """Writes a table that is read in three blocks and has gaps in its rowids; returns the expected fields."""
    names, reals = texts(rows), numpy.random.default_rng(6).normal(size=rows)
    with contextlib.closing(sqlite3.connect(folder / "x.db")) as db:
        db.execute('CREATE TABLE "the rows" (name TEXT, integer INTEGER, "re""al" REAL, holes NUMERIC, mixed)')
        db.executemany('INSERT INTO "the rows" (rowid, name, integer, "re""al", holes, mixed) VALUES (?, ?, ?, ?, ?, ?)',
                       [(n * 3 - 40, names[n], n * 2**40, float(reals[n]), None if n % 3 == 0 else n, n if n % 2 else f"m{n}") for n in range(rows)])
        db.commit()
    holes = numpy.array([numpy.nan if n % 3 == 0 else n for n in range(rows)], "f8")
    return {"name": as_bytes(names), "integer": numpy.arange(rows) * 2**40, 're"al': reals, "holes": holes,
            "mixed": as_bytes([str(n) if n % 2 else f"m{n}" for n in range(rows)])}


@written
def tables_of_databases(folder):
    expected = database(folder, 250)
    return {"source": folder / "x.db", "table": "the rows"}, expected


@written
def large_tables_of_databases_that_are_not_kept_in_memory(folder):
    expected = database(folder)
    return ({"source": folder / "x.db", "table": "the rows", "memory": "0 B", "columns": 'integer, holes, mixed', "vector": "x", "types": "integer:f32"},
            {"integer": expected["integer"].astype("f4"), "x": expected["holes"].astype("f4")[:, None], "mixed": expected["mixed"]})


@written
def results_of_queries(folder):
    expected = database(folder, 200)
    kept = slice(199, 149, -1)
    return ({"source": folder / "x.db", "query": 'SELECT integer AS w, name || \'!\' AS n FROM "the rows" WHERE rowid >= 410 ORDER BY rowid DESC'},
            {"w": expected["integer"][kept], "n": as_bytes([text + "!" for text in texts(200)[kept]])})


@test
def a_query_that_writes_or_has_no_order_is_an_error():
    folder = scratch()
    database(folder, 10)
    before = (folder / "x.db").read_bytes()
    (folder / "y.db").write_bytes(before[:3000])
    (folder / "z.db").write_bytes(b"no database" * 1000)
    cases = [({"query": "DELETE FROM 'the rows' RETURNING name -- order by"}, "not authorized"), ({"query": "SELECT name FROM 'the rows'"}, "has no ORDER BY"),
             ({"query": "SELECT 1 ORDER BY 1; SELECT 2"}, "must be a single SELECT"), ({"query": "ATTACH 'a.db' AS a -- order by"}, "not authorized"),
             ({"query": "SELECT load_extension('x') ORDER BY 1"}, "not authorized"), ({"query": "SELECT random() ORDER BY 1"}, "not authorized"),
             ({"query": "PRAGMA journal_mode = DELETE -- order by"}, "not authorized"), ({"query": "SELECT absent FROM 'the rows' ORDER BY 1"}, "no such column"),
             ({"table": "nothing"}, "no such table"), ({}, "set either table = NAME"), ({"table": "the rows", "query": "SELECT 1 ORDER BY 1"}, "set either table = NAME"),
             ({"query": "SELECT * FROM 'the rows' ORDER BY rowid", "memory": "100 B"}, "does not fit into memory"),
             ({"table": "the rows", "source": folder / "y.db"}, "y.db"), ({"table": "the rows", "source": folder / "z.db"}, "z.db' is not an SQLite database")]
    for keys, words in cases:
        config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": module_of("reads")},
                                                   "loop": {"batch_size": 4, "out": folder}, "data.read": {"source": folder / "x.db", **keys}})
        job = run_ranks(1, config)
        check_exit(job, USAGE)
        check(words in job.err, f"the message lacks '{words}'", job)
    (folder / "x.db-wal").write_bytes(b"x")
    job = run_ranks(1, config, "--data.read.table=the rows", f"--data.read.source={folder / 'x.db'}")
    check_exit(job, USAGE)
    check("wal_checkpoint" in job.err, "the journal is not named", job)
    check((folder / "x.db").read_bytes() == before, "the database was changed")


# ---- tokens ------------------------------------------------------------------------------------------------------------------


@written
def windows_of_token_files(folder):
    tokens = values_of("<u2", 100)
    tokens.tofile(folder / "train.bin")
    return {"source": folder / "train.bin", "length": 8}, {"tokens": numpy.stack([tokens[at:at + 9] for at in range(0, 92, 8)]).astype("i4")}


@written
def padded_windows_of_documents(folder):
    """The expected windows are cut by a loop in Python; id 0 marks the end of a document."""
    tokens = numpy.random.default_rng(3).integers(0, 9, 300).astype("<u4")
    numpy.save(folder / "tokens.npy", tokens)
    windows, counts, begin = [], [], 0
    for end in [*(numpy.flatnonzero(tokens == 0) + 1), len(tokens)]:
        while end - begin >= 2:
            window = tokens[begin:min(end, begin + 6)]
            counts.append(len(window))
            windows.append(numpy.pad(window, (0, 6 - len(window)), constant_values=9))
            begin += 5
        begin = end
    return ({"format": "tokens", "source": folder / "tokens.npy", "length": 5, "document_end": 0, "pad": 9},
            {"tokens": numpy.stack(windows).astype("i4"), "count": numpy.array(counts, "i4")})


@test
def a_language_model_learns_from_a_token_file_on_two_ranks():
    if not (BUILD / "modules/torch.so").exists():
        skip("the torch module is not built (package libtorch-dev)")
    folder = scratch()
    numpy.tile(numpy.arange(29, dtype="u2"), 120).tofile(folder / "train.bin")
    config = write_config(folder / "run.ini", {
        "run": {"name": "run", "storage_path": folder / "runs", "seed": 7}, "train": {"function": "gpt"},
        "loop": {"epochs": 3, "batch_size": 8, "vocab_size": 29, "block_size": 16, "n_layer": 1, "n_head": 2, "n_embd": 32, "lr": 0.01},
        "data.train": {"format": "tokens", "source": folder / "train.bin", "length": 16, "shuffle": True}})
    job = run_ranks(2, config, timeout=120)
    check_exit(job, FINISHED)
    losses = [row["loss"] for row in reports(run_dir_of(config))]
    check(losses[-1] < 0.5 * losses[0], f"the model does not learn: {losses}", job)


# ---- stops -------------------------------------------------------------------------------------------------------------------

SAMPLES = 24


def safetensors_of(path, name, values):
    header = json.dumps({name: {"dtype": "F32", "shape": values.shape, "data_offsets": [0, values.nbytes]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + values.tobytes())


def files_of_every_format(folder):
    """Returns {format: section} with SAMPLES samples per format. Formats without a writer here are left out; images and tar have another test."""
    x, y = values_of("<f4", SAMPLES, 3), numpy.arange(SAMPLES)
    numpy.save(folder / "x.npy", x)
    numpy.savez(folder / "x.npz", x=x, y=y)
    safetensors_of(folder / "x.safetensors", "x", x)
    lines = [text.replace("\n", " ") for text in texts(SAMPLES)]
    (folder / "x.txt").write_text("\n".join(lines), encoding="utf-8")
    (folder / "x.jsonl").write_text("".join(json.dumps({"y": int(n), "text": text, "list": list(range(n % 4))}) + "\n" for n, text in zip(y, texts(SAMPLES))))
    with open(folder / "x.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("y", "text"), *zip(y, texts(SAMPLES))])
    numpy.arange(8 * SAMPLES + 1, dtype="<u2").tofile(folder / "x.bin")
    (folder / "x-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03" + numpy.array([SAMPLES, 2, 2], ">u4").tobytes() + values_of("u1", SAMPLES, 2, 2).tobytes())
    database(folder, SAMPLES)
    sections = {"npy": {"source": folder / "x.npy"}, "npz": {"source": folder / "x.npz"}, "safetensors": {"source": folder / "x.safetensors"},
                "text": {"source": folder / "x.txt"}, "jsonl": {"source": folder / "x.jsonl"}, "csv": {"source": folder / "x.csv"},
                "tokens": {"source": folder / "x.bin", "length": 8}, "idx": {"source": folder / "x-images-idx3-ubyte"},
                "sqlite": {"source": folder / "x.db", "table": "the rows"}, "range": {"samples": SAMPLES}, "synthetic": {"samples": SAMPLES}}
    if h5py is not None:
        with h5py.File(folder / "x.h5", "w") as file:
            file.create_dataset("x", data=x, chunks=(5, 3), compression="gzip")
        sections["hdf5"] = {"source": folder / "x.h5"}
    python = BUILD / "arrow-python/bin/python"
    if python.exists() and (BUILD / "modules/arrow.so").exists():
        code = ("import sys, pyarrow as pa, pyarrow.parquet as pq; from pathlib import Path; n = int(sys.argv[2]); folder = Path(sys.argv[1]); "
                "t = pa.table({'y': list(range(n)), 'text': [f't{i}' * (i % 3) for i in range(n)]}); pq.write_table(t, folder / 'x.parquet', row_group_size=5)\n"
                "with pa.ipc.new_file(folder / 'x.arrow', t.schema) as file: file.write_table(t, max_chunksize=7)")
        subprocess.run([python, "-c", code, str(folder), str(SAMPLES)], check=True, timeout=60)
        sections.update(arrow={"source": folder / "x.arrow"}, parquet={"source": folder / "x.parquet"})
    return sections


@test
def a_run_over_every_format_sees_the_same_samples_after_many_stops():
    """One run reads all formats, which is fast: each step takes one batch of each format."""
    folder = scratch()
    sections = files_of_every_format(folder)
    missing = {path.stem for path in (SOURCE / "src/data/formats").glob("*.cpp")} - set(sections) - {"images", "tar"}
    check(missing <= {"hdf5", "arrow", "parquet"}, f"formats without a file here: {missing}")
    def config(name):
        return write_config(folder / f"{name}.ini", {
            "run": {"name": name, "storage_path": folder / "runs", "seed": 5}, "train": {"library": module_of("every_format")}, "failure": {"max_failures": 0},
            "loop": {"names": " ".join(sections), "batch_size": 3},
            **{f"data.{name}": {"format": name, "shuffle": True, "memory": "0 B", **section} for name, section in sections.items()}})
    def seen_of(config):
        return numpy.frombuffer(state_of(run_dir_of(config))["seen"][2], "i8").tolist()
    whole, stops = config("whole"), set()
    check_exit(run_ranks(2, whole), FINISHED)
    expected = seen_of(whole)
    equal(len(set(expected)), len(sections), "different formats")
    for first in (0, 2):
        stopped, attempts = config(f"stopped_{first}"), 0
        while (job := run_ranks(1 if attempts % 3 == 1 else 2, stopped, *["--scaling.on_resize=keep_global_batch"] * (attempts > 0),
                                env={"STOP_AFTER": str(first if attempts == 0 else 0)})).code == STOPPED:
            stops.add(step_of(run_dir_of(stopped)))
            attempts += 1
            check(attempts < 10, "it makes no progress", job)
        check_exit(job, FINISHED)
        equal([name for name, one, other in zip(sections, seen_of(stopped), expected) if one != other], [], "formats with different samples after stops")
    check(len(stops) >= 5, f"stopped only at the steps {stops} of 8")


main(setup_read_back)
