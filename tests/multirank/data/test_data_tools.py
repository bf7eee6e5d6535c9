#!/usr/bin/python3
"""trainrt data inspect and convert compared with NumPy and h5py: statistics, values, and the files left after kills and full disks."""
import csv
import gzip
import random
import signal
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.conversions import *  # noqa: E402,F403
import h5py  # noqa: E402
import numpy  # noqa: E402

ROWS = 3000


def inspected(*words):
    return json.loads(tool("inspect", *words, "--json").out)


_values = {}


def values():
    """Returns the content of all source files as {field: array}; strings are lists."""
    if not _values:
        draw = numpy.random.default_rng(1)
        reals = draw.normal(3, 2, ROWS)
        reals[::97] = numpy.nan
        _values.update({"id": numpy.arange(ROWS), "x": reals, "label": draw.integers(0, 10, ROWS),
                        "flag": draw.integers(0, 2, ROWS).astype(bool), "city": [["Paris", "Rome", 'Bad "A", B', ""][i] for i in draw.integers(0, 4, ROWS)]})
    return _values


def write_csv(path, chosen=("id", "x", "label", "flag", "city"), rows=slice(None)):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(chosen)
        for row in list(zip(*(list(values()[name]) for name in chosen)))[rows]:
            writer.writerow(["" if isinstance(value, float) and value != value else str(value).lower() if isinstance(value, (bool, numpy.bool_)) else
                             repr(float(value)) if isinstance(value, float) else value for value in row])
    return path


def write_jsonl(path):
    with open(path, "w") as file:
        for i in range(ROWS):
            row = {name: (column[i].item() if hasattr(column[i], "item") else column[i]) for name, column in values().items()}
            row["x"] = None if row["x"] != row["x"] else row["x"]
            file.write(json.dumps(row) + "\n")
    return path


def arrays():
    """Returns arrays of each data type that HDF5, NumPy and trainrt all support."""
    draw = numpy.random.default_rng(2)
    found = {"images": draw.integers(0, 256, (ROWS, 8, 6), "u1"), "labels": draw.integers(-5, 5, ROWS, "i8"), "flags": draw.integers(0, 2, ROWS).astype(bool)}
    for kind in ("f8", "f4", "f2"):
        found[kind] = draw.normal(size=(ROWS, 3)).astype(kind)
        found[kind][5, 1], found[kind][7, 0] = numpy.nan, numpy.inf
    for kind in ("i4", "i2", "i1"):
        found[kind] = draw.integers(-100, 100, ROWS).astype(kind)
    return found


def write_h5(path, **options):
    with h5py.File(path, "w") as file:
        for name, array in arrays().items():
            file.create_dataset(name, data=array, **({"chunks": (257, *array.shape[1:]), **options} if options else {}))
    return path


def write_npz(path):
    numpy.savez(path, **arrays())
    return path


def write_idx(folder):
    """Writes an uncompressed file of images and a gzip file of labels; returns both paths."""
    held = arrays()
    images = folder / "x-images-idx3-ubyte"
    images.write_bytes(struct.pack(">IIII", 0x803, ROWS, 8, 6) + held["images"].tobytes())
    labels = folder / "x-labels-idx1-ubyte.gz"
    labels.write_bytes(gzip.compress(struct.pack(">II", 0x801, ROWS) + (held["i1"] % 7).astype("u1").tobytes()))
    return images, labels


# ---- inspect -------------------------------------------------------------------------------------------------------------


def close(found, expected, what):
    check(found is not None and abs(found - expected) <= 1e-9 * max(1, abs(expected)), f"{what}: found {found}, expected {expected}")


def compare_figures(field, array):
    found = field["statistics"]
    numbers = array.astype("f8")
    finite = numbers[numpy.isfinite(numbers)]
    equal(found["count"], array.size, f"{field['name']}: elements")
    equal(found["nan"], int(numpy.isnan(numbers).sum()), f"{field['name']}: NaN")
    equal(found["infinite"], int(numpy.isinf(numbers).sum()), f"{field['name']}: infinite")
    equal(found["zero"], int((numbers == 0).sum()), f"{field['name']}: zeros")
    for key, function in (("min", numpy.min), ("max", numpy.max), ("mean", numpy.mean), ("std", numpy.std)):
        close(found[key], float(function(finite)), f"{field['name']}: {key}")
    if array.ndim == 1:
        kinds, counts = numpy.unique(array[~numpy.isnan(numbers)], return_counts=True)
        distinct = field["distinct"]
        if len(kinds) > 1000:
            equal(distinct, {"more_than": 1000}, f"{field['name']}: distinct values")
        else:
            equal(distinct["count"], len(kinds), f"{field['name']}: distinct values")
        if len(kinds) <= 32:
            equal({value: count for value, count in distinct["values"]}, dict(zip(kinds.tolist(), counts.tolist())), f"{field['name']}: count of each value")


