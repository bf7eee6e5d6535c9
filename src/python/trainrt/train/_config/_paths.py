"""Environment variables in paths, as trainrt's config has them: ${NAME}, and $$ for one $."""

import os
import re

_FORM = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{|\$([A-Za-z_][A-Za-z0-9_]*)")
_PATH_KEYS = {"run.storage_path", "run.resume_from_checkpoint", "checkpoint.mirror", "program.stage", "program.stage_dir", "train.library",
              "xgboost.library", "lightgbm.library"}


class Written(str):
    """A path in which nothing is left to expand."""


def expanded(path, name):
    """`path` with its variables replaced. ValueError that shows `name`, for a variable that is unset or empty, and for $NAME."""
    if isinstance(path, Written):
        return path
    text = os.fspath(path)

    def value(found):
        if found.group(0) == "$$":
            return "$"
        variable, bare = found.group(1), found.group(2)
        if bare:
            right = f"{text[:found.start()]}${{{bare}}}{text[found.end():]}"
            raise ValueError(f"{name}={text!r}: a variable is written with braces. Write {right!r}")
        if not variable:
            raise ValueError(f"{name}={text!r}: ${{ must be followed by the name of an environment variable and }}: ${{SCRATCH}}/runs")
        if not os.environ.get(variable):
            raise ValueError(f"{name}={text!r}: the environment variable {variable} is {'empty' if variable in os.environ else 'not set'}. Set it, "
                             f"or write the path out")
        return os.environ[variable]

    return Written(_FORM.sub(value, text))


def for_config(key, text):
    """The text of which trainrt makes `text` again, where it reads `key` in a config or on its command line."""
    is_of_data = key.startswith("data.") and (key.rsplit(".", 1)[1] in ("source", "labels") or text.startswith("@"))
    return text.replace("$", "$$") if key in _PATH_KEYS or is_of_data else text
