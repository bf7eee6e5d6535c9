#pragma once

namespace trainrt {

/// The descriptors of this process's standard output and standard error as it was started with them: what the runtime
/// itself says goes there, also while 1 and 2 lead elsewhere (OwnOutput), and there it looks for a terminal.
/// Async-signal-safe.
int standard_output();
int standard_error();

/// From now on they are copies, closed on exec, of what 1 and 2 are now; a stream that is closed leads to /dev/null. The
/// copies stay: threads and signal handlers may write at any time. Throws Error if no descriptor can be had.
void keep_standard_streams();

/// 1 and 2 are again what they were then.
void restore_standard_streams();

}  // namespace trainrt