def fields_of(found):
    return {field["name"]: field for field in found["fields"]}


@test
def inspect_prints_the_same_statistics_as_numpy_for_a_table_with_strings_and_missing_values():
    for path in (write_csv(scratch() / "a.csv"), write_jsonl(scratch() / "a.jsonl")):
        found = inspected(path, "--all")
        fields = fields_of(found)
        equal((found["samples"], found["looked_at"], list(fields)), (ROWS, ROWS, list(values())), path.name)
        for name in ("id", "x", "label", "flag"):
            compare_figures(fields[name], values()[name])
        lengths = numpy.array([len(city) for city in values()["city"]])
        close(fields["city"]["lengths"]["mean"], lengths.mean(), "mean length of the strings")
        equal((fields["city"]["empty"], fields["city"]["lengths"]["max"]), (int((lengths == 0).sum()), 10), "empty strings and maximum length")
        equal({value: count for value, count in fields["city"]["distinct"]["values"]}, {city: values()["city"].count(city) for city in set(values()["city"])}, "distinct strings")
        equal([row["city"] for row in found["first"]], values()["city"][:5], "first samples")
        equal([row["x"] for row in found["first"]], [None] + values()["x"][1:5].tolist(), "first samples")


@test
def inspect_prints_the_same_statistics_as_numpy_for_arrays_in_every_format():
    folder = scratch()
    numpy.savez_compressed(folder / "b.npz", **arrays())
    for path in (write_npz(folder / "a.npz"), folder / "b.npz", write_h5(folder / "a.h5"), write_h5(folder / "b.h5", compression="gzip", shuffle=True)):
        found = fields_of(inspected(path, "--all"))
        equal(sorted(found), sorted(arrays()), path.name)
        for name, array in arrays().items():
            equal(found[name]["shape"], list(array.shape[1:]), f"{path.name}: shape of {name}")
            compare_figures(found[name], array)
    images, labels = write_idx(folder)
    found = fields_of(inspected(images, f"--labels={labels}", "--all"))
    compare_figures(found["images"], arrays()["images"])
    compare_figures(found["labels"], (arrays()["i1"] % 7).astype("u1"))


@test
def statistics_do_not_depend_on_threads_and_rows_limits_them_to_the_first_samples():
    path = scratch() / "a.npy"
    array = numpy.random.default_rng(3).normal(size=(200_000, 8))
    numpy.save(path, array)
    texts = {tool("inspect", path, "--all", "--json", "--threads", threads).out for threads in (1, 2, 7)}
    equal(len(texts), 1, "different outputs")
    found = inspected(path, "--rows", 1234)
    equal(found["looked_at"], 1234, "samples that were read")
    compare_figures(fields_of(found)["data"], array[:1234])


@test
def inspect_describes_how_ranks_would_read_a_dataset_and_gives_advice():
    folder = scratch()
    path = write_h5(folder / "a.h5", compression="gzip")
    kept = inspected(path, "--ranks", 7)["reading"]
    equal((kept["samples_a_rank"], kept["kept_in_memory"], kept["together"], kept["advice"]), (429, True, 257, []), "a dataset that fits into memory")
    read = inspected(path, "--memory=10 kB")["reading"]
    equal(read["kept_in_memory"], False, "a dataset that does not fit")
    check(any("block = 257" in line for line in read["advice"]) and any("memory = " in line for line in read["advice"]), f"advice: {read['advice']}")
    check(any("parsed" in line for line in inspected(write_csv(folder / "a.csv"), "--memory=10 kB")["reading"]["advice"]), "no advice to convert the CSV file")
    check(any("fewer than" in line for line in inspected(path, "--ranks", 5000)["reading"]["advice"]), "no advice about ranks without samples")


