#include "checkpoint/format/names.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace trainrt::checkpoint {

namespace {

constexpr std::string_view prefix = "checkpoint_";
constexpr std::size_t min_digits = 6;

}  // namespace

std::string directory_name(std::int64_t number) {
  const auto digits = std::to_string(number);
  return std::string(prefix) + std::string(digits.size() < min_digits ? min_digits - digits.size() : 0, '0') + digits;
}

std::optional<std::int64_t> number_of(const std::string& name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  std::int64_t number = 0;
  const auto* end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + prefix.size(), end, number);
  if (error != std::errc() || at != end || number < 0 || directory_name(number) != name) return std::nullopt;
  return number;
}

std::string run_of(const std::string& checkpoint_dir) {
  const auto end = checkpoint_dir.find_last_not_of('/');
  const auto slash = checkpoint_dir.rfind('/', end);
  if (end == std::string::npos || slash == std::string::npos) return ".";
  return checkpoint_dir.substr(0, std::max<std::size_t>(slash, 1));
}

std::string shard_name(int file) { return fmt::format("shard-{:05}.h5", file); }

std::string slab_path(const std::string& entry, std::size_t number) {
  return "/trainrt/slabs/" + entry + "/" + std::to_string(number);
}

std::string view_seal(std::string_view digest) { return fmt::format("trainrt xxh3_128 {}\n", digest); }

}  // namespace trainrt::checkpoint
