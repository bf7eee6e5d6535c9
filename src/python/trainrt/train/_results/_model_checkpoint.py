"""ModelCheckpoint: base class of the checkpoints that hold one model of a framework."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar, Union

from . import _checkpoint_values
from ._checkpoint import Checkpoint

if TYPE_CHECKING:
    from ...data.preprocessors import Preprocessor

_PREPROCESSOR = "preprocessor"  # key in the metadata: the preprocessor as JSON
Kind = TypeVar("Kind", bound="ModelCheckpoint")


class ModelCheckpoint(Checkpoint):
    """A directory with the file of a model, and optionally with a preprocessor in its metadata."""

    @classmethod
    def _written(cls: type[Kind], write: Callable[[str], Any], preprocessor: Any, path: Union[str, "os.PathLike[str]", None] = None) -> Kind:
        """Calls `write` with the path of a directory, and returns the checkpoint in it.

        `path`: the directory, which is created if it does not exist. By default, it is a temporary directory that is removed with the returned
        object; `report()` copies it before.
        """
        folder = tempfile.mkdtemp(prefix="trainrt_model_") if path is None else os.path.abspath(os.fspath(path))
        os.makedirs(folder, exist_ok=True)
        try:
            write(folder)
            checkpoint = cls(folder)
            if preprocessor is not None:
                checkpoint.update_metadata({_PREPROCESSOR: preprocessor.to_dict()})
        except BaseException:
            if path is None:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        if path is None:
            _checkpoint_values.remove_with(checkpoint, folder)
        return checkpoint

    @contextmanager
    def _file(self, name: str) -> Iterator[str]:
        """Context manager that returns the path of the model's file, which is downloaded if the checkpoint is a URL. Raises FileNotFoundError if the
        checkpoint has no such file."""
        with self.as_directory() as folder:
            path = os.path.join(folder, name)
            if not os.path.exists(path):
                raise FileNotFoundError(f"{type(self).__name__}.get_model(): {self.path}/{name} does not exist; the directory has: "
                                        f"{', '.join(sorted(os.listdir(folder)))}")
            yield path

    def get_preprocessor(self) -> "Optional[Preprocessor]":
        """Returns the preprocessor that was stored with the model, or `None`."""
        stored = self.get_metadata().get(_PREPROCESSOR)
        if stored is None:
            return None
        from ...data.preprocessors import Preprocessor  # needs NumPy
        return Preprocessor.from_dict(stored)
