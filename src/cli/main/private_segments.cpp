// Restricts the System V shared memory of this program to its user.
//
// UCX, which MPICH uses, creates segments with permissions for the group (UCT_MM_SYSV_PERM). All members of the user's
// group could therefore read and write MPI's buffers. This shmget(), which the dynamic linker finds before the one of
// libc, removes these permissions. A segment with a key is meant to be shared, and keeps its permissions.

#include <cstddef>

#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) int shmget(key_t key, std::size_t size, int flags) {
  constexpr int permissions_of_others = S_IRWXG | S_IRWXO;
  if (key == IPC_PRIVATE) flags &= ~permissions_of_others;
  return static_cast<int>(syscall(SYS_shmget, key, size, flags));
}
