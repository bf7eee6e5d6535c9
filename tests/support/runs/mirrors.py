"""Mirrors of checkpoints, in an object store or in a folder, for the suites that test them."""
from harness import add_test, linear_config, scratch
from fakes.object_store import Store

_stores = []


def store(**options):
    _stores.append(Store(**options))
    return _stores[-1]


def end_stores():
    for own in _stores:
        own.end()


LOOP = {"epochs": 6, "optimizer": "adamw"}


class Bucket:
    """A mirror in an object store: its objects by name."""

    def __init__(self):
        self.store = store(page=3)
        self.store.buckets["mirror"] = {}
        self.url, self.env = "s3://mirror/runs", self.store.environment()

    def names(self, run="run"):
        return sorted(name[len(f"runs/{run}/"):] for name in self.store.buckets["mirror"])

    def change(self, name, data):
        self.store.buckets["mirror"]["runs/run/" + name] = data

    def remove(self, name):
        del self.store.buckets["mirror"]["runs/run/" + name]

    def read(self, name):
        return self.store.buckets["mirror"]["runs/run/" + name]


class Folder:
    """A mirror in a folder."""

    def __init__(self):
        self.path = scratch("mirror")
        self.url, self.env = str(self.path), {}

    def names(self, run="run"):
        return sorted(str(path.relative_to(self.path / run)) for path in (self.path / run).rglob("*") if path.is_file())

    def change(self, name, data):
        (self.path / "run" / name).parent.mkdir(exist_ok=True)
        (self.path / "run" / name).write_bytes(data)

    def remove(self, name):
        (self.path / "run" / name).unlink()

    def read(self, name):
        return (self.path / "run" / name).read_bytes()


def mirrored_config(mirror, name="run", loop=None, **keys):
    return linear_config(scratch(), name, {**LOOP, **(loop or {})}, checkpoint={"mirror": mirror.url, "num_to_keep": 2, **keys})


def mirrored(mirror):
    return sorted(name.split("/")[0] for name in mirror.names() if name.endswith("/manifest.json"))


def both(function):
    for kind in (Bucket, Folder):
        add_test(f"{function.__name__}_{kind.__name__.lower()}", lambda kind=kind: function(kind()))
    return function
