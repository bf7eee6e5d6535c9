#pragma once
#include <sys/types.h>

#include <string_view>

namespace trainrt {

/// Opens the path `relative` below the open directory `base`, as openat(2) with `flags` and O_CLOEXEC, without following
/// symbolic links in any component. Each component is looked up in a directory that is already open, so replacing a
/// directory by a link at any time does not lead outside. A leading slash is ignored. Uses openat2(2), or opens the
/// components one by one if the kernel does not have it.
///
/// Returns a descriptor that the caller owns, or -1 with errno: ELOOP if a component is a symbolic link, EXDEV if one is
/// "..". Any thread may call it.
int open_beneath(int base, std::string_view relative, int flags, mode_t mode);

/// Closes a descriptor without changing errno.
void close_keeping_errno(int file);

/// While an object lives, open_beneath() does not use openat2(2). For tests of the code for kernels without it.
class WithoutOpenat2 {
 public:
  WithoutOpenat2();
  ~WithoutOpenat2();
  WithoutOpenat2(const WithoutOpenat2&) = delete;
  WithoutOpenat2& operator=(const WithoutOpenat2&) = delete;
};

}  // namespace trainrt
