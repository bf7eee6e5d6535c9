#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "data/batches/dataset_plan.hpp"
#include "data/source/selected_source.hpp"
#include "io/files/digest.hpp"

namespace trainrt::data {

/// Returns the step of Dataset::filter() with a function. `keeps` is called with the values of the field `field`.
Step filter_step(const std::string& field, const Dataset::SamplePredicate& keeps);

/// Returns the step of the key `where` and of Dataset::filter() with a condition. Throws UsageError for a syntax error.
/// The step's function fields() throws UsageError later for unknown fields and for types that cannot be compared.
Step where_step(const std::string& condition);

/// Returns the step of Dataset::flat_map(). The step keeps 8 bytes in memory per sample of its input.
Step flat_map_step(const std::string& field, const Dataset::Field& made, const Dataset::FlatFunction& function);

/// Returns the step of Dataset::pack(). The step keeps 8 bytes in memory per sample of its input.
Step pack_step(const std::string& field, std::uint64_t length, std::optional<std::int64_t> separator);

/// Returns the step of Dataset::window(). If the samples are grouped (Windows::within), the step keeps 8 bytes in memory
/// per sample of its input, unless the samples of each group are consecutive.
Step window_step(const Dataset::Windows& windows);

/// Returns the step of Dataset::draw_by_weight().
Step draw_step(const std::string& field);

/// Returns the result of a step that keeps only the samples `rows` (RowRanges, RowBitmap, ...) of `input`.
template <class Rows>
Step::Result chosen(const DatasetPlan& input, Rows rows, std::string identity) {
  Step::Result result{nullptr, std::move(identity)};
  if constexpr (requires { rows.count_below(0); })
    result.count_below = [rows](std::uint64_t row) { return rows.count_below(row); };
  result.source = std::make_shared<SelectedSource<Rows>>(input.source, std::move(rows));
  return result;
}

/// Returns the identity of a step that makes `samples` new samples: a text that checkpoints contain, and that changes if
/// the step makes other samples. It consists of the text `step`, the number of samples, and a digest of `ends`, the
/// positions at which the input is cut into the new samples.
inline std::string identity_of_made(const std::string& step, std::uint64_t samples,
                                    const std::vector<std::uint64_t>& ends) {
  return fmt::format("{} to {} samples with digest {}", step, samples, io::digest_of(std::as_bytes(std::span(ends))));
}

/// Returns the end position of each of several consecutive parts with the sizes `sizes`; the first part begins at 0.
inline std::vector<std::uint64_t> ends_of(const std::vector<std::int64_t>& sizes) {
  std::vector<std::uint64_t> ends(sizes.begin(), sizes.end());
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  return ends;
}

/// Returns the index of the part that contains `position`. Precondition: `position` is below the end of the last part.
inline std::size_t part_at(const std::vector<std::uint64_t>& ends, std::uint64_t position) {
  return static_cast<std::size_t>(std::ranges::upper_bound(ends, position) - ends.begin());
}

inline std::uint64_t begin_of(const std::vector<std::uint64_t>& ends, std::size_t part) {
  return part == 0 ? 0 : ends[part - 1];
}

}  // namespace trainrt::data
