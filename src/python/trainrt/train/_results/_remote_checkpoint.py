"""A checkpoint in an object store."""

import hashlib
import json
import os
import re
from contextlib import contextmanager

from ..._support._shared_download import SharedDownload

_MANIFEST, *_METADATA = _SMALL_FILES = ("manifest.json", "files/.metadata.json", ".metadata.json")
_FILES_OF_RUN = re.compile(r"/checkpoint_\d{6,}/files$")


class RemoteCheckpoint:
    """The checkpoint that `reader` reads: a checkpoint of a run, the folder `files` of such a checkpoint, or any other folder. Each object downloads the small
    files once."""

    def __init__(self, reader):
        self.reader = reader.parent() if _FILES_OF_RUN.search(reader.key) else reader  # the manifest has the checksums of the files
        self._download = SharedDownload(self.reader)
        self._small = None  # {name: content} of the small files, after the first use

    @contextmanager
    def folder(self):
        """Context manager that returns a folder with all files. Raises as SharedDownload.folder() does."""
        with self._download.folder() as folder:
            yield folder

    def is_native(self):
        """Returns whether this is a checkpoint of a State without a reported directory."""
        manifest = self._of(_MANIFEST)
        return manifest.get("format") == "trainrt checkpoint" and manifest.get("directory") is not True

    def digest(self):
        """Returns the SHA-256 of the manifest, which has the checksums of the files."""
        return hashlib.sha256(json.dumps(self._of(_MANIFEST), sort_keys=True).encode()).hexdigest()

    def metadata(self):
        """Returns the metadata, or {} if the checkpoint has no metadata."""
        found = dict(self._of(_MANIFEST).get("metadata") or {})
        for name in _METADATA:
            found.update(self._of(name))
        return found

    def _of(self, name):
        if self._small is None:
            with self.reader.fetched(*_SMALL_FILES) as folder:
                self._small = {each: _json_in(os.path.join(folder, each), self.reader.url) for each in _SMALL_FILES}
        return self._small[name]


def _json_in(path, url):
    """Returns the object in a JSON file, or {} if the file does not exist. Raises ValueError, which names the URL."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{url}/{os.path.basename(path)} is not valid JSON: {error}") from None
    return content if isinstance(content, dict) else {}
