#pragma once

namespace trainrt::cli {

/// Reads the access keys of the sweep's mirror from the pipe whose descriptor is in TRAINRT_STORE_KEYS_FD, for requests of
/// this process, and closes the pipe. Removes the variable, so that other programs do not inherit it. Does nothing if the
/// variable is not set, or does not name a pipe. No other thread may run.
void take_given_mirror_keys();

}  // namespace trainrt::cli
