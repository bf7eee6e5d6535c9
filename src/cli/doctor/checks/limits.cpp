// The limits (ulimit) that the ranks' programs inherit.
#include <algorithm>

#include <fmt/format.h>

#include "cli/doctor/doctor_check.hpp"
#include "cli/start/process_limits.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

std::string number_text(std::uint64_t number) { return number == cli::unlimited ? "unlimited" : std::to_string(number); }

Finding examine_limits(const Examination& examination) {
  const auto answers = examination.ask([] {
    const auto limits = own_limits();
    return Json{{"open_files", limits.open_files.soft},
                {"processes", limits.processes.soft},
                {"core_files", limits.core_file.soft > 0},
                {"too_low", limits_too_low(limits)}};
  });
  if (!answers.well()) return error(examination.describe(answers.troubles), "look at `ulimit -a` there");
  std::uint64_t files = cli::unlimited;
  std::uint64_t processes = cli::unlimited;
  bool has_core_files = false;
  std::vector<Trouble> troubles;
  for (std::size_t rank = 0; rank < answers.of_rank.size(); ++rank) {
    const auto& answer = answers.of_rank[rank];
    files = std::min(files, answer.at("open_files").get<std::uint64_t>());
    processes = std::min(processes, answer.at("processes").get<std::uint64_t>());
    has_core_files = has_core_files || answer.at("core_files").get<bool>();
    if (const auto low = answer.at("too_low").get<std::vector<std::string>>(); !low.empty())
      troubles.push_back({static_cast<int>(rank), join(low)});
  }
  const Json figures = {
      {"open_files", number_text(files)}, {"processes", number_text(processes)}, {"core_files", has_core_files}};
  if (!troubles.empty())
    return warning(examination.describe(troubles),
                   "set it in the batch script before srun, which hands limits on (--propagate), or at the site", figures);
  return ok(fmt::format("{} open files, {} processes; a program that crashes leaves {} core file", number_text(files),
                        number_text(processes), has_core_files ? "a" : "no"),
            figures);
}

}  // namespace

extern const Check limits;
const Check limits{.name = "limits",
                   .help = "the limits that programs inherit: open files, processes, address space",
                   .place = 260,
                   .run = examine_limits,
                   .of_program = true};

}  // namespace trainrt::cli::doctor::plugins
