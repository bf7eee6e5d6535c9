"""The client, which connects a Python program to the runtime of its rank: Context, State and context()."""

from .context import Context
from .errors import Stop
from .handshake import announce, use_store_keys
from .metrics import Number, ratio
from .process import context, has_context, is_connected, launch_run_dir, open_run
from .state import State

__all__ = ["Context", "Number", "State", "Stop", "context", "has_context", "is_connected", "launch_run_dir", "open_run", "ratio", "use_store_keys"]

announce()
