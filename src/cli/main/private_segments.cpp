// System V shared memory of this program is for its user alone.
//
// UCX, which carries MPICH's messages, makes such segments with rights for the group (UCT_MM_SYSV_PERM, in every version so
// far), so that all members of the user's group could read and write MPI's buffers. The program's own shmget() stands
// before libc's in the dynamic linker's order and leaves out those rights. A segment with a key is made for others on
// purpose and keeps its rights.

#include <cstddef>

#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) int shmget(key_t key, std::size_t size, int flags) {
  constexpr int of_others = S_IRWXG | S_IRWXO;
  if (key == IPC_PRIVATE) flags &= ~of_others;
  return static_cast<int>(syscall(SYS_shmget, key, size, flags));
}
