#include "data/node_memory/unit_layout.hpp"

#include <algorithm>

namespace trainrt::data {

namespace {

constexpr std::uint64_t cache_line_bytes = 64;  // the values of each field begin at a multiple of this number of bytes

std::uint64_t divided_up(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

}  // namespace

UnitLayout::UnitLayout(std::span<const Dataset::Field> fields, std::span<const File> files, std::uint64_t unit_bytes,
                       std::uint64_t arena_bytes)
    : arena_bytes_(arena_bytes) {
  std::uint64_t samples = 0, bytes_of_all = 0;
  for (const auto& file : files) samples += file.samples;
  for (const auto& field : fields) {
    offsets_.push_back(bytes_);
    sample_bytes_.push_back(bytes_of_sample(field));
    varies_.push_back(field.varies);
    bytes_ += divided_up(samples * sample_bytes_.back(), cache_line_bytes) * cache_line_bytes;
    bytes_of_all += sample_bytes_.back();
  }
  bytes_of_all += arena_bytes / std::max<std::uint64_t>(samples, 1);
  for (const auto& file : files) add(file, bytes_of_all, unit_bytes);
}

/// Adds the units (groups of samples) of a file. Samples that can only be read together are in the same unit. Several small
/// files share a unit.
void UnitLayout::add(const File& file, std::uint64_t bytes_of_sample, std::uint64_t unit_bytes) {
  const auto whole = std::max<std::uint64_t>(file.samples, 1);
  const auto together = file.reading == Reading::as_a_whole ? whole : std::clamp<std::uint64_t>(file.together, 1, whole);
  for (std::uint64_t at = 0; at < file.samples;) {
    const auto wanted =
        std::max<std::uint64_t>(1, (unit_bytes - open_bytes_) / std::max<std::uint64_t>(bytes_of_sample, 1));
    const auto count = std::min(file.samples - at, divided_up(wanted, together) * together);
    if (open_bytes_ == 0) {
      ends_.push_back(ends_.empty() ? 0 : ends_.back());
      readings_.push_back(file.reading);
    }
    ends_.back() += count;
    readings_.back() = std::max(readings_.back(), file.reading);
    open_bytes_ += count * bytes_of_sample;
    if (open_bytes_ + bytes_of_sample > unit_bytes) open_bytes_ = 0;
    at += count;
  }
}

std::size_t UnitLayout::unit_of(std::uint64_t sample) const {
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), sample) - ends_.begin());
}

}  // namespace trainrt::data