@test
def inspect_draws_images_and_accepts_keys_and_sections_of_a_config():
    folder = scratch()
    image = numpy.zeros((2, 8, 8), "u1")
    image[0, :, :4] = 255
    numpy.save(folder / "a.npy", image)
    out = tool("inspect", folder / "a.npy").out
    equal(out.count("  @@@@      "), 4, f"half-white lines of the image in\n{out}")
    write_csv(folder / "a.csv")
    (folder / "train.ini").write_text(f"[run]\nname = x\nstorage_path = /tmp\n[data.train]\nsource = {folder}/a.csv\nvector = v\n")
    equal(fields_of(inspected("--config", folder / "train.ini", "train"))["v"]["shape"], [4], "the vector")
    equal(list(fields_of(inspected("--config", folder / "train.ini", "train", "--vector=w"))), ["w", "city"], "fields")
    equal(inspected(folder / "a.csv", "--subset=10:20", "--rows", 5)["samples"], 10, "samples")
    refused("inspect", "--config", folder / "train.ini", "tain", message=["no section [data.tain]", "train"])
    refused("inspect", folder / "a.csv", "--vectr=v", message=["unknown key 'vectr'"])
    refused("inspect", folder / "a.csv", "--keep=0:2", message=["the key keep of [data.NAME] is now named subset_after"])
    refused("inspect", folder / "none.csv", message=["none.csv"])
    refused("inspect", folder / "a.csv", "--rows", "none", message=["--rows", "expected an integer"])
    refused("inspect", message=["missing argument: SOURCE"])


@test
def check_inspect_and_convert_use_the_samples_after_operations_and_transforms():
    folder = scratch()
    (folder / "r.csv").write_text("station,t\n" + "".join(f"{t % 3},{t}\n" for t in range(20)))
    config = folder / "run.ini"
    config.write_text(f"[run]\nname = x\nstorage_path = {folder}\n[train]\nprogram = true\n[data.train]\nsource = {folder}/r.csv\n"
                      f"sequence = 3 within=station\n")
    made = "14 samples: station i64[], t i64[3]"
    check(made in run([TRAINRT, "check", "--config", config]).out, "check does not show the sequences")
    check(made in tool("inspect", "--config", config, "train").out, "inspect does not show the sequences")
    equal(fields_of(inspected("--config", config, "train"))["t"]["shape"], [3], "the field of the sequences")
    tool("convert", "--config", config, "train", "-o", folder / "made.npz")
    equal(numpy.load(folder / "made.npz")["t"][:2].tolist(), [[0, 3, 6], [3, 6, 9]], "converted sequences")
    refused("inspect", "--config", config, "train", "--sequence=3 within=stat", message=["[data.train]", "sequence", "'stat'"])
    removed = ["the key 'join' in [data.train] was removed", "DuckDB or pandas"]
    refused("inspect", "--config", config, "train", "--join=stations on station", message=removed)
    config.write_text(config.read_text() + "join = stations on station\n")
    failed = run([TRAINRT, "check", "--config", config])
    check(failed.code != 0 and all(words in failed.out + failed.err for words in removed), "check accepts a removed key", failed)


# ---- convert -------------------------------------------------------------------------------------------------------------


def held(path):
    """Returns the content of a file, read with other libraries, as {field: array}; strings are lists."""
    path = Path(path)
    if path.suffix == ".h5":
        with h5py.File(path) as file:
            return {name: file[name][()] for name in file}
    if path.suffix == ".npz":
        with numpy.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file}
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        return {name: [row[name] for row in rows] for name in rows[0]}
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}


def same(found, expected, what):
    """Checks for equal values; numbers must have the same bits."""
    if isinstance(expected, list):
        return equal(found, expected, what)
    if isinstance(found, list):  # values of a text file
        kind = expected.dtype.type
        made = [numpy.nan if value in ("", None) else value in (True, "true") if kind is numpy.bool_ else kind(value) for value in found]
        found = numpy.array(made).astype(expected.dtype)
    equal((found.dtype, found.shape), (expected.dtype, expected.shape), f"{what}: type and shape")
    check(numpy.array_equal(found, expected, equal_nan=expected.dtype.kind == "f"), f"{what}: different values")


NUMBERS = ("id", "x", "label", "flag")


