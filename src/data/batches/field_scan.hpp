#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/host.hpp"
#include "data/batches/dataset_plan.hpp"

namespace trainrt::data {

/// Returns the values of sample `i` in `column`, a column of the field `field`.
inline std::span<const std::byte> sample_of(const Column& column, const Dataset::Field& field, std::size_t i) {
  return field.varies ? column.varying(i) : std::span(column.values).subspan(i * sample_bytes(field), sample_bytes(field));
}

/// Reads the samples `first` to `end` - 1 of `source`, in this order. Each read has about `max_bytes` bytes, and at most
/// `max_samples` samples. Calls see(samples) after each read; during the call, `columns` contain the values of these
/// samples. If `skipping` is not nullptr, leaves out samples that cannot be read.
void scan_columns(const Source& source, SkippingReader* skipping, std::uint64_t first, std::uint64_t end,
                  std::uint64_t max_bytes, std::uint64_t max_samples, std::vector<Column>& columns,
                  const std::function<void(std::span<const std::uint64_t> samples)>& see);

/// Reads some fields of the samples `first` to `end` - 1 of a dataset before its first epoch, and calls `see` for each
/// sample. If plan.skipping is set, leaves out samples that cannot be read.
///
/// `fields` are indices of fields in plan.source->fields(). The argument `values` of `see` has one tensor per field, with
/// the shape of one sample. For a field that varies in length, the shape is [number of values]. The tensors are valid only
/// during the call. `step_name` is for the progress message that is logged once a minute.
void scan_fields(const DatasetPlan& plan, std::span<const std::size_t> fields, const std::string& step_name,
                 std::uint64_t first, std::uint64_t end,
                 const std::function<void(std::uint64_t sample, std::span<const TensorView> values)>& see);

/// Calls `number_of` for each sample, with the sample's values of the field `field`. Returns the results by index of the
/// sample. Each rank reads its share of the samples, but all ranks get all results. For a sample that is skipped because it
/// cannot be read, the result is 0. Collective over plan.team.
std::vector<std::int64_t> gather_from_scan(const DatasetPlan& plan, std::size_t field, const std::string& step_name,
                                           const std::function<std::int64_t(const TensorView& values)>& number_of);

/// Limits progress messages to one per minute. The first message is due after a minute.
class ProgressClock {
 public:
  bool is_due() {
    constexpr double pause_s = 60;
    const auto now_s = monotonic_seconds();
    if (now_s - logged_at_s_ < pause_s) return false;
    logged_at_s_ = now_s;
    return true;
  }

 private:
  double logged_at_s_ = monotonic_seconds();
};

}  // namespace trainrt::data
