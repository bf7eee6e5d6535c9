"""Reads the files below a URL of an object store, through the program `trainrt fetch`.

reader_of() is the only function that turns a URL into a Reader.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from . import _executable, _store_url
from ._key_pipe import key_pipe
from ._side_process import without_ranks

RECORDS_LIMIT_S = 300.0  # time limit of a copy of small files
_CHECKPOINT_LIMIT_S = 3600.0  # default time limit of a copy of a checkpoint
_STOP_S = 3.0  # time in which a stopped copy must remove its files, before it is killed
_LIMIT = "TRAINRT_FETCH_TIMEOUT"
_USAGE = 64  # exit code of `trainrt fetch` for invalid arguments, and if nothing is stored at the URL


@dataclass(frozen=True)
class Reader:
    """The files below a URL. `options` are arguments of `trainrt fetch` that this store needs, such as --storage.s3_endpoint=URL."""

    url: str  # as _store_url.StoreUrl writes it
    options: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key in the bucket, without the options of the URL."""
        return _store_url.parsed(self.url).key

    def below(self, name: str) -> Reader:
        """Returns the Reader of the folder `name` below this URL."""
        return Reader(str(_store_url.parsed(self.url).below(name)), self.options)

    def parent(self) -> Reader:
        url = _store_url.parsed(self.url)
        return Reader(str(replace(url, key=url.key.rpartition("/")[0])), self.options)

    def fetch(self, folder: str, files: Sequence[str] = (), limit_s: float | None = None, keys: Mapping[str, str] | None = None) -> None:
        """Copies the files into `folder`, which must not exist, and verifies the checksums of checkpoints.

        `files`: patterns of the files to copy; their checksums are not verified, and `folder` is empty if no file matches. `limit_s`: time limit;
        default: the environment variable TRAINRT_FETCH_TIMEOUT, else one hour. `keys`: access keys, instead of those of the environment. Raises
        FileNotFoundError if nothing is stored at the URL, TimeoutError after the time limit, and OSError if the store or the disk fails or a checkpoint
        is damaged. Each error names the URL.
        """
        limit_s = limit_s or checkpoint_limit_s()
        command = [_executable.trainrt(), "fetch", self.url, "-o", folder, "--quiet", *self.options]
        if files:
            command += ["--files", ",".join(files), "--empty-ok"]
        try:
            code, output = _ended(command, limit_s, keys)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{self.url}: not copied within {limit_s:.0f} s. Check that the store is available, or raise the limit: "
                               f"{_LIMIT}=SECONDS in the environment") from None
        if code != 0:
            kind = FileNotFoundError if code == _USAGE and "nothing to copy: " in output else OSError
            raise kind(f"{self.url}: {_error_in(output) or f'trainrt fetch failed with exit code {code}'}")

    @contextmanager
    def fetched(self, *files: str, keys: Mapping[str, str] | None = None) -> Iterator[str]:
        """Context manager that returns a temporary folder with the files that match the patterns `files`. fetch() describes `keys` and the exceptions."""
        folder = tempfile.mkdtemp(prefix="trainrt_records_")
        try:
            self.fetch(os.path.join(folder, "records"), files, _given_limit_s() or RECORDS_LIMIT_S, keys)
            yield os.path.join(folder, "records")
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def reader_of(path: str | os.PathLike[str]) -> Reader | None:
    """Returns the Reader of a URL of an object store, or `None` for another path. Accepts a URL that passed through pathlib ("s3:/bucket/key"). Raises
    ValueError if an option in the URL is invalid."""
    text = os.fspath(path)
    for scheme in _store_url.SCHEMES:
        if text.startswith(scheme[:-1]):
            url = _store_url.parsed(scheme + text[len(scheme) - 1:].lstrip("/"))
            return Reader(str(replace(url, key=url.key.strip("/"))))
    return None


def local_path(path: str | os.PathLike[str]) -> str:
    """Returns a path unchanged, and the path in a file:// URL. Raises ValueError for a URL with another scheme or a host."""
    text = os.fspath(path)
    match = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(.*)", text, re.DOTALL)
    if match is None:
        return "/" + text[len("file:"):].lstrip("/") if text.startswith("file:/") else text
    scheme, host, rest = match.groups()
    if scheme != "file":
        raise ValueError(f"{_store_url.without_keys(text)!r}: URLs with {scheme}:// are not supported. Give the path of a directory that all nodes see, or "
                         f"{' or '.join(_store_url.SCHEMES)}BUCKET/KEY")
    if host not in ("", "localhost"):
        raise ValueError(f"{text!r} names the host {host!r}. Write three slashes before an absolute path, such as file:///scratch/runs")
    return rest


def checkpoint_limit_s() -> float:
    """Returns the time limit of a copy of a checkpoint: the environment variable TRAINRT_FETCH_TIMEOUT; if it is not set, one hour."""
    return _given_limit_s() or _CHECKPOINT_LIMIT_S


def _given_limit_s() -> float | None:
    """Returns the seconds in TRAINRT_FETCH_TIMEOUT, or `None` if it is not set. Raises ValueError if it is not a positive number."""
    text = os.environ.get(_LIMIT)
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{_LIMIT}={text!r}: it must be a number of seconds above 0")
    return seconds


def _ended(command: Sequence[str], limit_s: float, keys: Mapping[str, str] | None) -> tuple[int, str]:
    """Runs a command and returns its exit code and standard error. Raises subprocess.TimeoutExpired after `limit_s`. If this call ends early, the
    command gets SIGTERM, so that it removes its files, and SIGKILL after _STOP_S."""
    with key_pipe(keys) as (variables, descriptors), \
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                             env={**without_ranks(), **variables}, pass_fds=descriptors) as process:
        try:
            _, output = process.communicate(timeout=limit_s)
        except BaseException:
            process.terminate()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
            raise
    return process.returncode, output


def _error_in(output: str) -> str:
    """Returns the error message of trainrt in its standard error."""
    lines = [line for line in output.strip().splitlines() if line.strip()]
    errors = [line.partition("error: ")[2] for line in lines if "error: " in line]
    return (errors or lines or [""])[-1]
