#include "view/curves/step_history.hpp"

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "io/files/file.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "view/summary/file_lines.hpp"

namespace trainrt::view {

namespace {

constexpr std::uint64_t max_history_bytes = std::uint64_t{128} << 20;

std::uint64_t size_of(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace

StepHistory step_history_of(const std::string& run_dir) {
  StepHistory history;
  const auto attempts = rundir::numbers_of_attempts(run_dir);
  std::uint64_t bytes = 0;
  for (const int attempt : attempts) bytes += size_of(run_dir + "/" + rundir::step_times_name(attempt));
  history.read_every = static_cast<std::size_t>(1 + bytes / max_history_bytes);
  std::size_t count = 0;
  for (const int attempt : attempts) {
    const auto path = run_dir + "/" + rundir::step_times_name(attempt);
    if (!io::exists(path)) continue;
    for_each_line(path, [&](std::string_view line) {
      if (count++ % history.read_every != 0) return;
      if (auto window = step_window_from(line, attempt)) history.windows.push_back(std::move(*window));
    });
  }
  return history;
}

}  // namespace trainrt::view
