#pragma once
#include <cerrno>

namespace trainrt::io {

/// Makes a system call again for as long as a signal interrupts it. Not for close(2), which has closed all the same.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace trainrt::io
