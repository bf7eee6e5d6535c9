"""Returns the TCP ports and Unix sockets that a process listens on, from /proc."""
import os
import re

from harness import parent_of

_LISTENING = "0A"


def _address(text):
    """Returns "0100007F:A9B3" of /proc/net/tcp as "127.0.0.1:43443", and addresses of tcp6 as "[hex]:port", which tests only print."""
    host, port = text.split(":")
    if len(host) == 8:
        return ".".join(str(byte) for byte in bytes.fromhex(host)[::-1]) + f":{int(port, 16)}"
    return f"[{host}]:{int(port, 16)}"


def _listening_sockets(pid):
    """Returns addresses by inode, in the network namespace of the process."""
    found = {}
    for table in (f"/proc/{pid}/net/tcp", f"/proc/{pid}/net/tcp6"):
        try:
            lines = open(table).read().splitlines()[1:]
        except OSError:
            continue  # a kernel without IPv6
        for words in map(str.split, lines):
            if words[3] == _LISTENING:
                found[words[9]] = _address(words[1])
    return found


def _sockets_of(pid):
    """Returns the inodes of the sockets of a process."""
    found = set()
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(entry.path))
            if match:
                found.add(match[1])
    except OSError:
        pass  # the process has exited
    return found


def listens_on(pid):
    """Returns the addresses on which a process listens, except those that it inherited: mpiexec and slurmstepd leave theirs open in the
ranks that they start."""
    listening = _listening_sockets(pid)
    return sorted(listening[inode] for inode in _sockets_of(pid) - _sockets_of(parent_of(pid)) if inode in listening)


def named_sockets_of(pid):
    """Returns the names of a process's Unix sockets to which another process could connect. UCX has two more, for empty datagrams that
wake it up."""
    accepts = 0x10000  # __SO_ACCEPTCON of Linux
    named = {}
    for words in map(str.split, open(f"/proc/{pid}/net/unix").read().splitlines()[1:]):
        if len(words) > 7 and int(words[3], 16) & accepts:
            named[words[6]] = words[7]
    return sorted(named[inode] for inode in _sockets_of(pid) - _sockets_of(parent_of(pid)) if inode in named)
