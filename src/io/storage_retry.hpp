#pragma once
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

namespace trainrt::io {

/// Sets for how many seconds the functions below retry work while the storage is unavailable. The default 0 disables
/// retries. Applies to all threads of the process; call it once, when a run begins.
void set_storage_timeout(double seconds);
double storage_timeout();

/// Calls `work`, and calls it again with growing pauses while it throws a transient StorageError (is_transient()), until
/// the storage timeout is over. Prints one warning when it begins to wait and one when the storage is back. Only these
/// functions retry: all other functions of io throw at once, and their callers retry operations that may be repeated
/// (writing a complete temporary file, reading, making directories). Do not retry an fsync alone: after a failed fsync the
/// system may have dropped the data, and the next fsync reports success.
void retried(const std::function<void()>& work);

/// Calls `work` like retried(), for work inside `directory`, which exists whenever its storage is mounted (a run
/// directory). If `work` fails with ENOENT and `directory` itself does not exist, the storage counts as unavailable
/// (unmounted, renamed, or not yet mounted by an automounter), and the StorageError thrown after the timeout is transient.
/// If `directory` exists, ENOENT is thrown at once.
void retried_in(const std::string& directory, const std::function<void()>& work);

/// Calls `work` again only while `directory` does not exist, and throws all other errors at once. For work that includes an
/// fsync, which must not be repeated after other errors.
void retried_while_gone(const std::string& directory, const std::function<void()>& work);

/// Calls `work` like retried() and returns its result.
template <class Work>
requires(!std::is_void_v<std::invoke_result_t<Work&>>) auto retried(Work&& work) {
  std::optional<std::invoke_result_t<Work&>> result;
  retried(std::function<void()>([&] { result.emplace(work()); }));
  return std::move(*result);
}

/// Calls `work` like retried_in() and returns its result.
template <class Work>
requires(!std::is_void_v<std::invoke_result_t<Work&>>) auto retried_in(const std::string& directory, Work&& work) {
  std::optional<std::invoke_result_t<Work&>> result;
  retried_in(directory, std::function<void()>([&] { result.emplace(work()); }));
  return std::move(*result);
}

}  // namespace trainrt::io
