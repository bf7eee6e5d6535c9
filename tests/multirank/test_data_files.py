#!/usr/bin/python3
"""Data files that the tools of their formats write are given to train functions value for value, on 1 and on 2 ranks, in order and
shuffled. A format's test is a function that writes a file and returns the section that reads it, and the values of each field."""
import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from trouble import *  # noqa: E402,F403

try:
    import numpy
except ImportError:
    numpy = None
try:
    import h5py
except ImportError:
    h5py = None

TYPES = {"f16": "f2", "f32": "f4", "f64": "f8", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "bool": "?"}


def read_back(ranks, section, config):
    """{field: its values, sample by sample}: an array, or a list of arrays if the field varies in length."""
    out = scratch("out")
    job = run_ranks(ranks, config, f"--loop.out={out}")
    check_exit(job, FINISHED)
    order = numpy.concatenate([part(out / f"{rank}.samples", "u8") for rank in range(ranks)])
    equal(sorted(order), list(range(len(order))), f"each sample once: {section}")
    fields = {}
    for line in (out / "fields").read_text().splitlines():
        name, dtype, varies, shape = line.split(" ", 3)
        parts = [part(out / f"{rank}.{name}.values", TYPES[dtype]) for rank in range(ranks)]
        values = numpy.concatenate(parts)
        if varies == "1":
            ends = numpy.cumsum(numpy.concatenate([part(out / f"{rank}.{name}.bytes", "u8") for rank in range(ranks)])) // values.itemsize
            found = numpy.split(values, ends[:-1].astype(int))
            fields[name] = [found[place] for place in numpy.argsort(order)]
        else:
            fields[name] = values.reshape(len(order), *json.loads(shape))[numpy.argsort(order)]
    return fields


def part(path, dtype):
    """What a rank has written; a rank without samples writes nothing."""
    return numpy.fromfile(path, dtype) if path.exists() else numpy.empty(0, dtype)


def check_same(found, expected):
    equal(list(found), list(expected), "fields")
    for name, values in expected.items():
        if isinstance(values, list):
            equal(len(found[name]), len(values), f"samples of {name}")
        else:
            values = values.astype(values.dtype.newbyteorder("="))
            equal((found[name].dtype, found[name].shape), (values.dtype, values.shape), f"type and shape of {name}")
        wrong = [sample for sample, (one, other) in enumerate(zip(found[name], values)) if one.tobytes() != numpy.asarray(other).tobytes()]
        check(not wrong, f"{name}: other values in the samples {wrong[:20]}")


def reads_what_was_written(write, ranks):
    section, expected = write(scratch(write.__name__))
    for shuffle in (False, True):
        folder = scratch()
        config = write_config(folder / "run.ini", {
            "run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": module_of("reads")}, "loop": {"batch_size": 4, "out": "."},
            "data.read": {**section, "shuffle": shuffle}})
        check_same(read_back(ranks, section, config), expected)


def written(write):
    """Registers the tests of a function that takes a folder and returns (section, {field: values})."""
    for ranks in (1, 2):
        add_test(f"{write.__name__}_are_read_on_{ranks}_rank{'s' * (ranks > 1)}", reads_what_was_written, write, ranks)
    return write


def setup():
    if numpy is None:
        skip("NumPy is not there (package python3-numpy)")
    module_of("reads")


def values_of(dtype, *shape):
    """Every bit of a value is met."""
    bits = numpy.random.default_rng(len(shape)).integers(0, 256, numpy.prod(shape) * numpy.dtype(dtype).itemsize, "u1")
    return (bits & 1 if dtype == "?" else bits).view(dtype).reshape(shape)


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


def texts(count):
    words = ["", "plain", "a, b", 'say "so"', "two\nlines", "\u00fcber", "tail "]
    return [words[number % len(words)] + str(number) for number in range(count)]


def as_bytes(values):
    return [numpy.frombuffer(value.encode(), "u1") for value in values]


@written
def tables_that_python_writes(folder):
    """By Python's own writer, several files, with missing values."""
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


# ---- tokens ------------------------------------------------------------------------------------------------------------------


@written
def windows_of_token_files(folder):
    tokens = values_of("<u2", 100)
    tokens.tofile(folder / "train.bin")
    return {"source": folder / "train.bin", "length": 8}, {"tokens": numpy.stack([tokens[at:at + 9] for at in range(0, 92, 8)]).astype("i4")}


@written
def padded_windows_of_documents(folder):
    """Cut by a loop of Python's, the end of a document its id 0."""
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
def a_language_model_learns_from_a_token_file_on_2_ranks():
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
    check(losses[-1] < 0.5 * losses[0], f"it does not learn: {losses}", job)


main(setup)
