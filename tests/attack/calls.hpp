#pragma once
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a traced thread asks of a file system.
namespace attack {

/// A system call on a path below the watched directory. Calls that do the same have the same kind, whichever of them the
/// C library chose: "open" (for reading), "create" (open with O_CREAT or O_TRUNC), "read", "write", "list", "sync", "close"
/// (of a file that was open for writing), "rename", "link", "mkdir", "unlink", "rmdir", "reserve", "truncate", "stat",
/// "touch".
struct Call {
  std::string kind;
  std::string
      path;  ///< relative to the watched directory; "FROM>TO" for rename and link; host and pid of temporary names cut off
};

/// The numbers of all system calls that call_of() knows.
std::vector<long> watched_calls();

/// The call that thread `tid`, which is stopped at its entry, is about to make; nullopt if it does not concern `directory`.
std::optional<Call> call_of(pid_t tid, std::uint64_t number, const std::array<std::uint64_t, 6>& arguments,
                            const std::string& directory);

}  // namespace attack
