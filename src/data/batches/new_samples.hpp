#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "data/batches/dataset_impl.hpp"

namespace trainrt::data {

/// Of parts that stand one behind the other: where each one ends, by their sizes.
std::vector<std::uint64_t> ends_of(const std::vector<std::int64_t>& sizes);
/// The part that has the place, below the end of the last one.
std::size_t part_at(const std::vector<std::uint64_t>& ends, std::uint64_t place);
inline std::uint64_t begin_of(const std::vector<std::uint64_t>& ends, std::size_t part) {
  return part == 0 ? 0 : ends[part - 1];
}

/// Notes what has made other samples of a dataset's, in filter_text: the place inside an epoch hangs on it. `ends`: how
/// what there was before was cut; `samples`: how many there are now.
void note_samples(DatasetImpl& dataset, std::string_view what, const std::vector<std::uint64_t>& ends,
                  std::uint64_t samples);

/// UsageError if sources are mixed by weights, which are counted in the samples of before. `call`: for the message.
void require_plain_order(const DatasetImpl& dataset, std::string_view call);

/// UsageError if samples are drawn by weight: what has no weight any more cannot be. `call`: for the message.
void require_not_drawn(const DatasetImpl& dataset, std::string_view call);

}  // namespace trainrt::data
