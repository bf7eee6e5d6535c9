"""Host and process ID of this process, as reports of Ray Train name them."""

from __future__ import annotations

import os
import platform
import socket
from typing import Any


def facts() -> dict[str, Any]:
    """Returns {'hostname': ..., 'node_ip': ..., 'pid': ...}."""
    return {"hostname": platform.node(), "node_ip": _address(), "pid": os.getpid()}


def _address() -> str:
    """Returns the IPv4 address of the interface that packets to other networks would use; 127.0.0.1 without such an interface. Sends nothing."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("10.255.255.255", 1))
            return probe.getsockname()[0]
    except OSError:
        return "127.0.0.1"
