#include "data/batches/field_scan.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/output/log.hpp"
#include "data/source/samples_at_once.hpp"

namespace trainrt::data {

void scan_columns(const Source& source, SkippingReader* skipping, std::uint64_t first, std::uint64_t end,
                  std::uint64_t max_bytes, std::uint64_t max_samples, std::vector<Column>& columns,
                  const std::function<void(std::span<const std::uint64_t> samples)>& see) {
  std::uint64_t fixed_bytes = 0;
  bool varies = false;
  for (const auto& column : columns) {
    const auto& field = source.fields()[column.field];
    varies = varies || field.varies;
    if (!field.varies) fixed_bytes += sample_bytes(field);
  }
  SamplesAtOnce at_once(max_bytes, fixed_bytes, varies, max_samples);
  std::vector<std::uint64_t> samples;
  for (auto at = first; at < end;) {
    samples.resize(std::min(at_once.count(), end - at));
    std::iota(samples.begin(), samples.end(), at);
    at += samples.size();
    if (skipping != nullptr)
      skipping->read_if_any(source, samples, columns);
    else
      source.read(samples, columns);
    if (samples.empty()) continue;
    std::uint64_t bytes = 0;
    for (const auto& column : columns) bytes += column.values.size();
    at_once.saw(samples.size(), bytes);
    see(samples);
  }
}

void scan_fields(const DatasetPlan& plan, std::span<const std::size_t> fields, const std::string& step_name,
                 std::uint64_t first, std::uint64_t end,
                 const std::function<void(std::uint64_t sample, std::span<const TensorView> values)>& see) {
  constexpr std::uint64_t max_bytes = 4 << 20, max_samples = 1 << 16;
  const auto& all = plan.source->fields();
  std::vector<Column> columns;
  std::vector<TensorView> values;
  for (const auto number : fields) {
    columns.push_back({number, {}, {}});
    values.push_back({nullptr, all[number].dtype, all[number].varies ? Shape{0} : all[number].sample_shape});
  }
  ProgressClock progress;
  scan_columns(*plan.source, plan.skipping.get(), first, end, max_bytes, max_samples, columns, [&](auto samples) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      for (std::size_t k = 0; k < columns.size(); ++k) {
        const auto& field = all[columns[k].field];
        const auto sample = sample_of(columns[k], field, i);
        values[k].data = const_cast<std::byte*>(sample.data());
        if (field.varies) values[k].shape[0] = static_cast<std::int64_t>(sample.size() / size_of(field.dtype));
      }
      see(samples[i], values);
    }
    if (progress.is_due())
      log::info(fmt::format("dataset '{}': the step {} has read {} of {} samples", plan.name, step_name,
                            samples.back() + 1 - first, end - first));
  });
}

std::vector<std::int64_t> gather_from_scan(const DatasetPlan& plan, std::size_t field, const std::string& step_name,
                                           const std::function<std::int64_t(const TensorView&)>& number_of) {
  std::vector<std::int64_t> numbers(plan.source->size());
  const auto [first, end] = plan.team.own_share(numbers.size());
  const auto scan = [&, first = first, end = end] {
    scan_fields(plan, {&field, 1}, step_name, first, end, [&](std::uint64_t sample, std::span<const TensorView> values) {
      numbers[sample] = number_of(values.front());
    });
  };
  plan.team.combine(scan, numbers);
  return numbers;
}

}  // namespace trainrt::data
