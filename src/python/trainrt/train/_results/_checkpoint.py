"""Checkpoint: a directory with what a train function saved."""

import json
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from ..._support import _new_file
from . import _run_directory

_METADATA = ".metadata.json"


def _resolved(path):
    """(the folder with the user's files, the folder of trainrt's checkpoint or None): of RUN/checkpoint_000012 the files are in `files`."""
    path = os.path.abspath(os.path.expanduser(path))
    if _run_directory.is_checkpoint(path) and os.path.isdir(os.path.join(path, "files")):
        return os.path.join(path, "files"), path
    parent = os.path.dirname(path)
    if os.path.basename(path) == "files" and _run_directory.is_checkpoint(parent):
        return path, parent
    return path, None


def _read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from None
    return content if isinstance(content, dict) else {}


def _write_json(path, content):
    """All or nothing: a reader sees the old text or the new."""
    text = json.dumps(content, indent=2)
    _new_file.replace(os.path.dirname(path), os.path.basename(path), lambda file: file.write(text.encode()))


class Checkpoint:
    """Refers to a directory and never owns it. One of a run's own checkpoints (RUN/checkpoint_000012) stands for the files in it: `path`
    is where they are."""

    def __init__(self, path, filesystem=None):
        if filesystem is not None:
            raise ValueError(f"Checkpoint({os.fspath(path)!r}, filesystem=...): checkpoints lie in folders that all nodes see; leave it out")
        text = os.fspath(path)
        if text.startswith("file://"):
            text = text[len("file://"):]
        if "://" in text:
            raise ValueError(f"Checkpoint({text!r}): checkpoints lie in folders that all nodes see, not behind a URI")
        self.path, self._own = _resolved(text)
        self.filesystem = None

    @classmethod
    def from_directory(cls, path):
        """The checkpoint that is in this directory; nothing is copied until it is reported."""
        return cls(path)

    @classmethod
    def _of_state(cls, path):
        """The one of a run's State in this directory: `path` is that directory, also if the State has files in it."""
        checkpoint = cls(path)
        checkpoint.path, checkpoint._own = os.path.abspath(path), None
        return checkpoint

    def is_native(self):
        """Whether it is one of a run's own that holds tensors and values only, which restore() and load_state() take, and no files."""
        return self._own is None and _run_directory.is_checkpoint(self.path)

    def is_of_a_run(self):
        """Whether it is a run, or in one of its checkpoints: what only the runtime removes."""
        folder = Path(self.path).resolve()
        return _run_directory.run_record(folder) is not None or any(map(_run_directory.is_checkpoint, (folder, *folder.parents)))

    def _checked_path(self):
        if not os.path.isdir(self.path):
            raise FileNotFoundError(f"the checkpoint {self.path} is not there: it has been removed, or this node does not see it")
        return self.path

    def to_directory(self, path=None):
        """Copies the files into `path`, or into a new folder under the system's temporary one; returns it."""
        source = self._checked_path()
        target = os.path.abspath(os.path.expanduser(os.fspath(path))) if path is not None else tempfile.mkdtemp(prefix="checkpoint_tmp_")
        shutil.copytree(source, target, dirs_exist_ok=True)
        return target

    @contextmanager
    def as_directory(self):
        """The directory itself, to be read and not written: nothing is copied."""
        yield self._checked_path()

    def get_metadata(self):
        """The dict that belongs to the checkpoint; {} if it has none."""
        if self._own is None:
            return _read_json(os.path.join(self.path, _METADATA))
        if os.path.isfile(os.path.join(self._own, _METADATA)):
            return _read_json(os.path.join(self._own, _METADATA))
        reported = _read_json(os.path.join(self._own, "manifest.json")).get("metadata") or {}
        return {**reported, **_read_json(os.path.join(self.path, _METADATA))}

    def set_metadata(self, metadata):
        """Replaces it. What a run has committed stays as it is: there the dict lies beside the manifest."""
        if not isinstance(metadata, dict):
            raise TypeError(f"set_metadata() takes a dict, not a {type(metadata).__name__}")
        self._checked_path()
        try:
            _write_json(os.path.join(self._own or self.path, _METADATA), metadata)
        except (TypeError, ValueError) as error:
            raise TypeError(f"the metadata of a checkpoint is kept as JSON, and {metadata!r} cannot be: {error}") from None

    def update_metadata(self, metadata):
        """Adds to it; keys that are there already are replaced."""
        self.set_metadata({**self.get_metadata(), **metadata})

    def __eq__(self, other):
        return isinstance(other, Checkpoint) and os.path.realpath(self.path) == os.path.realpath(other.path)

    def __hash__(self):
        return hash(os.path.realpath(self.path))

    def __repr__(self):
        return f"Checkpoint(path={self.path})"

    def __fspath__(self):
        raise TypeError("a Checkpoint is no path: take checkpoint.path, or `with checkpoint.as_directory() as path:`")
