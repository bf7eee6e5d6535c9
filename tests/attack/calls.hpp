#pragma once
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Recognizes the file system calls of a traced thread.
namespace attack {

/// A system call on a path below the watched directory. All system calls for the same operation have the same kind: "open"
/// (for reading), "create" (open with O_CREAT or O_TRUNC), "read", "write", "list", "sync", "close" (of a file that was
/// open for writing), "rename", "link", "mkdir", "unlink", "rmdir", "reserve", "truncate", "stat", "touch".
struct Call {
  std::string kind;
  std::string
      path;  ///< relative to the watched directory; "FROM>TO" for rename and link; without host and pid of temporary names
};

/// Returns the numbers of all system calls that call_of() recognizes.
std::vector<long> watched_calls();

/// Returns the call that thread `tid` is about to make; nullopt if it does not concern `directory`. The thread must be
/// stopped at the entry of the call.
std::optional<Call> call_of(pid_t tid, std::uint64_t number, const std::array<std::uint64_t, 6>& arguments,
                            const std::string& directory);

}  // namespace attack
