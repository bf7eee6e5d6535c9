#include "cli/doctor/stale_locks.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace trainrt::cli {

namespace {

constexpr int deepest = 3;  // py311_cpu/fused_adam/lock

}  // namespace

std::string torch_extensions_folder(const Environment& environment) {
  if (auto folder = environment.text("TORCH_EXTENSIONS_DIR").value_or(""); !folder.empty()) return folder;
  if (const auto cache = environment.text("XDG_CACHE_HOME").value_or(""); !cache.empty())
    return cache + "/torch_extensions";
  const auto home = environment.text("HOME").value_or("");
  return home.empty() ? "" : home + "/.cache/torch_extensions";
}

std::vector<StaleLock> stale_locks_in(const std::string& folder, double least_age_s) {
  namespace fs = std::filesystem;
  std::vector<StaleLock> locks;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry.depth() >= deepest) entry.disable_recursion_pending();
    if (entry->path().filename() != "lock") continue;
    std::error_code none;  // it may go meanwhile
    const auto written = entry->last_write_time(none);
    if (none) continue;
    const auto age = std::chrono::duration<double>(fs::file_time_type::clock::now() - written).count();
    if (age >= least_age_s) locks.push_back({entry->path().string(), age});
  }
  std::ranges::sort(locks, {}, &StaleLock::path);
  return locks;
}

}  // namespace trainrt::cli
