#pragma once
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

namespace trainrt::io {

/// How many seconds retried() waits for storage that is away; 0, as at first: not at all. For the whole process, set once
/// when a run begins.
void set_storage_timeout(double seconds);
double storage_timeout();

/// Does `work` again, with back-off, while it throws a StorageError of a kind that may pass (is_transient()). It says once
/// that it waits, and once that the storage is back. This is the one layer that tries again: io's functions throw at
/// once, and who calls them wraps what may be done twice: whole files written aside, reads, directories. Never an fsync
/// alone: after one has failed the system may have dropped what it was to write, and the next reports success.
void retried(const std::function<void()>& work);

/// The same for work inside `directory`, which is there as long as its storage is (a run directory). If something is not
/// found (ENOENT) because the directory itself is gone, the storage is away: unmounted, renamed, not mounted yet by an
/// automounter. The StorageError that is thrown after the wait is of a kind that may pass. If the directory is there, what
/// is not found does not exist, and that is thrown at once.
void retried_in(const std::string& directory, const std::function<void()>& work);

/// Waits for that directory only, and throws other errors at once: for work that must not be done again after those,
/// because an fsync is part of it.
void while_there(const std::string& directory, const std::function<void()>& work);

/// retried(), for work with a result.
template <class Work>
requires(!std::is_void_v<std::invoke_result_t<Work&>>) auto retried(Work&& work) {
  std::optional<std::invoke_result_t<Work&>> result;
  retried(std::function<void()>([&] { result.emplace(work()); }));
  return std::move(*result);
}

/// retried_in(), for work with a result.
template <class Work>
requires(!std::is_void_v<std::invoke_result_t<Work&>>) auto retried_in(const std::string& directory, Work&& work) {
  std::optional<std::invoke_result_t<Work&>> result;
  retried_in(directory, std::function<void()>([&] { result.emplace(work()); }));
  return std::move(*result);
}

}  // namespace trainrt::io
