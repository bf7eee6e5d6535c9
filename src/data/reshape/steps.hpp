#pragma once
#include <cstdint>
#include <functional>
#include <memory>
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

/// Returns the step of Dataset::filter(). `keeps` gets the values of the fields `fields`, in this order.
std::shared_ptr<const Step> filter_step(std::vector<std::string> fields,
                                        std::function<bool(std::span<const TensorView> values)> keeps);

/// Returns the step of the key `where` and of Dataset::filter() with a condition. Throws UsageError for a syntax error.
/// Unknown fields, and types that cannot be compared, are found later by the step's fields(), which throws UsageError.
std::shared_ptr<const Step> where_step(const std::string& condition);

/// Returns the step of Dataset::flat_map(). It keeps 8 bytes per sample of its input.
std::shared_ptr<const Step> flat_map_step(std::string field, Dataset::Field made, Dataset::FlatFunction function);

/// Returns the step of Dataset::pack(). It keeps 8 bytes per sample of its input.
std::shared_ptr<const Step> pack_step(std::string field, std::uint64_t length, std::optional<std::int64_t> separator);

/// Returns the step of Dataset::window(). If the samples are grouped, it keeps 8 bytes per sample of its input, unless
/// the samples of each group are consecutive.
std::shared_ptr<const Step> window_step(Dataset::Windows windows);

/// Returns the step of Dataset::draw_by_weight().
std::shared_ptr<const Step> draw_step(std::string field);

/// Returns the result of a step that keeps only the samples `rows` (RowRanges, RowBitmap, ...) of `input`.
template <class Rows>
Step::Result chosen(const DatasetPlan& input, Rows rows, std::string identity) {
  Step::Result result{nullptr, std::move(identity)};
  if constexpr (requires { rows.count_below(0); })
    result.count_below = [rows](std::uint64_t row) { return rows.count_below(row); };
  result.source = std::make_shared<SelectedSource<Rows>>(input.source, std::move(rows));
  return result;
}

/// Returns the identity of a step that makes `samples` samples. It consists of the text `step`, the number of samples,
/// and a digest of `ends`, the positions at which the input is cut into the new samples.
inline std::string identity_of_made(const std::string& step, std::uint64_t samples,
                                    const std::vector<std::uint64_t>& ends) {
  return fmt::format("{} to {} samples with digest {}", step, samples, io::digest_of(std::as_bytes(std::span(ends))));
}

}  // namespace trainrt::data
