"""`trainrt data serve`: reads datasets for a process that no rank serves, as one rank would."""

import atexit
import hashlib
import json
import os
import socket
import subprocess
import threading

from .. import _client
from ..train import _executable
from ..train._side_process import without_ranks
from ._shared_batches import Link


class _Server:
    def __init__(self):
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen([_executable.trainrt(), "data", "serve"], stdin=theirs, stdout=subprocess.DEVNULL,
                                             env=without_ranks(), start_new_session=True)
        self._channel = _client._Channel(ours.detach())
        self._talk = threading.Lock()
        self._speaker = None  # the thread that holds it
        self._opened = {}  # name -> the readings that have seen it as it is open now, or as it was before
        self.process = os.getpid()
        self.link = Link(self.ask)

    def ask(self, op, with_memory=None, **fields):
        if self._speaker == threading.get_ident():
            raise RuntimeError(f"{op} was asked while another answer is awaited")
        with self._talk:
            self._speaker = threading.get_ident()
            try:
                self._channel.send(_client._line_of({"op": op, **fields}), with_memory.fd if with_memory else None)
                if with_memory:
                    with_memory.handed_over()
                answer = self._channel.receive()
            except (EOFError, OSError) as error:
                raise RuntimeError(f"`trainrt data serve` (process {self._process.pid}) is gone, exit {self._process.poll()}; the next call "
                                   "starts another one") from error
            finally:
                self._speaker = None
        if "ok" in answer:
            return answer["ok"]
        raise (ValueError if answer.get("usage") else RuntimeError)(answer["error"])

    def open(self, keys, seed, reading=()):
        """The name of the dataset that these keys of [data.NAME] describe. reading: by which calls of read_...() its files are read. One that is
        new has the files looked at again. The name stays, since random orders hang on it, and the dataset takes the place of the one
        before, which goes with its last walk."""
        name = "d" + hashlib.sha256(json.dumps([keys, seed], sort_keys=True).encode()).hexdigest()[:16]
        if reading not in self._opened.get(name, ()):
            self.ask("data_open", name=name, keys=keys, seed=seed)
            self._opened.setdefault(name, set()).add(reading)
        return name

    def release(self, name):
        """Gives back the memory of a dataset that nobody needs any more: a tiny one takes its place."""
        self._opened.pop(name, None)
        self.ask("data_open", name=name, keys={"format": "range", "samples": "1"}, seed=0)

    def is_gone(self):
        return self._process.poll() is not None

    def close(self):
        if self._talk.acquire(timeout=0.1):  # else another thread awaits an answer: it sees the end of the channel, later
            try:
                self._channel.send(_client._line_of({"op": "data_quit"}), None)
            except OSError:
                pass  # it is gone
            self._talk.release()
        self._channel.close()
        self._process.wait()


_server = None


def server():
    """The one of this process; it ends with it. One that was killed, for want of memory say, is followed by another."""
    global _server
    if _server is None or _server.process != os.getpid() or _server.is_gone():
        _server = _Server()
        atexit.register(_stop, _server)
    return _server


def _stop(of_this_process):
    if of_this_process.process == os.getpid():
        of_this_process.close()
