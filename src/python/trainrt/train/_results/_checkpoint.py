"""Checkpoint: a directory with the files that a train function saved."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Optional, Union

from ..._support import _local_files, _new_file
from . import _run_directory

_METADATA = ".metadata.json"
_OTHER_RANKS = ".other_ranks"  # folder of a run's checkpoint


class Checkpoint:
    """Refers to a directory with the files of a checkpoint. It does not own the directory.

    A checkpoint of a run (`RUN/checkpoint_000012`) refers to the reported files in it, so that `path` is `RUN/checkpoint_000012/files`.

    Parameters
    ----------
    path : str or path-like
        Directory in a file system that all nodes see. A `file://` URI is accepted, other URIs are not.
    filesystem : pyarrow.fs.LocalFileSystem, optional
        A file system for local files; others raise an error.

    Attributes
    ----------
    path : str
        Absolute path of the directory with the files.
    filesystem : pyarrow.fs.LocalFileSystem or None
        File system of `path`. `None` if pyarrow is not installed.

    Raises
    ------
    ValueError
        If `path` is a URI of another scheme, or `filesystem` is not for local files.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from trainrt.train import Checkpoint
    >>> directory = tempfile.mkdtemp()
    >>> _ = (pathlib.Path(directory) / "epoch").write_text("3")
    >>> checkpoint = Checkpoint.from_directory(directory)
    >>> with checkpoint.as_directory() as path:
    ...     print((pathlib.Path(path) / "epoch").read_text())
    3
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], filesystem: Any = None):
        if not _local_files.is_local(filesystem):
            raise ValueError(f"Checkpoint({os.fspath(path)!r}, filesystem={filesystem!r}) is not supported: checkpoints are directories that all nodes see. "
                             f"Leave out filesystem")
        text = os.fspath(path)
        if text.startswith("file://"):
            text = text[len("file://"):]
        if "://" in text:
            raise ValueError(f"Checkpoint({text!r}): a URI is not supported. Give the path of a directory that all nodes see")
        self.path, self._native_directory = _resolved(text)

    @property
    def filesystem(self) -> Any:
        """pyarrow.fs.LocalFileSystem, since checkpoints are directories that all nodes see; `None` if pyarrow is not installed."""
        return _local_files.filesystem()

    @classmethod
    def from_directory(cls, path: Union[str, "os.PathLike[str]"]) -> "Checkpoint":
        """Returns the checkpoint in a directory. Nothing is copied before it is reported.

        Parameters
        ----------
        path : str or path-like
            Directory with the files.

        Returns
        -------
        Checkpoint

        Examples
        --------
        >>> from trainrt.train import Checkpoint
        >>> Checkpoint.from_directory("/tmp/model")
        Checkpoint(path=/tmp/model)
        """
        return cls(path)

    @classmethod
    def _from_state(cls, path):
        """Returns the checkpoint of a State: `path` stays the checkpoint's directory, even if the State has files."""
        checkpoint = cls(path)
        checkpoint.path, checkpoint._native_directory = os.path.abspath(path), None
        return checkpoint

    def is_native(self) -> bool:
        """Returns whether this is a checkpoint of a run with tensors and values and no reported directory.

        Such a checkpoint is read by `trainrt.Context.restore()` and `load_state()`.
        """
        return self._native_directory is None and _run_directory.is_checkpoint(self.path)

    def is_of_a_run(self) -> bool:
        """Returns whether the directory is a run directory or in a checkpoint of a run. Only the runtime removes such directories."""
        folder = Path(self.path).resolve()
        return _run_directory.run_record(folder) is not None or any(map(_run_directory.is_checkpoint, (folder, *folder.parents)))

    def _existing_path(self):
        if not os.path.isdir(self.path):
            raise FileNotFoundError(f"the checkpoint {self.path} does not exist on this node: it was removed, or its file system is not mounted here")
        return self.path

    def to_directory(self, path: Union[str, "os.PathLike[str]", None] = None) -> str:
        """Copies the files, except files in the folder `.other_ranks`, which differ from rank 0's files of the same names.

        Parameters
        ----------
        path : str or path-like, optional
            Destination. Default: a new directory in the system's temporary directory.

        Returns
        -------
        str
            Path of the copy.

        Raises
        ------
        FileNotFoundError
            If the checkpoint does not exist on this node.
        """
        source = self._existing_path()
        target = os.path.abspath(os.path.expanduser(os.fspath(path))) if path is not None else tempfile.mkdtemp(prefix="checkpoint_tmp_")
        shutil.copytree(source, target, dirs_exist_ok=True, ignore=lambda folder, names: {_OTHER_RANKS} if folder == source else set())
        return target

    @contextmanager
    def as_directory(self) -> Iterator[str]:
        """Context manager that returns the path of the directory. Nothing is copied: do not write to it.

        Raises
        ------
        FileNotFoundError
            If the checkpoint does not exist on this node.
        """
        yield self._existing_path()

    def get_metadata(self) -> dict[str, Any]:
        """Returns the metadata of the checkpoint, or {} if it has no metadata.

        Raises
        ------
        ValueError
            If the file with the metadata is not valid JSON.
        """
        if self._native_directory is None:
            return _read_json(os.path.join(self.path, _METADATA))
        if os.path.isfile(os.path.join(self._native_directory, _METADATA)):
            return _read_json(os.path.join(self._native_directory, _METADATA))
        reported = _read_json(os.path.join(self._native_directory, "manifest.json")).get("metadata") or {}
        return {**reported, **_read_json(os.path.join(self.path, _METADATA))}

    def set_metadata(self, metadata: dict[str, Any]) -> None:
        """Replaces the metadata. The committed files of a run's checkpoint are not changed: its metadata are written next to the manifest.

        Parameters
        ----------
        metadata : dict
            Values that JSON can hold.

        Raises
        ------
        TypeError
            If `metadata` is not a dict, or JSON cannot hold it.
        """
        if not isinstance(metadata, dict):
            raise TypeError(f"set_metadata() takes a dict, not a {type(metadata).__name__}")
        self._existing_path()
        try:
            _write_json(os.path.join(self._native_directory or self.path, _METADATA), metadata)
        except (TypeError, ValueError) as error:
            raise TypeError(f"set_metadata({metadata!r}): JSON cannot hold the metadata: {error}") from None

    def update_metadata(self, metadata: dict[str, Any]) -> None:
        """Adds `metadata` to the metadata of the checkpoint; keys that exist are replaced.

        Examples
        --------
        >>> import tempfile
        >>> from trainrt.train import Checkpoint
        >>> checkpoint = Checkpoint(tempfile.mkdtemp())
        >>> checkpoint.set_metadata({"epoch": 1})
        >>> checkpoint.update_metadata({"loss": 0.5})
        >>> checkpoint.get_metadata()
        {'epoch': 1, 'loss': 0.5}
        """
        self.set_metadata({**self.get_metadata(), **metadata})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checkpoint) and os.path.realpath(self.path) == os.path.realpath(other.path)

    def __hash__(self) -> int:
        return hash(os.path.realpath(self.path))

    def __repr__(self) -> str:
        return f"Checkpoint(path={self.path})"

    def __fspath__(self) -> str:
        raise TypeError("You cannot use `Checkpoint` objects directly as paths. Use checkpoint.path, or `with checkpoint.as_directory() as path:`")


def _resolved(path: str) -> "tuple[str, Optional[str]]":
    """Returns the directory with the user's files, and the directory of the run's checkpoint that it belongs to, or `None`."""
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
        raise ValueError(f"{path} is not valid JSON: {error}") from None
    return content if isinstance(content, dict) else {}


def _write_json(path, content):
    """Replaces the file by an atomic rename."""
    text = json.dumps(content, indent=2)
    _new_file.replace(os.path.dirname(path), os.path.basename(path), lambda file: file.write(text.encode()))