@test
def a_table_converted_to_any_file_type_and_back_has_the_same_values():
    folder = scratch()
    for source in (write_csv(folder / "a.csv"), write_jsonl(folder / "b.jsonl")):
        for ending in ("csv", "jsonl"):
            tool("convert", source, "-o", folder / f"out.{ending}", "--force")
            for name, array in values().items():
                same(held(folder / f"out.{ending}")[name], array, f"{source.name} to {ending}: {name}")
        for ending in ("h5", "npz"):
            tool("convert", source, "-o", folder / f"out.{ending}", "--columns", ",".join(NUMBERS), "--force")
            equal(list(held(folder / f"out.{ending}")), sorted(NUMBERS) if ending == "h5" else list(NUMBERS), "fields")
            for back in ("csv", "jsonl"):
                tool("convert", folder / f"out.{ending}", "-o", folder / f"back.{back}", "--force")
                for name in NUMBERS:
                    same(held(folder / f"out.{ending}")[name], values()[name], f"{source.name} to {ending}: {name}")
                    same(held(folder / f"back.{back}")[name], values()[name], f"{source.name} to {ending} to {back}: {name}")
    nothing_left(folder)
    job = refused("convert", folder / "a.csv", "-o", folder / "x.h5", message=["city", "vary in length", "--columns", ".jsonl"])
    check(not (folder / "x.h5").exists(), "an output file was created", job)
    nothing_left(folder)


@test
def arrays_of_all_types_are_converted_to_hdf5_and_npz_without_change():
    folder = scratch()
    images, labels = write_idx(folder)
    outputs = [(folder / "out.h5", ()), (folder / "out.npz", ()), (folder / "zip.h5", ("--compress", "gzip")),
               (folder / "sums.h5", ("--checksums",)), (folder / "both.h5", ("--checksums", "--compress", "gzip"))]
    probe = run([TRAINRT, "data", "convert", write_h5(folder / "a.h5"), "-o", folder / "lz4.h5", "--compress", "lz4"])
    if probe.code == FINISHED:
        equal(inspected(folder / "lz4.h5", "--all")["fields"], inspected(folder / "a.h5", "--all")["fields"], "fields after compression with lz4")
    else:
        check("hdf5-filter-plugin" in probe.err, "the package that provides lz4 is not named", probe)
    for source in (folder / "a.h5", write_h5(folder / "b.h5", compression="gzip"), write_npz(folder / "c.npz")):
        for output, words in outputs:
            tool("convert", source, "-o", output, "--force", *words)
            found = held(output)
            equal(sorted(found), sorted(arrays()), f"{source.name} to {output.name}")
            for name, array in arrays().items():
                same(found[name], array, f"{source.name} to {output.name}: {name}")
    with h5py.File(folder / "out.h5") as plain, h5py.File(folder / "zip.h5") as packed:
        check(plain["images"].chunks is None and packed["images"].compression == "gzip" and packed["f8"].shuffle, "the layouts differ from the options")
    with h5py.File(folder / "sums.h5") as summed:
        check(all(dataset.fletcher32 and not dataset.compression for dataset in summed.values()), "a dataset without checksums")
    for output, words in outputs:
        tool("convert", images, f"--labels={labels}", "-o", output, "--force", *words)
        same(held(output)["images"], arrays()["images"], output.name)
        same(held(output)["labels"], (arrays()["i1"] % 7).astype("u1"), output.name)
    numpy.save(folder / "d.npy", arrays()["f4"])
    tool("convert", folder / "d.npy", "-o", folder / "d.csv")
    equal(list(held(folder / "d.csv")), ["data_0", "data_1", "data_2"], "columns of a vector")
    tool("convert", folder / "d.csv", "--vector=data", "-o", folder / "d.h5")
    same(held(folder / "d.h5")["data"], arrays()["f4"], "a vector made of columns")
    tool("convert", folder / "a.h5", "--columns", "labels", "--cast=labels:f32", "-o", folder / "e.h5")
    same(held(folder / "e.h5")["labels"], arrays()["labels"].astype("f4"), "a field that was cast")
    (folder / "f.txt").write_text("one\ntwo\n")
    tool("convert", folder / "f.txt", "-o", folder / "f.jsonl")
    equal(held(folder / "f.jsonl"), {"text": ["one", "two"]}, "lines of a text file")
    numpy.arange(1000, dtype="u2").tofile(folder / "g.bin")
    tool("convert", folder / "g.bin", "--format=tokens", "--length=9", "-o", folder / "g.npz")
    same(held(folder / "g.npz")["tokens"], numpy.stack([numpy.arange(i, i + 10, dtype="i4") for i in range(0, 991, 9)]), "windows of tokens")


