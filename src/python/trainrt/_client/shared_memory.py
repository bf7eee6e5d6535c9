"""Memory that the program shares with its runtime."""

import fcntl
import mmap
import os


class SharedMemory:
    """Anonymous memory of this process, whose descriptor is sent to the runtime. Its size is sealed, so that neither side can cause a fault
    in the other by shrinking it."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.fd = os.memfd_create("trainrt", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, nbytes)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        self.bytes = memoryview(mmap.mmap(self.fd, nbytes))

    def close_descriptor(self) -> None:
        """Closes the descriptor after the runtime has received it. The mapping stays."""
        os.close(self.fd)
        self.fd = -1


class RuntimeMemory:
    """Memory as SharedMemory, but made by the runtime: bytes `at` to `at + nbytes` of the descriptor `file`, which is closed."""

    fd = -1

    def __init__(self, file: int, at: int, nbytes: int) -> None:
        self.nbytes = nbytes
        self.bytes = memoryview(mmap.mmap(file, nbytes, offset=at))
        os.close(file)


def size_with_reserve(nbytes: int, min_nbytes: int = 4096) -> int:
    """Returns the next power of two, at least `min_nbytes`, so that growing requests seldom need new memory."""
    return max(1 << max(nbytes - 1, 0).bit_length(), min_nbytes)
