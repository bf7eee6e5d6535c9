"""Reads and writes small JSON files that contain one object."""

import json
import os

from ..._support import _new_file


def read(path):
    """Returns the object; {} if the file does not exist or holds another value. Raises ValueError if the file is not valid JSON."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{path} is not valid JSON: {error}") from None
    return content if isinstance(content, dict) else {}


def write(path, content):
    """Replaces the file by an atomic rename."""
    text = json.dumps(content, indent=2)
    _new_file.replace(os.path.dirname(path), os.path.basename(path), lambda file: file.write(text.encode()))
