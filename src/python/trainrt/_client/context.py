"""Context, through which a program reports metrics, saves checkpoints and communicates with other ranks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from .channel import Channel, valid_utf8
from .collectives import Collectives
from .handshake import introduction
from .metrics import metadata_of, metrics_for_message
from .shared_memory import SharedMemory
from .state import State
from .values import VALUE_TYPES, kind_of

_REQUIRED = object()
_MAX_COMPARED_STEPS = 3
_TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_TYPE_WORDS: dict[type, str] = {bool: "true or false", int: "an integer", float: "a number", str: "a string"}


class Context(Collectives):
    """The run of this program. context() returns it. Only the thread and the process that created the Context may use it.

    Methods raise ValueError for mistakes of the program, RuntimeError for other failures, and Stop if the run stops. After such an exception the
    run ends on all ranks, and every later call raises the exception again. All ranks must call collective methods in the same order.

    Examples
    --------
    >>> import trainrt
    >>> ctx = trainrt.context()
    >>> state = trainrt.State()
    >>> state["epoch"] = 0
    >>> ctx.restore(state)                   # False: the run has no checkpoint yet
    False
    >>> while state["epoch"] < 3:
    ...     state["epoch"] += 1
    ...     ctx.step()
    ...     ctx.report({"loss": 1 / state["epoch"]})
    >>> ctx.step_count, ctx.world_size
    (3, 1)
    """

    _open_shard: Callable[..., Any]  # set by the package trainrt, since trainrt.data depends on this module

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)
        self._one_off_memory: SharedMemory | None = None  # memory for a State that was passed to report() or load()
        self._is_open = False  # whether open_run() has opened a run
        self._compared_steps = 0  # number of steps for which the State's values were sent, so that the runtime compares the ranks

    def _greet(self) -> None:
        self._take_identity(self._ask("hello", **introduction()))

    def _take_identity(self, answer: dict[str, Any]) -> None:
        self._identity = answer
        self._take_step(answer)
        os.environ["TRAINRT_RUN_NAME"], os.environ["TRAINRT_RUN_DIR"] = answer["run_name"], answer["run_dir"]

    def _take_step(self, answer: dict[str, Any]) -> None:
        self._step, self._step_seed = answer["step"], answer["step_seed"]

    def config(self, key: str, default: Any = _REQUIRED) -> Any:
        """Returns the value of a key of [loop].

        Parameters
        ----------
        key : str
            Name of the key.
        default : bool, int, float, str, or one of these types
            Value to return if the key is missing; the value is converted to the default's type. If `default` is a type (``config("epochs", int)``) or
            is left out, the key is required. Without a default, the value is a str: ``config("lr")`` is "0.5", ``config("lr", float)`` is 0.5.

        Raises
        ------
        KeyError
            A required key is missing.
        ValueError
            The value cannot be converted to the type.
        """
        kind = str if default is _REQUIRED else default if isinstance(default, type) else type(default)
        if kind not in VALUE_TYPES:
            raise TypeError(f"the default of '{key}' must be a bool, int, float or str, not {default!r}")
        text = self._ask("config", key=key)["value"]
        if text is None:
            if default is _REQUIRED or default is kind:
                raise KeyError(f"the config lacks the key '{key}' in [loop], which the program needs; set it in [loop], or by --loop.{key}=VALUE")
            return default
        try:
            return _TRUTH[text] if kind is bool else kind(text)
        except (KeyError, ValueError):
            raise ValueError(f"[loop] {key} is '{text}'; the program expects {_TYPE_WORDS[kind]}") from None

    # ---- checkpoints and reports ----

    def restore(self, state: State | None = None) -> bool:
        """Makes checkpoints contain `state`, and loads the last checkpoint into `state`. Collective; call it once, before the first step() and
        report().

        In a new run, replicated tensors are set to the values of rank 0. A program without a State saves files by report(directory=...), and finds
        the files of the last checkpoint by checkpoint().

        Returns
        -------
        bool
            True if a checkpoint was loaded.
        """
        if state is None:
            answer = self._ask("restore", by_directory=True)
            self._take_step(answer)
            return answer["restored"]
        if not isinstance(state, State):
            raise TypeError(f"restore() takes a trainrt.State, not {kind_of(state)}")
        nbytes = state._assign_offsets()
        memory = SharedMemory(nbytes) if nbytes else None
        if memory:
            state._write_tensors(memory.bytes)
        answer = self._ask("restore", memory=nbytes, steady=True, values=state._encoded_values(), with_memory=memory, **state._descriptions())
        self._state, self._memory = state, memory
        state._attached = True
        if memory:  # in a new run, the memory contains the values of rank 0
            state._read_tensors(memory.bytes)
        if answer["restored"]:
            state._take_values(answer["values"])
            self._note_other_sums()
        self._take_step(answer)
        return answer["restored"]

    def step(self) -> None:
        """Marks the end of a step. The State must be consistent: the run may save a checkpoint and stop here. Collective."""
        self._take_step(self._ask("step", **self._first_values()))

    def _first_values(self) -> dict[str, Any]:
        """Returns fields with the values of the State for the first steps, in which the runtime compares the values between the ranks. Returns {} if there
        are functions of before_save(), since they could still change the values."""
        if self._state is None or self._state._before_save or self._compared_steps == _MAX_COMPARED_STEPS:
            return {}
        self._compared_steps += 1
        return {"values": self._state._encoded_values()}

    def report(self, metrics: Mapping[str, Any], *, of_first_rank: bool = False, directory: str | os.PathLike[str] | None = None,
               metadata: dict | None = None, directory_name: str | None = None, state: State | None = None, validation: dict | None = None,
               same_files: str = "error") -> None:
        """Reports the metrics of an iteration, and saves a checkpoint if one is due. The State must be consistent. Collective.

        Parameters
        ----------
        metrics : dict
            {name: value}, with the same names on all ranks. Numbers, NumPy scalars and torch tensors of one element are averaged over the
            ranks, unless a Number or ratio() defines another reduction. Strings are those of rank 0. A mean is a float; a sum, minimum or
            maximum of ints is an int.
        of_first_rank : bool
            True, on all ranks, uses the metrics of rank 0 unchanged.
        directory : path, optional
            Saves a checkpoint of all files in this directory. One or several ranks may pass a directory; `same_files` applies to files of the same name. The
            files have been copied when the call returns, and are committed later, see checkpoint(). An unreadable file is an error on all ranks.
        metadata : dict, optional
            Metadata for the checkpoint's manifest, in addition to checkpoint_metadata(). If several ranks pass metadata, the lowest rank's is used.
        directory_name : str, optional
            Name of the checkpoint, stored in the metadata as "checkpoint_dir_name".
        state : State, optional
            State to save in this checkpoint only, which load() can load. All ranks must pass it, and restore() must have been called without a State.
        validation : dict, optional
            Request to evaluate the checkpoint after its commit; src/checkpoint/README.md describes the format.
        same_files : str
            What happens if ranks pass different files of the same name. "error" ends the run. "rank0" stores the file of the lowest rank in files/, and
            the other files in files/.other_ranks/RANK/. The key checkpoint.same_files takes precedence.
        """
        counts = not of_first_rank or self.world_rank == 0
        given: dict[str, Any] = {} if directory is None else {"directory": os.path.abspath(os.fspath(directory))}
        if metadata is not None or directory_name is not None:
            given["directory_metadata"] = metadata_of("the metadata of report()", metadata, directory_name)
        if validation is not None:
            given["validation"] = validation
        if same_files != "error":
            given["same_files"] = same_files
        memory, is_new = (None, False) if state is None else self._memory_of(state)
        if state is not None and memory is not None:
            state._write_tensors(memory.bytes)
            given.update(state._descriptions(), values=state._encoded_values(), **({"memory": memory.nbytes} if is_new else {}))
        self._ask("report", with_memory=memory if is_new else None, metrics=metrics_for_message(metrics) if counts else {},
                  of_first_rank=bool(of_first_rank), **given)
        self._one_off_memory = memory or self._one_off_memory

    def checkpoint(self) -> dict[str, Any] | None:
        """Returns the newest committed checkpoint, or `None` if the run has no checkpoint. Not collective.

        The result is {"index": 12, "path": directory of the checkpoint, "files": True if report() was given a directory}. Files are in path/files.
        Waits for a checkpoint that is being saved."""
        pause_s = 0.002
        while True:
            answer = self._ask("checkpoint")
            if not answer["on_its_way"]:
                return answer["checkpoint"]
            time.sleep(pause_s)
            pause_s = min(1.25 * pause_s, 0.05)

    def load(self, state: State, checkpoint: str | os.PathLike[str]) -> None:
        """Loads the tensors and values of `state` from the directory of a checkpoint or of a run. Collective; may be called at any time.

        The checkpoint must contain all tensors and values of `state`, and may contain more. Every byte is verified. The run's own State does not
        change. Ranks may pass different States and checkpoints.
        """
        memory, is_new = self._memory_of(state)
        announced = {"memory": memory.nbytes} if is_new else {}
        answer = self._ask("load", with_memory=memory if is_new else None, path=os.path.abspath(os.fspath(checkpoint)),
                           values=state._encoded_values(), **state._descriptions(), **announced)
        self._one_off_memory = memory
        state._read_tensors(memory.bytes)
        state._take_values(answer["values"])

    def _memory_of(self, state: State) -> tuple[SharedMemory, bool]:
        """Returns shared memory for the tensors of a State of report() or load(), and whether the memory must be sent to the runtime."""
        nbytes = state._assign_offsets()
        if self._one_off_memory is not None and self._one_off_memory.nbytes >= nbytes:
            return self._one_off_memory, False
        return SharedMemory(max(nbytes, 4096)), True

    def stop_point(self) -> None:
        """Marks a point at which the run may stop, in long work between two steps, such as an evaluation. Call it every few seconds. The State must
        not have changed since the last step() or report(). Collective."""
        self._ask("stop_point")

    def save(self) -> None:
        """Saves a checkpoint if the State has changed since the last checkpoint, and waits for the commit. Collective."""
        self._ask("save")

    def request_stop(self, reason: str) -> None:
        """Ends the run early, with the status finished. All ranks stop at the same step() or stop_point(). Any rank may call it."""
        self._ask("request_stop", reason=str(reason))

    def checkpoint_metadata(self, metadata: dict) -> None:
        """Sets the metadata, a dict for JSON, in the manifests of all later checkpoints. Only rank 0's metadata is used."""
        if not isinstance(metadata, dict):
            raise TypeError(f"checkpoint_metadata() takes a dict, not {kind_of(metadata)}")
        self._ask("metadata", json=metadata)

    # ---- log and progress ----

    def log(self, text: Any) -> None:
        """Writes each line of str(text) to the run's log (standard error), after the number of the rank. Unlike print(), log() does not interrupt a
        progress bar, and escapes control characters. Not collective."""
        self._ask("log", text=valid_utf8(str(text)))

    def expect_iterations(self, total: int) -> None:
        """Sets the expected number of reports of the run, for the progress bar."""
        self._ask("expect_iterations", total=int(total))

    def _train_function_begins(self) -> None:
        """Starts the measurement of the first step's time. Called when fit() has finished its preparations. Not collective."""
        self._ask("begins")

    # ---- datasets ----

    def has_dataset(self, name: str) -> bool:
        """Returns whether the config has a section [data.NAME], or the Trainer has a dataset `name`."""
        return "samples" in self._ask("data_look", name=name)

    def dataset(self, name: str, dataset: Any = None, before: Callable[[], Any] | None = None) -> Any:
        """Returns this rank's shard of [data.NAME], a trainrt.data.DataIterator. Requires NumPy.

        Call dataset() after restore(). The DataIterator then continues at the position in the epoch that the checkpoint has stored. Only Trainers
        pass `dataset` and `before`.
        """
        return self._open_shard(name, dataset, before)

    # ---- runs that the program opens ----

    def open_run(self, settings: dict[str, str], number: int = 1, defaults: dict[str, str] | None = None) -> bool:
        """Opens a run with these config keys, instead of the run that the command line and the config file describe. Collective.

        Parameters
        ----------
        settings : dict
            Config keys, {"run.name": "mine", "checkpoint.num_to_keep": "2"}. They override the config file; the command line overrides them. Only
            rank 0's settings are used.
        number : int
            Number of the run, counted from 1 in this program.
        defaults : dict, optional
            Values of config keys that neither `settings`, the config file nor the command line sets.

        Returns
        -------
        bool
            False if the run has already finished; run_dir then contains the results.
        """
        if self._is_open:
            raise RuntimeError(f"open_run() was called while the run '{self.run_name}' is open: call close_run() before it")
        self._compared_steps = 0
        self._take_identity(self._ask("open_run", settings=settings, number=int(number), defaults=defaults or {}, **introduction()))
        self._is_open = not self._identity.get("finished", False)
        return self._is_open

    def close_run(self) -> None:
        """Finishes the run: saves the State and commits pending checkpoints. The program may then open another run. Collective."""
        self._ask("close_run")
        self._state = self._memory = self._collective_memory = self._one_off_memory = self._batches = self._finished_part = None
        self._is_open = False
