#pragma once

namespace trainrt {

/// Return the descriptors of the standard output and standard error that this process was started with, also while
/// descriptors 1 and 2 lead elsewhere (OutputCapture). The runtime writes its messages there, and checks there for a
/// terminal. Async-signal-safe.
int standard_output();
int standard_error();

/// Copies descriptors 1 and 2 to the descriptors of standard_output() and standard_error(), closed on exec; a closed stream
/// becomes /dev/null. The copies are never closed: threads and signal handlers may write at any time. Throws Error if the
/// system has no descriptor left.
void keep_standard_streams();

/// Makes descriptors 1 and 2 the standard streams that keep_standard_streams() copied.
void restore_standard_streams();

/// The lowest number for a copy of a standard stream: a copy must not become another standard stream.
inline constexpr int min_copy = 3;

}  // namespace trainrt