@test
def converting_several_files_gives_the_same_bytes_for_any_number_of_threads():
    folder = scratch()
    for i in range(5):
        write_csv(folder / f"a{i}.csv", rows=slice(i * 600, i * 600 + 600))
    files = set()
    for threads in (1, 2, 5):
        tool("convert", *sorted(folder.glob("a*.csv")), "-o", folder / "out.csv", "--threads", threads, "--force")
        files.add((folder / "out.csv").read_bytes())
    equal(len(files), 1, "different files")
    for name, array in values().items():
        same(held(folder / "out.csv")[name], array, name)


@test
def where_selects_the_same_samples_as_numpy():
    folder = scratch()
    source = write_csv(folder / "a.csv")
    x, label, flag, ids = (values()[name] for name in ("x", "label", "flag", "id"))
    city = numpy.array(values()["city"])
    for text, mask in {"x > 3 and city == 'Paris'": (x > 3) & (city == "Paris"), "not flag or label <= 2": ~flag | (label <= 2),
                       "x == x": x == x, "x != x": x != x, "(label == 3 or label == 5) and not (x < 1.5)": ((label == 3) | (label == 5)) & ~(x < 1.5),
                       r'city == "Bad \"A\", B"': city == 'Bad "A", B', "city < 'Q' and 5 >= label": (city < "Q") & (label <= 5),
                       "`id` >= 1e3 and id < 2000.5 and id != 1500": (ids >= 1000) & (ids < 2000.5) & (ids != 1500)}.items():
        tool("convert", source, "-o", folder / "out.csv", "--where", text, "--force")
        equal([int(value) for value in held(folder / "out.csv")["id"]], ids[mask].tolist(), text)
    write_h5(folder / "a.h5")
    tool("convert", folder / "a.h5", "-o", folder / "out.h5", "--where", "f4[2] > 0 and images[0] < 100", "--columns", "labels")
    held_ = arrays()
    same(held(folder / "out.h5")["labels"], held_["labels"][(held_["f4"][:, 2] > 0) & (held_["images"][:, 0, 0] < 100)], "an element of a vector")
    for text, message in {"x > > 3": ["at character 5", "expected"], "y > 3": ["at character 1", "no field 'y'", "x, label"], "x > 'a'": ["cannot be compared"],
                       "(x > 3": ["at character 7", "')'"], "x": ["only a bool"], "x = 3": ["at character 3", "=="], "x[1] > 2": ["numbered from 0"],
                       "x > 3 or": ["at character 9"], "city == 'Par": ["not closed"], "x > 1e9": ["removes all 3000"], "": []}.items():
        if text:
            refused("convert", source, "-o", folder / "no.csv", "--where", text, message=["where", *message])
    check(not (folder / "no.csv").exists(), "an output file was created")
    nothing_left(folder)


