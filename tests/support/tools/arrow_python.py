"""Restarts a test that writes Parquet and Arrow files in the Python that tests/support/tools/install_arrow.sh has made, which has pyarrow."""
import os
import sys
from pathlib import Path

_FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve() / "arrow-python"
if (_FOLDER / "bin/python").exists() and Path(sys.prefix) != _FOLDER:
    os.execv(_FOLDER / "bin/python", [str(_FOLDER / "bin/python"), *sys.argv])
