"""Starts `trainrt data serve`, a process that reads datasets for a Python process outside of a run."""

import atexit
import hashlib
import json
import os
import socket
import subprocess
import threading

from ..._client.channel import Channel, message_line
from ..._support import _executable
from ..._support._side_process import without_ranks
from ._shared_batches import Link


class _Server:
    def __init__(self):
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen([_executable.trainrt(), "data", "serve"], stdin=theirs.fileno(), stdout=subprocess.DEVNULL,
                                             env=without_ranks(), start_new_session=True)
        self._channel = Channel(ours.detach())
        self._lock = threading.Lock()
        self._lock_owner = None  # thread that holds the lock
        self._opened = {}  # {name of a dataset: set of the read_*() calls that have opened the dataset}
        self.process = os.getpid()
        self.link = Link(self.ask)

    def ask(self, op, with_memory=None, **fields):
        """Sends a message and returns the answer. Raises ValueError or RuntimeError with the server's message. Raises RuntimeError if the server has
        exited, or if this thread is already waiting for an answer, which happens in a finalizer."""
        if self._lock_owner == threading.get_ident():
            raise RuntimeError(f"{op}() was called in a finalizer, while this thread waits for another answer of `trainrt data serve`")
        with self._lock:
            self._lock_owner = threading.get_ident()
            try:
                self._channel.send(message_line({"op": op, **fields}), with_memory.fd if with_memory else None)
                if with_memory:
                    with_memory.close_descriptor()
                answer = self._channel.receive()
            except (EOFError, OSError) as error:
                raise RuntimeError(f"`trainrt data serve` (process {self._process.pid}) has stopped unexpectedly (exit code {self._process.poll()}); the next "
                                   f"call starts a new one") from error
            finally:
                self._lock_owner = None
        if "ok" in answer:
            return answer["ok"]
        raise (ValueError if answer.get("usage") else RuntimeError)(answer["error"])

    def open(self, keys, seed, reading=None, label="the dataset"):
        """Opens the dataset with these keys of [data.NAME] and returns its name in the server. `reading` identifies the read_*() call; the server
        lists the files again for each new call. Log messages contain `label` in place of the name. Random orders depend on the name, and the name depends
        only on `seed` and the keys except `sizes`. Opening a dataset again replaces the previous dataset of that name; loops over the previous dataset
        continue."""
        named = {key: text for key, text in keys.items() if key != "sizes"}
        name = "d" + hashlib.sha256(json.dumps([named, seed], sort_keys=True).encode()).hexdigest()[:16]
        if reading not in self._opened.get(name, ()):
            self.ask("data_open", name=name, keys=keys, seed=seed, label=label)
            self._opened.setdefault(name, set()).add(reading)
        return name

    def release(self, name):
        """Frees the memory of a dataset: replaces the dataset in the server by a dataset of one sample."""
        self._opened.pop(name, None)
        self.ask("data_open", name=name, keys={"format": "range", "samples": "1"}, seed=0)

    def has_exited(self):
        return self._process.poll() is not None

    def close(self):
        if self._lock.acquire(timeout=0.1):  # otherwise another thread is waiting for an answer and will see the channel's end
            try:
                self._channel.send(message_line({"op": "data_quit"}), None)
            except OSError:
                pass  # the server has exited
            self._lock.release()
        self._channel.close()
        self._process.wait()


_server = None


def server():
    """Returns the server of this process, and starts a server if no server is running. The server exits when this process exits."""
    global _server
    if _server is None or _server.process != os.getpid() or _server.has_exited():
        _server = _Server()
        atexit.register(_stop, _server)
    return _server


def _stop(of_this_process):
    if of_this_process.process == os.getpid():
        of_this_process.close()
