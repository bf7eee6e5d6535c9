#include "data/batches/field_scan.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/host.hpp"
#include "core/output/log.hpp"
#include "data/source/samples_at_once.hpp"

namespace trainrt::data {

namespace {

/// Makes `view`, a tensor with the shape of a sample of `field`, refer to sample `i` of the column.
void set_view(TensorView& view, Column& column, const Dataset::Field& field, std::size_t i) {
  auto first = field.varies ? 0 : i * sample_bytes(field);
  if (field.varies) {
    first = i == 0 ? 0 : column.ends[i - 1];
    view.shape[0] = static_cast<std::int64_t>((column.ends[i] - first) / size_of(field.dtype));
  }
  view.data = column.values.data() + first;
}

}  // namespace

FieldScan::FieldScan(const DatasetPlan& plan, const std::vector<std::size_t>& fields, std::string step_name)
    : plan_(plan), step_name_(std::move(step_name)), logged_at_s_(monotonic_seconds()) {
  for (const auto field : fields) columns_.push_back({field, {}, {}});
}

void FieldScan::scan(std::uint64_t first, std::uint64_t end, const See& see) {
  constexpr std::uint64_t bytes_at_once = 4 << 20, max_samples = 1 << 16;
  const auto& fields = plan_.source->fields();
  std::uint64_t fixed = 0;
  bool varies = false;
  std::vector<TensorView> values;
  for (const auto& column : columns_) {
    const auto& field = fields[column.field];
    varies = varies || field.varies;
    if (!field.varies) fixed += sample_bytes(field);
    values.push_back({nullptr, field.dtype, field.varies ? Shape{0} : field.sample_shape});
  }
  SamplesAtOnce at_once(bytes_at_once, fixed, varies, max_samples);
  for (auto at = first; at < end;) {
    samples_.resize(std::min(at_once.count(), end - at));
    std::iota(samples_.begin(), samples_.end(), at);
    at += samples_.size();
    read();
    std::uint64_t bytes = 0;
    for (const auto& column : columns_) bytes += column.values.size();
    at_once.saw(samples_.size(), bytes);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      for (std::size_t k = 0; k < columns_.size(); ++k) set_view(values[k], columns_[k], fields[columns_[k].field], i);
      see(samples_[i], values);
    }
    log_progress(at - first, end - first);
  }
}

void FieldScan::read() {
  if (plan_.skipping)
    plan_.skipping->read_if_any(*plan_.source, samples_, columns_);
  else
    plan_.source->read(samples_, columns_);
}

void FieldScan::log_progress(std::uint64_t done, std::uint64_t all) {
  constexpr double pause_s = 60;
  const auto now_s = monotonic_seconds();
  if (now_s - logged_at_s_ < pause_s) return;
  logged_at_s_ = now_s;
  log::info(fmt::format("dataset '{}': {} has read {} of {} samples", plan_.name, step_name_, done, all));
}

std::vector<std::int64_t> gather_from_scan(const DatasetPlan& plan, std::size_t field, const std::string& step_name,
                                           const std::function<std::int64_t(const TensorView&)>& number_of) {
  std::vector<std::int64_t> numbers(plan.source->size());
  const auto [first, end] = plan.team.own_share(numbers.size());
  const auto scan = [&, first = first, end = end] {
    FieldScan(plan, {field}, step_name).scan(first, end, [&](std::uint64_t sample, std::span<const TensorView> values) {
      numbers[sample] = number_of(values.front());
    });
  };
  plan.team.combine(scan, numbers);
  return numbers;
}

}  // namespace trainrt::data
