#pragma once

namespace trainrt {

/// Return the descriptors of the standard output and standard error that this process was started with, even while
/// OutputCapture redirects descriptors 1 and 2. The runtime writes its messages to these descriptors, and uses them to
/// check for a terminal. Async-signal-safe.
int standard_output();
int standard_error();

/// Copies descriptors 1 and 2; standard_output() and standard_error() return the copies from now on. The copies are closed
/// on exec. A closed stream is replaced by /dev/null. The copies are never closed, since threads and signal handlers may
/// write to them at any time. Throws Error if the system has no descriptor left.
void keep_standard_streams();

/// Reverses a redirection: makes descriptors 1 and 2 the streams that keep_standard_streams() copied.
void restore_standard_streams();

/// Copies of the standard streams get this or a higher descriptor number, so that no copy becomes descriptor 0, 1 or 2.
inline constexpr int min_copy = 3;

}  // namespace trainrt
