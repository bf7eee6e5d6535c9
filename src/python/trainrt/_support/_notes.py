"""Lines that tell a user, once, why something that Ray Train has makes no difference here."""

import os
import sys

_said = set()


def say(line):
    """On rank 0, or in a script that starts the ranks; the same line once a process."""
    if line in _said or os.environ.get("RANK", "0") != "0":
        return
    _said.add(line)
    print(f"trainrt: {line}", file=sys.stderr, flush=True)
