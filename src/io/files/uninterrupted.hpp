#pragma once
#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "core/files/guarded_tree.hpp"

namespace trainrt::io {

/// Makes a system call again for as long as a signal interrupts it. Not for close(2), which has closed all the same.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// open(2) for this process alone; returns -1 and errno as there. New files get the rights that the umask leaves. Below a
/// guarded tree no symbolic link is followed.
inline int open_retrying(const std::string& path, int flags) { return open_guarded(path, flags); }

/// What one read or write is asked for at most: Linux moves no more than 0x7ffff000 bytes a call; this is a whole number of
/// pages.
inline constexpr std::size_t bytes_per_call = std::size_t{1} << 30;

}  // namespace trainrt::io
