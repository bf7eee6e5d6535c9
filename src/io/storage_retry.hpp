#pragma once
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

namespace trainrt::io {

/// Sets the storage timeout: the number of seconds for which retried(), retried_in() and retried_while_gone() retry while
/// a storage is unavailable. The default 0 disables retries. Applies to all threads of the process; call it once, at the
/// beginning of a run.
void set_storage_timeout(double seconds);
double storage_timeout();

/// Calls `work`, and repeats the call with growing pauses while it throws a transient StorageError (see is_transient()),
/// until the storage timeout (see set_storage_timeout()) expires. Logs one warning when it begins to wait, and one when
/// the storage is available again.
///
/// Only the functions of this header wait for a storage. All other functions of io throw at once; requests to object
/// stores throw after a few tries. Use retries for operations that may be repeated: writing a complete temporary file,
/// reading, creating directories. Do not retry an fsync alone: after a failed fsync the system may have dropped the data,
/// and the next fsync reports success.
void retried(const std::function<void()>& work);

/// Calls `work` like retried(), for work inside `directory`, a directory that exists whenever its storage is mounted (a
/// run directory). If `work` fails with ENOENT and `directory` itself does not exist, the storage counts as unavailable
/// (unmounted, renamed, or not yet mounted by an automounter). The call is then repeated, and the StorageError thrown
/// after the timeout is transient. If `directory` exists, ENOENT is thrown at once.
void retried_in(const std::string& directory, const std::function<void()>& work);

/// Calls `work`, and repeats the call while `directory` does not exist, until the storage timeout expires. Throws all
/// other errors at once. For work that includes an fsync, which must not be repeated after other errors.
void retried_while_gone(const std::string& directory, const std::function<void()>& work);

/// Calls `work` like retried() and returns the result of the call that succeeds.
template <class Work>
requires(!std::is_void_v<std::invoke_result_t<Work&>>) auto retried(Work&& work) {
  std::optional<std::invoke_result_t<Work&>> result;
  retried(std::function<void()>([&] { result.emplace(work()); }));
  return std::move(*result);
}

/// Calls `work` like retried_in() and returns the result of the call that succeeds.
template <class Work>
requires(!std::is_void_v<std::invoke_result_t<Work&>>) auto retried_in(const std::string& directory, Work&& work) {
  std::optional<std::invoke_result_t<Work&>> result;
  retried_in(directory, std::function<void()>([&] { result.emplace(work()); }));
  return std::move(*result);
}

}  // namespace trainrt::io
