#pragma once
#include <sys/types.h>

#include <string_view>

namespace trainrt {

/// Opens the path `relative` below the open directory `base`, as openat(2) does with `flags` and O_CLOEXEC, but follows
/// no symbolic link in any path component.
///
/// Each component is looked up in a directory that is already open, so that replacing a directory by a symbolic link at
/// any time does not lead outside `base`. A leading slash is ignored. Uses openat2(2); on kernels without openat2(2),
/// opens the components one by one.
///
/// Returns a file descriptor that the caller owns, or -1 with errno: ELOOP if a component is a symbolic link, EXDEV if a
/// component is "..". Thread-safe.
int open_beneath(int base, std::string_view relative, int flags, mode_t mode);

/// Closes the file descriptor `file` without changing errno.
void close_keeping_errno(int file);

/// While an object of this class exists, open_beneath() does not use openat2(2). Tests use the class to cover the code for
/// kernels without openat2(2).
class WithoutOpenat2 {
 public:
  WithoutOpenat2();
  ~WithoutOpenat2();
  WithoutOpenat2(const WithoutOpenat2&) = delete;
  WithoutOpenat2& operator=(const WithoutOpenat2&) = delete;
};

}  // namespace trainrt
