"""Checkpoint: a directory with the files that a train function saved."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Optional, Union

from ..._client.values import kind_of
from ..._support import _local_files, _object_store
from . import _checkpoint_values, _json_file, _run_directory
from ._remote_checkpoint import RemoteCheckpoint

_METADATA = ".metadata.json"
_OTHER_RANKS = ".other_ranks"  # folder of a run's checkpoint


class Checkpoint:
    """Refers to a directory with the files of a checkpoint, or to such files in an object store. It does not own them.

    A checkpoint of a run (`RUN/checkpoint_000012`) refers to the reported files in it, so that `path` is `RUN/checkpoint_000012/files`.

    Files in an object store are downloaded when they are needed: `as_directory()` and `to_directory()` download them, and verify the checksums of a
    run's checkpoint. A download ends with an error after the seconds in the environment variable TRAINRT_FETCH_TIMEOUT, by default after one hour.

    Parameters
    ----------
    path : str or path-like
        Directory in a file system that all nodes see, `file:///PATH`, or a URL of an object store: `s3://BUCKET/KEY` or `gs://BUCKET/KEY`.
    filesystem : pyarrow.fs.LocalFileSystem, optional
        A file system for local files; others raise an error.

    Attributes
    ----------
    path : str
        Absolute path of the directory with the files, or their URL in an object store.
    filesystem : pyarrow.fs.LocalFileSystem, optional
        File system of `path`. `None` if pyarrow is not installed, and for a URL of an object store.

    Raises
    ------
    ValueError
        If `path` is a URL of another scheme, or `filesystem` is not for local files.

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

    _is_temporary = False  # the directory is in a temporary directory of this node, and is removed with this object

    def __init__(self, path: Union[str, "os.PathLike[str]"], filesystem: Any = None):
        if not _local_files.is_local(filesystem):
            raise ValueError(f"Checkpoint({os.fspath(path)!r}, filesystem={filesystem!r}) is not supported: checkpoints are directories that all nodes see. "
                             f"Leave out filesystem")
        reader = _object_store.reader_of(path)
        self._remote: Optional[RemoteCheckpoint] = RemoteCheckpoint(reader) if reader is not None else None
        if reader is not None:
            self.path, self._native_directory = reader.url, None
        else:
            self.path, self._native_directory = _resolved(_object_store.local_path(path))

    @property
    def filesystem(self) -> Any:
        """pyarrow.fs.LocalFileSystem for a directory; `None` if pyarrow is not installed, and for a URL of an object store."""
        return _local_files.filesystem() if self._remote is None else None

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
        Checkpoint(filesystem=local, path=/tmp/model)
        """
        return cls(path)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Checkpoint":
        """Returns a checkpoint with the values of a dict, as in Ray 2.0 to 2.6. The values are written into a new temporary directory, without pickle. The
        directory is removed with the Checkpoint object. `report()` copies the directory. For `resume_from_checkpoint`, `fit()` copies it into the storage
        path of the run, so that the ranks of all nodes can read it, and removes this copy at its end.

        Parameters
        ----------
        data : dict of str to object
            Numbers, strings, bytes, `None`, NumPy arrays, torch tensors, and dicts, lists and tuples of these. Of a model, pass its `state_dict()`.

        Raises
        ------
        TypeError
            If a value has another type.

        Examples
        --------
        >>> from trainrt.train import Checkpoint
        >>> Checkpoint.from_dict({"epoch": 3, "weights": [0.5, 1.5]}).to_dict()
        {'epoch': 3, 'weights': [0.5, 1.5]}
        """
        checkpoint = cls(_checkpoint_values.written(data))
        _checkpoint_values.remove_with(checkpoint, checkpoint.path)
        return checkpoint

    def to_dict(self) -> dict[str, Any]:
        """Returns the values of a checkpoint that `from_dict()` made. Downloads the files of a URL.

        Raises
        ------
        FileNotFoundError, OSError
            As `as_directory()` does.
        ValueError
            If the checkpoint was not made by `from_dict()`.
        """
        with self.as_directory() as folder:
            return _checkpoint_values.read(folder, self.path)

    @classmethod
    def _from_state(cls, path):
        """Returns the checkpoint of a State. Its `path` is the checkpoint's directory and not the folder files/, even if the State has files."""
        checkpoint = cls(path)
        checkpoint.path, checkpoint._native_directory = os.path.abspath(path), None
        return checkpoint

    def is_native(self) -> bool:
        """Returns whether this is a checkpoint of a run with tensors and values and no reported directory.

        Such a checkpoint is read by `trainrt.Context.restore()` and `load_state()`.
        """
        if self._remote is not None:
            return self._remote.is_native()
        return self._native_directory is None and _run_directory.is_checkpoint(self.path)

    def is_of_a_run(self) -> bool:
        """Returns whether the directory is a run directory or in a checkpoint of a run, or this is a URL of an object store. Reports never remove these."""
        if self._remote is not None:
            return True
        folder = Path(self.path).resolve()
        return _run_directory.run_record(folder) is not None or any(map(_run_directory.is_checkpoint, (folder, *folder.parents)))

    def _existing_path(self):
        if not os.path.isdir(self.path):
            raise FileNotFoundError(f"the checkpoint {self.path} does not exist on this node: it was removed, or its file system is not mounted here")
        return self.path

    def to_directory(self, path: Union[str, "os.PathLike[str]", None] = None) -> str:
        """Copies the files of the checkpoint, or downloads them from its URL. Files in the folder `.other_ranks` are left out: they have the names of other
        files of the checkpoint, but other contents.

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
            If the checkpoint does not exist on this node, or nothing is stored at its URL.
        OSError
            If the object store fails, does not answer in time (TimeoutError), or has a damaged checkpoint. The message names the URL.
        """
        with self.as_directory() as source:
            target = os.path.abspath(os.path.expanduser(os.fspath(path))) if path is not None else tempfile.mkdtemp(prefix="checkpoint_tmp_")
            shutil.copytree(source, target, dirs_exist_ok=True, ignore=lambda folder, names: {_OTHER_RANKS} if folder == source else set())
        return target

    @contextmanager
    def as_directory(self) -> Iterator[str]:
        """Context manager that returns the path of the directory. Nothing is copied: do not write to it.

        The files of a URL are downloaded into a private temporary directory, which the processes of a node share if they have copies of this object
        (`resume_from_checkpoint`). The last process that leaves the `with` block removes it.

        Raises
        ------
        FileNotFoundError
            If the checkpoint does not exist on this node, or nothing is stored at its URL.
        OSError
            If the object store fails, does not answer in time (TimeoutError), or has a damaged checkpoint. The message names the URL.
        """
        if self._remote is None:
            yield self._existing_path()
            return
        with self._remote.folder() as folder:
            yield _resolved(folder)[0]

    def get_metadata(self) -> dict[str, Any]:
        """Returns the metadata of the checkpoint, or {} if it has no metadata.

        Raises
        ------
        ValueError
            If the file with the metadata is not valid JSON.
        """
        if self._remote is not None:
            return self._remote.metadata()
        if self._native_directory is None:
            return _json_file.read(os.path.join(self.path, _METADATA))
        if os.path.isfile(os.path.join(self._native_directory, _METADATA)):
            return _json_file.read(os.path.join(self._native_directory, _METADATA))
        reported = _json_file.read(os.path.join(self._native_directory, "manifest.json")).get("metadata") or {}
        return {**reported, **_json_file.read(os.path.join(self.path, _METADATA))}

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
        ValueError
            If the checkpoint is a URL of an object store.
        """
        if self._remote is not None:
            raise ValueError(f"set_metadata(): files in an object store are not changed: {self.path}. Change a copy: Checkpoint(checkpoint.to_directory())")
        if not isinstance(metadata, dict):
            raise TypeError(f"set_metadata() takes a dict, not {kind_of(metadata)}")
        self._existing_path()
        try:
            _json_file.write(os.path.join(self._native_directory or self.path, _METADATA), metadata)
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
        return isinstance(other, Checkpoint) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> str:
        return self.path if self._remote is not None else os.path.realpath(self.path)

    def __repr__(self) -> str:
        return f"Checkpoint(filesystem={self.path.partition('://')[0] if '://' in self.path else 'local'}, path={self.path})"

    def __fspath__(self) -> str:
        raise TypeError("You cannot use `Checkpoint` objects directly as paths. Use checkpoint.path, or `with checkpoint.as_directory() as path:`")


def _resolved(path: str) -> "tuple[str, Optional[str]]":
    """Returns (directory with the user's files, directory of the run's checkpoint that contains it or `None`)."""
    path = os.path.abspath(os.path.expanduser(path))
    if _run_directory.is_checkpoint(path) and os.path.isdir(os.path.join(path, "files")):
        return os.path.join(path, "files"), path
    parent = os.path.dirname(path)
    if os.path.basename(path) == "files" and _run_directory.is_checkpoint(parent):
        return path, parent
    return path, None
