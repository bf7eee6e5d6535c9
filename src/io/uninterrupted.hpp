#pragma once
#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <string>

namespace trainrt::io {

/// Makes a system call again for as long as a signal interrupts it. Not for close(2), which has closed all the same.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// open(2) for this process alone; -1 and errno as there.
inline int open_retrying(const std::string& path, int flags) {
  return uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); });
}

/// What one read or write is asked for at most: Linux moves no more than 0x7ffff000 bytes a call; this is a whole number of
/// pages.
inline constexpr std::size_t bytes_per_call = std::size_t{1} << 30;

}  // namespace trainrt::io
