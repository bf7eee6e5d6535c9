"""Conversation, which sends requests to the runtime and returns the answers. src/program/protocol/README.md describes the messages."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol

from .._support._call_place import call_place
from .._support._notes import warn
from .channel import Channel, message_line, valid_utf8
from .errors import Stop
from .shared_memory import RuntimeMemory, SharedMemory
from .state import State

# Collective requests. Each contains the line of the user's code that makes the call.
_COLLECTIVE = frozenset(("hello", "open_run", "close_run", "restore", "step", "report", "load", "stop_point", "save", "barrier", "all_reduce",
                         "broadcast", "all_gather", "data_fit", "share"))


class BatchLink(Protocol):
    """Interface of the connection to a reader of batches, which trainrt.data implements."""

    def taken(self) -> dict[str, Any]:
        """Returns fields for the next request: how many batches the program has processed, for the next checkpoint."""


class Conversation:
    """Base class of Context, which sends requests and returns answers. Only the thread and the process that created the object may use it.

    If the runtime answers a request with "save", the client copies the State into shared memory and waits for the next answer.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._busy: str | None = None  # the request that waits for its answer
        self._make_error: Callable[[], BaseException] | None = None  # makes the exception of every later call, once the run has ended
        self._broken: str | None = None  # why an answer may be missing, so that no further request is possible
        self._reported_failure: BaseException | None = None  # the exception that the runtime knows
        self._state: State | None = None
        self._memory: SharedMemory | None = None  # of the State
        self._identity: dict[str, Any] = {}  # the runtime's answer to "hello" or "open_run"
        self._batches: BatchLink | None = None
        self._lock = threading.Lock()  # held while an answer is awaited
        self._finished_part: str | None = None  # "the train function", after it has returned on this rank
        self._place: dict[str, Any] = {}  # the line of the user's code that makes the current collective call, for messages

    @property
    def _has_ended(self) -> bool:
        """Returns whether the run has ended for this program. Each further request then raises an exception."""
        return self._make_error is not None

    def _ask(self, op: str, with_memory: SharedMemory | RuntimeMemory | None = None, **fields: Any) -> Any:
        """Sends the request `op`, with the descriptor of `with_memory` if given, and returns the answer. Raises Stop if the run stops, ValueError for
        a mistake of the program, RuntimeError for other failures."""
        if self._make_error is not None:
            raise self._make_error()
        if self._broken:
            raise RuntimeError(self._broken)
        if self._busy:
            raise RuntimeError(f"{op}() was called while {self._busy}() was running. Call the context from one thread only, and not in a function that you "
                               f"have passed to before_save()")
        if op in _COLLECTIVE:
            self._place = {"left": self._finished_part} if self._finished_part else call_place(op)
        line = message_line({"op": op, **fields, **(self._place if op in _COLLECTIVE else {}), **self._taken()})
        try:
            with self._lock:
                self._busy = op
                answer = self._exchange(op, line, with_memory)
        except BaseException as error:  # from before_save(), or a signal handler: the answer may still arrive
            self._broken = f"{op}() was interrupted by {type(error).__name__}, and the run cannot continue"
            raise
        finally:
            self._busy = None
        if "ok" in answer:
            return answer["ok"]
        self._make_error = _error_maker(answer)
        raise self._make_error()

    def _taken(self) -> dict[str, Any]:
        return self._batches.taken() if self._batches is not None else {}

    def _exchange(self, op: str, line: bytes, memory: SharedMemory | RuntimeMemory | None) -> dict[str, Any]:
        try:
            self._channel.send(line, memory.fd if memory else None)
            if isinstance(memory, SharedMemory):
                memory.close_descriptor()
            answer = self._channel.receive(with_file=op == "share")
            while "save" in answer:
                try:
                    self._send_state()
                except BaseException as error:  # the runtime waits for the State, so it must be notified
                    self._report_failure(type(error), error, error.__traceback__)
                    raise
                answer = self._channel.receive()
            return answer
        except (EOFError, ConnectionError):
            return {"error": f"{op}(): the trainrt process of this rank has exited"}

    def _send_state(self) -> None:
        """Sends the values of the State. The State is then ready to be saved."""
        values = {} if self._state is None else self._state_for_save()
        self._channel.send(message_line({"op": "state", "values": values, **self._place}))

    def _state_for_save(self) -> dict[str, Any]:
        """Calls the functions of before_save(), copies the tensors into shared memory, and returns the values."""
        assert self._state is not None
        for function in self._state._before_save:
            function()
        if self._memory:
            self._state._write_tensors(self._memory.bytes)
        return self._state._encoded_values()

    def _peek_checkpoint(self) -> dict[str, Any] | None:
        """Returns the answer to the request 'checkpoint', from any thread, or `None` while the train thread waits for an answer. Raises the
        exception that has ended the run, and RuntimeError if the request fails."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            if self._make_error is not None:
                raise self._make_error()
            answer = self._exchange("checkpoint", message_line({"op": "checkpoint"}), None)
        finally:
            self._lock.release()
        if "ok" not in answer:
            raise RuntimeError(answer.get("error", "the run stops"))
        return answer["ok"]

    def _report_failure(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> bool:
        """Sends an exception that ends the program to the runtime, which logs and stores the exception. Returns False if the runtime already has
        another reason for the end of the run, or has exited."""
        if self._reported_failure is error:
            return True
        if self._make_error is not None:
            return False
        self._make_error, self._reported_failure = lambda: RuntimeError("the program has failed"), error
        summary = "".join(traceback.format_exception_only(kind, error)).strip()
        text = "".join(traceback.format_exception(kind, error, trace)).strip()
        try:
            self._channel.send(message_line({"op": "failed", "error": valid_utf8(summary), "traceback": valid_utf8(text)}))
        except OSError:
            return False
        return True

    def _send_done(self) -> None:
        """Notifies the runtime that the program has ended without an error. The exit code is not sufficient: a shell script may hide it."""
        final = self._final_values()
        if self._make_error is None:
            self._make_error = lambda: RuntimeError("the program has ended")
            part = {"left": self._finished_part} if self._finished_part else {}
            part.update(final)
            try:
                self._channel.send(message_line({"op": "done", **part, **self._taken()}))
            except OSError:
                pass

    def _final_values(self) -> dict[str, Any]:
        """Copies an unsaved State into shared memory, and returns {"values": its values} for the message 'done'. The runtime saves this State when the
        programs of all ranks have exited with 0. Returns {} if there is nothing to save, or if the State cannot be read."""
        if self._state is None or self._make_error is not None or self._broken:
            return {}
        try:
            while (answer := self._ask("unsaved"))["on_its_way"]:  # a save in the background reads the shared memory
                time.sleep(0.01)
            return {"values": self._state_for_save()} if answer["unsaved"] else {}
        except Exception as error:
            if self._make_error is None:
                warn(f"the State could not be saved at the end of the program: {type(error).__name__}: {error}. Call trainrt.context().save() before")
            return {}

    def _close_in_fork(self) -> None:
        """Closes the connection in a forked process, since only the parent process may use the connection."""
        self._channel.close()
        self._make_error = lambda: RuntimeError("only the process that trainrt started may use the context, not one forked from it")


def _error_maker(answer: dict[str, Any]) -> Callable[[], BaseException]:
    """Returns a function that creates the exception for an answer that ends the run."""
    if "stop" in answer:
        return lambda: Stop(answer["stop"])
    kind = ValueError if answer.get("usage") else RuntimeError
    return lambda: kind(answer["error"])