@test
def split_and_shuffle_write_every_sample_once_and_repeat_for_the_same_seed():
    folder = scratch()
    source = write_csv(folder / "a.csv")
    ids = lambda path: [int(value) for value in held(path)["id"]]
    tool("convert", source, "-o", folder / "out.h5", "--split", "0.8", "--columns", "id")
    train, test = ids(folder / "out-train.h5"), ids(folder / "out-test.h5")
    equal((len(train), len(test), sorted(train + test)), (2400, 600, list(range(ROWS))), "samples of the parts")
    check(train == sorted(train) and test == sorted(test) and test != list(range(2400, ROWS)), "the parts are not in order, or were not drawn at random")
    tool("convert", source, "-o", f"{folder}/p.csv,{folder}/q.csv", "--split", "0.8")
    equal((ids(folder / "p.csv"), ids(folder / "q.csv")), (train, test), "parts drawn with the same seed")
    tool("convert", source, "-o", f"{folder}/r.csv,{folder}/s.csv", "--split", "0.8", "--seed", "7")
    check(ids(folder / "r.csv") != train, "another seed draws the same part")
    orders = []
    for words in ((), ("--threads", "1"), ("--seed", "2"), ("--memory=40 kB",), ("--memory=40 kB", "--threads", "1"), ("--block=10", "--window=20")):
        tool("convert", source, "-o", folder / "o.csv", "--shuffle", "--force", *words)
        orders.append(ids(folder / "o.csv"))
        equal(sorted(orders[-1]), list(range(ROWS)), f"samples of a shuffled file {words}")
        same(held(folder / "o.csv")["x"], values()["x"][orders[-1]], "x of the shuffled rows")
        equal(held(folder / "o.csv")["city"], [values()["city"][i] for i in orders[-1]], "city of the shuffled rows")
    check(orders[0] == orders[1] and orders[3] == orders[4], "the order depends on the number of threads")
    check(len({tuple(order) for order in orders}) == 4, "another seed or block does not change the order")
    blocks = {number // 10 for number in orders[5][:200]}
    equal(len(blocks), 20, "blocks of a window")
    for words, message in {("--split", "1.5"): ["--split", "between 0 and 1"], ("--split", "0.00001"): ["would get none of the"], ("--columns", "id,idd"): ["unknown field 'idd'", "did you mean 'id'"]}.items():
        refused("convert", source, "-o", folder / "none.csv", *words, message=message)


@test
def an_invalid_output_is_an_error_that_explains_what_to_do():
    folder = scratch()
    source = write_csv(folder / "a.csv")
    tool("convert", source, "-o", folder / "out.csv")
    before = (folder / "out.csv").read_bytes()
    refused("convert", source, "-o", folder / "out.csv", "--where", "id > 5", message=["exists already", "--force"])
    equal((folder / "out.csv").read_bytes(), before, "the existing file")
    refused("convert", source, "-o", source, "--force", message=["is a source of"])
    refused("convert", source, "-o", folder / "out.xls", message=[".h5, .jsonl"])
    refused("convert", source, "-o", folder / "none/out.csv", message=["does not exist"])
    refused("convert", source, "-o", folder / "out.npz", "--columns", "id", "--compress", "gzip", message=["--compress gzip"])
    refused("convert", source, message=["missing option: -o FILE"])
    refused("convert", source, "-o", folder / "sums.csv", "--checksums", message=["--checksums", ".csv", ".h5, .parquet or .npz"])
    bad = folder / "bad.csv"
    bad.write_text("a\n" + "1\n" * 20000 + "x\n")
    refused("convert", bad, "-o", folder / "bad.h5", message=["bad.csv", "20002", "'x'"])
    nothing_left(folder)
    if os.geteuid() != 0:
        (folder / "closed").mkdir(mode=0o500)
        tool("convert", source, "-o", folder / "closed/out.csv", code=FAILED)


# ---- kills and faults ----------------------------------------------------------------------------------------------------


def big_source(folder):
    path = folder / "big.csv"
    draw = numpy.random.default_rng(5)
    block = "".join(f"{a:.6g},{b},{c}\n" for a, b, c in zip(draw.normal(size=20000), draw.integers(0, 1000, 20000), draw.choice(["one", "two", "three"], 20000)))
    path.write_text("x,n,word\n" + block * 60)
    return path


@test
def a_killed_conversion_resumes_and_writes_the_same_bytes():
    folder = scratch()
    source = big_source(folder)
    draw = random.Random(6)
    for ending, words in (("h5", ["--columns", "x,n"]), ("npz", ["--columns", "x,n"]), ("csv", []), ("jsonl", ["--where", "n > 100"]), ("parquet", ["--memory=20 MB", "--shuffle"])):
        if ending == "parquet" and not (BUILD / "modules/arrow.so").exists():
            continue
        whole, output = folder / f"whole.{ending}", folder / f"out.{ending}"
        tool("convert", source, "-o", whole, *words)
        command = [source, "-o", output, "--threads", 2, *words]
        job = start_convert(*command)
        while job.poll() is None and parts_noted(output) == 0:
            time.sleep(0.005)
        job.kill()
        job.communicate()
        for _ in range(3):
            if output.exists():
                break
            job = start_convert(*command)
            time.sleep(draw.uniform(0.01, 0.4))
            job.kill()
            job.communicate()
        resumed = not output.exists() and parts_noted(output) > 0
        job = tool("convert", *command, "--force") if output.exists() and not parts_noted(output) else tool("convert", *command)
        check(not resumed or "resuming after" in job.err, "the conversion did not resume", job)
        equal(output.read_bytes() == whole.read_bytes(), True, f"{output.name} has the same bytes")
        nothing_left(folder)
        output.unlink(), whole.unlink()


@test
def an_incomplete_file_of_other_sources_or_options_is_an_error_and_force_starts_over():
    folder = scratch()
    source = big_source(folder)
    output = folder / "out.csv"
    begun(output, source)
    refused("convert", source, "-o", output, "--where", "n > 5", message=["is incomplete", "other options", "--force"])
    os.utime(source)
    refused("convert", source, "-o", output, message=["is incomplete", "a source has changed", "big.csv", "--force"])
    job = tool("convert", source, "-o", output, "--force")
    check("resuming after" not in job.err, "it resumed", job)
    tool("convert", source, "-o", folder / "whole.csv")
    equal(output.read_bytes() == (folder / "whole.csv").read_bytes(), True, "out.csv has the same bytes")
    nothing_left(folder)


@test
def two_conversions_cannot_write_the_same_file():
    folder = scratch()
    source = big_source(folder)
    first = start_convert(source, "-o", folder / "out.csv")
    while first.poll() is None and parts_noted(folder / "out.csv") == 0:
        time.sleep(0.005)
    if first.poll() is None:
        os.kill(first.pid, signal.SIGSTOP)
        refused("convert", source, "-o", folder / "out.csv", message=["being written by another process"])
        os.kill(first.pid, signal.SIGCONT)
    first.communicate()
    equal(first.returncode, FINISHED, "exit code of the first conversion")


@test
def a_conversion_interrupted_by_ctrl_c_can_be_resumed():
    folder = scratch()
    source = big_source(folder)
    job = start_convert(source, "-o", folder / "out.csv")
    while job.poll() is None and parts_noted(folder / "out.csv") == 0:
        time.sleep(0.005)
    job.send_signal(signal.SIGINT)
    _, err = job.communicate()
    equal(job.returncode, FAILED, f"exit code; {err}")
    check("ended by SIGINT" in err and "to resume" in err, err)
    check("resuming after" in tool("convert", source, "-o", folder / "out.csv").err, "the conversion did not resume")


def tmpfs(megabytes):
    folder = scratch("tmpfs")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder], capture_output=True, text=True)
    if mounted.returncode != 0:
        skip(f"this machine cannot mount a file system: {mounted.stderr.strip()}")
    return folder


