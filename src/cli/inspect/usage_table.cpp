#include "cli/inspect/usage_table.hpp"

#include <optional>
#include <vector>

#include <fmt/format.h>

#include "cli/terminal/table.hpp"

namespace trainrt::cli {

namespace {

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 0) return "-";
  if (bytes < std::int64_t{1} << 30) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 0x1p20);
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / 0x1p30);
}

std::string share_text(std::optional<double> share) { return share ? fmt::format("{:.0f} %", 100 * *share) : "-"; }

std::string energy_text(const rundir::UsageSummary& usage) {
  if (!usage.energy_j) return "-";
  const auto of = usage.energy_of.empty() ? "" : fmt::format(" ({})", usage.energy_of);
  const double watt_hours = *usage.energy_j / 3600;
  return watt_hours < 1000 ? fmt::format("{:.2f} Wh{}", watt_hours, of)
                           : fmt::format("{:.2f} kWh{}", watt_hours / 1000, of);
}

std::vector<std::string> cells(const std::string& title, const rundir::UsageSummary& usage) {
  if (usage.ranks == 0) return {title, "-", "-", "-", "-", "-", "-", "-", "-"};
  return {title,
          fmt::format("{:.3f}", usage.cpu_s / 3600),
          share_text(usage.cpu_use()),
          bytes_text(usage.peak),
          usage.peak_rank < 0 ? "-" : std::to_string(usage.peak_rank),
          bytes_text(usage.read),
          bytes_text(usage.written),
          share_text(usage.gpu_use()),
          energy_text(usage)};
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
