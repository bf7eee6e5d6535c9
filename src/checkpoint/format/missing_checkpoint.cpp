#include "checkpoint/format/missing_checkpoint.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "core/options.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"

namespace trainrt::checkpoint {

std::string existing_checkpoints(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr std::string_view prefix = "checkpoint_";
  auto normal = fs::path(path).lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();  // removes a slash at the end
  const auto name = normal.filename().string();
  const auto run = normal.has_parent_path() ? normal.parent_path() : fs::path(".");
  std::error_code error;
  if (!name.starts_with(prefix) || !fs::is_directory(run, error)) return "";
  const auto numbers = numbers_in(run);
  if (numbers.empty()) return io::exists(run / "run.json") ? "the run has no checkpoint" : "";
  const auto number = parse_integer(std::string_view(name).substr(prefix.size()));
  if (number && std::ranges::count(numbers, *number) > 0)
    return fmt::format("did you mean '{}'?", (normal.parent_path() / directory_name(*number)).string());
  const auto newest = directory_name(numbers.back());
  if (numbers.size() == 1) return fmt::format("the run has only {}", newest);
  const auto range = static_cast<std::size_t>(numbers.back() - numbers.front()) + 1;
  return fmt::format("the run has {}{} to {} (newest)",
                     numbers.size() == range ? "" : fmt::format("{} checkpoints, from ", numbers.size()),
                     directory_name(numbers.front()), newest);
}

}  // namespace trainrt::checkpoint
