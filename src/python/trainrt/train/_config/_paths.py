"""Environment variables in paths, by the rules of trainrt's config: ${NAME} is replaced, and $$ is one $."""

import os
import re

_VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{|\$([A-Za-z_][A-Za-z0-9_]*)")
_PATH_KEYS = {"run.storage_path", "run.resume_from_checkpoint", "checkpoint.mirror", "program.stage", "program.stage_dir", "train.library",
              "xgboost.library", "lightgbm.library"}


class ExpandedPath(str):
    """A path after its variables were replaced; `expanded()` returns it unchanged."""


def expanded(path, argument):
    """Returns `path` with its variables replaced. Raises ValueError, which names `argument`, for $NAME and for a variable that is not set or empty."""
    if isinstance(path, ExpandedPath):
        return path
    text = os.fspath(path)

    def value(found):
        if found.group(0) == "$$":
            return "$"
        variable, bare = found.group(1), found.group(2)
        if bare:
            correct = f"{text[:found.start()]}${{{bare}}}{text[found.end():]}"
            raise ValueError(f"{argument}={text!r}: a variable needs braces; write {correct!r}")
        if not variable:
            raise ValueError(f"{argument}={text!r}: ${{ must be followed by the name of an environment variable and }}, as in ${{SCRATCH}}/runs")
        if not os.environ.get(variable):
            raise ValueError(f"{argument}={text!r}: the environment variable {variable} is {'empty' if variable in os.environ else 'not set'}. Set it, "
                             f"or replace it with its value")
        return os.environ[variable]

    return ExpandedPath(_VARIABLE.sub(value, text))


def escaped(key, text):
    """Returns the value to write for `key` in a config file or on the command line, so that trainrt reads `text`."""
    is_data_path = key.startswith("data.") and (key.rsplit(".", 1)[1] in ("source", "labels") or text.startswith("@"))
    return text.replace("$", "$$") if key in _PATH_KEYS or is_data_path else text
