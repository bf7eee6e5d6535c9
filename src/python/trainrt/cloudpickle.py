"""Module of Ray that scripts import cloudpickle from: `import trainrt.cloudpickle as pickle`. It needs the package cloudpickle.

Loading a pickle can run any code, so load only files that you trust. trainrt itself loads no pickle from a file.
"""

from __future__ import annotations

try:
    from cloudpickle import *  # noqa: F403
    from cloudpickle import dump, dumps, load, loads
except ImportError:
    raise ImportError("trainrt.cloudpickle needs cloudpickle (pip install cloudpickle, or Debian's python3-cloudpickle)") from None

__all__ = ["dump", "dumps", "load", "loads"]
