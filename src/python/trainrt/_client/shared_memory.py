"""Memory that a program shares with its runtime, created by the program or by the runtime."""

import fcntl
import mmap
import os


class SharedMemory:
    """Anonymous memory that this process creates and shares with the runtime by sending the descriptor. The kernel refuses to shrink the memory
    (F_SEAL_SHRINK), so that neither process can cause a fault in the other one."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.fd = os.memfd_create("trainrt", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, nbytes)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        self.bytes = memoryview(mmap.mmap(self.fd, nbytes))

    def close_descriptor(self) -> None:
        """Closes the descriptor after the runtime has received it. The memory remains mapped in this process."""
        os.close(self.fd)
        self.fd = -1


class RuntimeMemory:
    """Memory that the runtime creates and shares with this process: bytes `at` to `at + nbytes` of the descriptor `file`. Closes `file`."""

    fd = -1

    def __init__(self, file: int, at: int, nbytes: int) -> None:
        self.nbytes = nbytes
        self.bytes = memoryview(mmap.mmap(file, nbytes, offset=at))
        os.close(file)


def size_with_reserve(nbytes: int, min_nbytes: int = 4096) -> int:
    """Returns the next power of two from `nbytes`, at least `min_nbytes`. Requests of growing size then seldom need new memory."""
    return max(1 << max(nbytes - 1, 0).bit_length(), min_nbytes)