@test
def a_full_disk_is_an_error_and_the_conversion_resumes_when_there_is_space():
    source = big_source(scratch())
    folder = tmpfs(6)
    try:
        for ending, words in (("csv", []), ("h5", ["--columns", "x,n"]), ("h5", ["--columns", "x,n", "--compress", "gzip"]), ("npz", ["--columns", "x,n"])):
            output = folder / f"out.{ending}"
            job = tool("convert", source, "-o", output, *words, code=FAILED)
            check("No space left" in job.err, "the reason is not named", job)
            check(not output.exists() and ("gzip" in words or "to resume" in job.err), "the output exists, or the message does not mention resuming", job)
            if "gzip" in words:
                nothing_left(folder)
            subprocess.run(["mount", "-o", "remount,size=200m", folder], check=True)
            tool("convert", source, "-o", output, *words)
            equal(inspected(output)["samples"], 1_200_000, "samples")
            output.unlink()
            nothing_left(folder)
            subprocess.run(["mount", "-o", "remount,size=6m", folder], check=True)
    finally:
        subprocess.run(["umount", "-l", folder], check=False)


# ---- bench ---------------------------------------------------------------------------------------------------------------


@test
def bench_measures_bytes_samples_and_batches_within_the_given_time():
    folder = scratch()
    began = time.monotonic()
    found = json.loads(tool("bench", write_h5(folder / "a.h5"), "--seconds", 1, "--threads", 2, "--memory=10 kB", "--json").out)
    check(time.monotonic() - began < 20, "bench takes too long")
    names = {rate["what"] for rate in found["rates"]}
    check({"bytes in order by pread", "bytes at random by pread", "bytes at random by mmap", "samples in order", "batches in order", "batches shuffled"} <= names, f"{names}")
    equal({rate["threads"] for rate in found["rates"] if rate["what"] == "batches shuffled"}, {1, 2}, "threads")
    for rate in found["rates"]:
        check(rate["seconds"] > 0 and rate["bytes"] > 0, f"nothing was measured: {rate}")
        check(rate["samples"] > 0 or rate["what"].startswith("bytes"), f"no samples: {rate}")
    check(any("memory = " in line for line in found["advice"]), f"advice: {found['advice']}")
    check("batches shuffled" in tool("bench", write_csv(folder / "a.csv"), "--seconds", 0.5).out, "the table is missing")
    refused("bench", folder / "a.csv", "--seconds", "0", message=["--seconds"])


main()
