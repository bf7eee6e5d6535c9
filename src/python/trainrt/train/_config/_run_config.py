"""RunConfig: the name of the run, where it lies, and what happens around it."""

import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Union

from . import _filesystem, _paths
from ._callbacks import UserCallback
from ._checkpoint_config import CheckpointConfig
from ._failure_config import FailureConfig
from ._sync_config import SyncConfig




def is_store(path):
    """Whether runs are mirrored there: an object store."""
    return path is not None and path.startswith(_filesystem.STORES)


def _storage_place(path):
    """A folder of this machine or of a shared file system, written out; or the URL of an object store."""
    text = _paths.expanded(path, "RunConfig(storage_path)")
    if isinstance(path, _paths.Written):
        return path
    if text.startswith("file://"):
        text = text[len("file://"):]
    if text.startswith(_filesystem.STORES):
        return _paths.Written(text)
    if "://" in text:
        raise ValueError(f"RunConfig(storage_path={path!r}): give a folder that all nodes see, or an object store: {' or '.join(_filesystem.STORES)}BUCKET/PREFIX")
    return _paths.Written(os.path.abspath(os.path.expanduser(text)))


def _is_plain_name(name):
    return (isinstance(name, str) and 0 < len(name.encode("utf-8", "replace")) <= 200 and "/" not in name and not name.startswith(".")
            and name.isprintable())


@dataclass
class RunConfig:
    """What is left out (None) is as the launch or the config file says."""

    name: Optional[str] = None
    storage_path: Optional[str] = None
    storage_filesystem: Optional[Any] = None
    failure_config: Optional[FailureConfig] = None
    checkpoint_config: Optional[CheckpointConfig] = None
    sync_config: Optional[SyncConfig] = None
    verbose: Optional[int] = None
    stop: Optional[Any] = None
    callbacks: Optional[List[UserCallback]] = None
    progress_reporter: Optional[Any] = None
    log_to_file: Union[bool, str, tuple] = False
    worker_runtime_env: Optional[Dict] = None
    local_dir: Optional[str] = None

    def __post_init__(self):
        self._check_place()
        for name, kind in (("failure_config", FailureConfig), ("checkpoint_config", CheckpointConfig), ("sync_config", SyncConfig)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"RunConfig({name}={value!r}): it must be a trainrt.train.{kind.__name__}")
        for callback in self.callbacks or ():
            if not isinstance(callback, UserCallback):
                raise ValueError(f"RunConfig(callbacks=[...]): {callback!r} is no trainrt.train.UserCallback")

    def _check_place(self):
        if self.name is not None and not _is_plain_name(self.name):
            raise ValueError(f"RunConfig(name={self.name!r}): it must be one plain name: no '/', no control characters, at most 200 bytes, "
                             f"not starting with '.'")
        if self.local_dir is not None:
            raise ValueError(f"RunConfig(local_dir={self.local_dir!r}): Ray Train took it away; write storage_path={self.local_dir!r}")
        if self.storage_filesystem is not None:
            scheme = _filesystem.scheme_of(self.storage_filesystem)
            if self.storage_path is None:
                raise ValueError("RunConfig(storage_filesystem=...) needs storage_path: the bucket and the prefix in it, or a folder")
            _filesystem.settings_of(self.storage_filesystem)
            place = os.fspath(self.storage_path)
            if "://" not in place:
                self.storage_path = scheme + (place.lstrip("/") if scheme else place)
            elif not place.startswith(scheme or "file://"):
                raise ValueError(f"RunConfig(storage_path={place!r}, storage_filesystem=...): the filesystem is for {scheme or 'local files'}")
        if self.storage_path is not None:
            self.storage_path = _storage_place(self.storage_path)
