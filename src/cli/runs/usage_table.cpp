#include "cli/runs/usage_table.hpp"

#include <optional>
#include <vector>

#include <fmt/format.h>

#include "cli/terminal/table.hpp"
#include "core/text/byte_size.hpp"

namespace trainrt::cli {

namespace {

std::string bytes_cell(std::int64_t bytes) { return bytes < 0 ? "-" : byte_size(static_cast<std::uint64_t>(bytes)); }

std::string share_cell(std::optional<double> share) { return share ? fmt::format("{:.0f} %", 100 * *share) : "-"; }

std::string energy_cell(const rundir::UsageSummary& usage) {
  if (!usage.energy_j) return "-";
  const auto source = usage.energy_of.empty() ? "" : fmt::format(" ({})", usage.energy_of);
  const double watt_hours = *usage.energy_j / 3600;
  return watt_hours < 1000 ? fmt::format("{:.2f} Wh{}", watt_hours, source)
                           : fmt::format("{:.2f} kWh{}", watt_hours / 1000, source);
}

std::vector<std::string> cells(const std::string& title, const rundir::UsageSummary& usage) {
  if (usage.ranks == 0) return {title, "-", "-", "-", "-", "-", "-", "-", "-"};
  return {title,
          fmt::format("{:.3f}", usage.cpu_s / 3600),
          share_cell(usage.cpu_use()),
          bytes_cell(usage.peak),
          usage.peak_rank < 0 ? "-" : std::to_string(usage.peak_rank),
          bytes_cell(usage.read),
          bytes_cell(usage.written),
          share_cell(usage.gpu_use()),
          energy_cell(usage)};
}

}  // namespace

std::string usage_table(const view::RunSummary& run) {
  const auto all = rundir::sum_of(run.usages);
  if (all.ranks == 0) return {};
  Table table({{"attempt", true},
               {"CPU hours", true},
               {"CPU use", true},
               {"peak memory", true},
               {"of rank", true},
               {"read", true},
               {"written", true},
               {"GPU use", true},
               {"energy", true}});
  for (std::size_t i = 0; i < run.attempts.size(); ++i)
    table.add(cells(std::to_string(run.attempts[i].number), run.usages[i]));
  table.add(cells("all", all));
  return "used\n" + table.text();
}

}  // namespace trainrt::cli
