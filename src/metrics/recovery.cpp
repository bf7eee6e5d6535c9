#include "metrics/recovery.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"
#include "metrics/csv.hpp"
#include "metrics/typed_columns.hpp"

namespace trainrt::metrics {

namespace {

/// Returns the metric records in the file `name` of the run directory, metrics.h5 or progress.csv; an empty list if the
/// file does not exist or cannot be read.
std::vector<Record> records_in(const std::string& run_dir, const std::string& name) try {
  const auto path = run_dir + "/" + name;
  if (!io::retried([&] { return io::exists(path); })) return {};
  if (name == "metrics.h5") return metrics_records(path);
  return csv_records(io::retried([&] { return io::read_file(path); }));
} catch (const Error& error) {
  log::warning(fmt::format("the records that result.json lacks cannot be read from {}: {}", name, error.what()));
  return {};
}

}  // namespace

std::vector<Record> with_recovered(std::vector<Record> found, std::int64_t keep, const std::string& run_dir) {
  std::map<std::int64_t, Record> records;
  for (const auto& record : found)
    if (record.iteration <= keep) records.emplace(record.iteration, record);
  const auto missing = static_cast<std::size_t>(keep) - records.size();
  std::vector<std::string> sources;
  for (const auto* name : {"metrics.h5", "progress.csv"}) {
    const auto before = records.size();
    if (before == static_cast<std::size_t>(keep)) break;
    for (auto& record : records_in(run_dir, name))
      if (record.iteration >= 1 && record.iteration <= keep) records.emplace(record.iteration, std::move(record));
    if (records.size() > before) sources.emplace_back(name);
  }
  if (sources.empty() || records.size() < static_cast<std::size_t>(keep)) return found;
  log::warning(fmt::format(
      "{}/result.json lacks {} of the {} records up to the checkpoint. The missing records were recovered from {}", run_dir,
      missing, keep, join(sources, " and ")));
  std::vector<Record> complete;
  for (auto& [iteration, record] : records) complete.push_back(std::move(record));
  return complete;
}

}  // namespace trainrt::metrics
