#include "data/batches/new_samples.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/files/digest.hpp"

namespace trainrt::data {

std::vector<std::uint64_t> ends_of(const std::vector<std::int64_t>& sizes) {
  std::vector<std::uint64_t> ends(sizes.begin(), sizes.end());
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  return ends;
}

std::size_t part_at(const std::vector<std::uint64_t>& ends, std::uint64_t place) {
  return static_cast<std::size_t>(std::ranges::upper_bound(ends, place) - ends.begin());
}

void note_samples(DatasetImpl& dataset, std::string_view what, const std::vector<std::uint64_t>& ends,
                  std::uint64_t samples) {
  dataset.filter_text += fmt::format("{}{} to {} samples with digest {}", dataset.filter_text.empty() ? "" : ", then ",
                                     what, samples, io::digest_of(std::as_bytes(std::span(ends))));
}

void require_plain_order(const DatasetImpl& dataset, std::string_view call) {
  if (!dataset.mixed.empty()) throw UsageError(fmt::format("{} of a dataset that mixes sources by weights", call));
}

void require_not_drawn(const DatasetImpl& dataset, std::string_view call) {
  if (dataset.weight_sums) throw UsageError(fmt::format("{} of a dataset whose samples are drawn by weight", call));
}

}  // namespace trainrt::data
