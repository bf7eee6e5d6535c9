#include "core/text/byte_size.hpp"

#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace trainrt {

std::string byte_size(std::uint64_t bytes) {
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto number = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (auto rest = bytes / 1024; rest >= 1024 && unit + 1 < units.size(); rest /= 1024) {
    number /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", number, units[unit]);
}

}  // namespace trainrt
