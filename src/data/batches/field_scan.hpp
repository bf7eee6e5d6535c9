#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/batches/dataset_plan.hpp"

namespace trainrt::data {

/// Reads some fields of consecutive samples of a dataset before its first epoch, a few MiB at a time. If plan.skipping is
/// set, leaves out samples that cannot be read.
class FieldScan {
 public:
  using See = std::function<void(std::uint64_t sample, std::span<const TensorView> values)>;

  /// `fields`: numbers of fields of plan.source. `step_name`: for the progress message that is logged once a minute.
  FieldScan(const DatasetPlan& plan, const std::vector<std::size_t>& fields, std::string step_name);
  /// Calls `see` for the samples `first` to `end` - 1, in this order. `values` has one tensor per field, which has the
  /// shape of one sample. For a field that varies in length, the shape is [number of values]. The tensors are valid
  /// during the call.
  void scan(std::uint64_t first, std::uint64_t end, const See& see);

 private:
  void read();
  void log_progress(std::uint64_t done, std::uint64_t all);

  const DatasetPlan& plan_;
  std::string step_name_;
  double logged_at_s_;
  std::vector<Column> columns_;
  std::vector<std::uint64_t> samples_;
};

/// Calls `number_of` with the values of field `field` for each sample, and returns the resulting numbers. Each rank reads
/// its share of the samples, and all ranks get all numbers. A sample that cannot be read and is skipped has the number 0.
/// Collective over plan.team.
std::vector<std::int64_t> gather_from_scan(const DatasetPlan& plan, std::size_t field, const std::string& step_name,
                                           const std::function<std::int64_t(const TensorView& values)>& number_of);

}  // namespace trainrt::data
