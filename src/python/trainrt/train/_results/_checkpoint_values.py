"""The directories of `Checkpoint.from_dict()`: values that are stored without pickle."""

import os
import shutil
import tempfile
import weakref

from ..._client.values import kind_of
from ..._support import _plain_tree

_CALLER = "Checkpoint.from_dict()"


def written(values):
    """Writes the values, {name: value}, into a new temporary directory and returns its path. Raises TypeError for an unsupported type."""
    if not isinstance(values, dict):
        raise TypeError(f"{_CALLER} takes a dict, not {kind_of(values)}")
    for name in values:
        if not isinstance(name, str):
            raise TypeError(f"{_CALLER}: the key {name!r} is {kind_of(name)}; it must be a string")
    folder = tempfile.mkdtemp(prefix="trainrt_values_")
    try:
        _plain_tree.save(folder, values, _CALLER)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def remove_with(owner, folder):
    """Removes the folder of the Checkpoint `owner` when `owner` is deleted or this process exits. Copies of `owner` in child processes do not remove it."""
    owner._is_temporary = True
    weakref.finalize(owner, _remove_in, os.getpid(), folder)


def read(folder, path):
    """Returns the values in a directory of written(). Raises ValueError, which names the checkpoint `path`, if the directory has no values."""
    if not _plain_tree.is_in(folder):
        names = sorted(os.listdir(folder))
        shown = f"{', '.join(names[:5])}{', ...' if len(names) > 5 else ''}" or "no files"
        raise ValueError(f"Checkpoint.to_dict(): the checkpoint {path} was not made by Checkpoint.from_dict(); it has {shown}. Read the files: "
                         f"`with checkpoint.as_directory() as path:`")
    return _plain_tree.load(folder)


def _remove_in(process, folder):
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
