#pragma once
#include <sys/types.h>

#include <string_view>

namespace trainrt {

/// Opens `relative` below the open directory `base` as openat(2) does, with `flags` and O_CLOEXEC, and follows no symbolic
/// link, neither on the way nor at the end. Each component is looked up in a directory that is open already, so exchanging
/// a directory for a link at any moment leads nowhere else. Returns a descriptor that the caller owns, or -1 with errno:
/// ELOOP if a component is a symbolic link, EXDEV if one is "..". A leading slash counts for nothing. Uses openat2(2) if
/// the kernel has it, and opens the components one by one if not. Any thread may call it.
int open_beneath(int base, std::string_view relative, int flags, mode_t mode);

/// close(2) that leaves errno as it was.
void close_keeping_errno(int file);

/// While it lives, open_beneath() does not use openat2(2), as on a kernel that lacks it. For tests.
class WithoutOpenat2 {
 public:
  WithoutOpenat2();
  ~WithoutOpenat2();
  WithoutOpenat2(const WithoutOpenat2&) = delete;
  WithoutOpenat2& operator=(const WithoutOpenat2&) = delete;
};

}  // namespace trainrt
