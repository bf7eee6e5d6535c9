"""SinkCallback: base class of the callbacks for trackers, which start a program of trainrt.sinks for the run."""

import importlib.util
import json
import os
import re
import shlex
import sys

from . import _current
from ._callbacks import UserCallback

_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
_SECRET_NAME = re.compile(r"(^|_)(api_?key|token|secret|password)$", re.IGNORECASE)
_KEYS_IN_URL = re.compile(r"://[^/\s]*@")
_SPECIAL = re.compile("[#;$'`]")  # characters that have a meaning in a config or a shell


class SinkCallback(UserCallback):
    """Sends the reports of the run to a tracker by a program of `trainrt.sinks`. It is a setting of the run: the train function does not call it.

    Subclasses set these attributes, and define program_options().

    Attributes
    ----------
    sink : str
        Name of the sink, and of its module in `trainrt.sinks`.
    package : str
        Package of the tracker. The constructor raises RuntimeError if it is not installed.
    key_variable : str
        Environment variable of the program for the key of the tracker.
    """

    sink = ""
    package = ""
    key_variable = ""

    def __init__(self, key=None, wait_s=120):
        if importlib.util.find_spec(self.package) is None:
            name = self.package.replace("_", "-")
            raise RuntimeError(f"{type(self).__name__}: the package {self.package} was not found for {sys.executable}; install it by "
                               f"`pip install {name}`")
        if isinstance(wait_s, bool) or not isinstance(wait_s, (int, float)) or wait_s <= 0:
            raise ValueError(f"{type(self).__name__}: the time to wait at the end is {wait_s!r}; it must be a number of seconds above 0")
        self._key, self._wait_s = key, wait_s

    def program_options(self):
        """Returns the options of the program, which JSON must be able to hold."""
        raise NotImplementedError

    def settings(self):
        """Returns {key: text} of the config: the command of the program, and how long the end of the run waits for it. Sets the environment variable of
        the key, which the program inherits."""
        self._set_key()
        given = self.program_options()
        self._require_no_secrets(given)
        try:
            options = json.dumps(given)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}; arguments for the tracker must be numbers, strings, lists or dicts") from None
        options = _SPECIAL.sub(lambda found: f"\\u{ord(found[0]):04x}", options)
        command = (f"PYTHONPATH={shlex.quote(_PACKAGES)}${{PYTHONPATH:+:$PYTHONPATH}} exec {shlex.quote(sys.executable)} -m trainrt.sinks.{self.sink} "
                   f"'{options}'")
        return {f"sink.{self.sink}.program": command, f"sink.{self.sink}.wait": f"{self._wait_s:g}"}

    def _require_no_secrets(self, value, name=""):
        """Raises ValueError, without the value, if an option is a key of the tracker: options are recorded and visible as arguments of a process."""
        if isinstance(value, dict):
            for each, inner in value.items():
                self._require_no_secrets(inner, str(each))
        elif isinstance(value, str) and (_SECRET_NAME.search(name) or _KEYS_IN_URL.search(value)):
            raise ValueError(f"{type(self).__name__}({name}=...) contains a key of the tracker, which would be recorded. Set the environment variable "
                             f"{self.key_variable}, or others of the tracker, instead")

    def _set_key(self):
        """Raises ValueError if the program would not inherit the variable."""
        if self._key is None or os.environ.get(self.key_variable) == self._key:
            return
        if _current.is_rank_program():
            raise ValueError(f"{type(self).__name__}: the key that was given as an argument cannot be passed to the tracker's program, because trainrt "
                             f"started this script. Set the environment variable {self.key_variable} before you start trainrt")
        os.environ[self.key_variable] = self._key
