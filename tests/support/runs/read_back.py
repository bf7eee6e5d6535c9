"""Tests of data formats: a function that writes files is registered with the values that a train function must receive."""
from runs.trouble import *  # noqa: F401,F403

try:
    import numpy
except ImportError:
    numpy = None

TYPES = {"f16": "f2", "f32": "f4", "f64": "f8", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "bool": "?"}


def read_back(ranks, section, config):
    """Returns the values of each field by sample: an array, or a list of arrays if the length of the field varies."""
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
    """Reads a file of a rank. A rank without samples writes no file."""
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
        check(not wrong, f"{name}: different values in the samples {wrong[:20]}")


def reads_what_was_written(write, ranks):
    section, expected = write(scratch(write.__name__))
    for shuffle in (False, True):
        folder = scratch()
        config = write_config(folder / "run.ini", {
            "run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": module_of("reads")}, "loop": {"batch_size": 4, "out": "."},
            "data.read": {**section, "shuffle": shuffle}})
        check_same(read_back(ranks, section, config), expected)


def written(write, rank_counts=(1, 2)):
    """Registers tests for a function that takes a folder and returns the section of a dataset and the values of its fields."""
    for ranks in rank_counts:
        add_test(f"{write.__name__}_are_read_on_{ranks}_rank{'s' * (ranks > 1)}", reads_what_was_written, write, ranks)
    return write


def values_of(dtype, *shape):
    """Returns random values, in which any bit may be set."""
    bits = numpy.random.default_rng(len(shape)).integers(0, 256, numpy.prod(shape) * numpy.dtype(dtype).itemsize, "u1")
    return (bits & 1 if dtype == "?" else bits).view(dtype).reshape(shape)


def texts(count):
    words = ["", "plain", "a, b", 'say "so"', "two\nlines", "\u00fcber", "tail "]
    return [words[number % len(words)] + str(number) for number in range(count)]


def as_bytes(values):
    return [numpy.frombuffer(value.encode(), "u1") for value in values]


def setup_read_back():
    if numpy is None:
        skip("NumPy not found (package python3-numpy)")
    module_of("reads")
