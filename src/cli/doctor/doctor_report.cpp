#include "cli/doctor/doctor_report.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "cli/terminal/print.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "core/version.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::cli::doctor {

namespace {

/// Prints a line, and flushes the output, because the next check may block.
void print_line(std::string line) {
  std::ranges::replace(line, '\n', ' ');
  print_text(line + "\n");
  std::fflush(stdout);
}

}  // namespace

void Report::begin(const DoctorRanks& ranks) {
  const auto& world = ranks.world();
  about_ = {{"ranks", world.size}, {"nodes", world.node_count}, {"storage", ranks.subject().storage}};
}

void Report::add(std::string_view check, const Finding& finding) {
  ++counts_[static_cast<std::size_t>(finding.grade)];
  if (!prints_) return;
  if (form_ == Form::text)
    return print_line(fmt::format("{:<8} {:<25} {}{}{}", name_of(finding.grade), check, finding.text,
                                  finding.advice.empty() ? "" : "; ", finding.advice));
  findings_.push_back({{"name", check},
                       {"grade", name_of(finding.grade)},
                       {"text", finding.text},
                       {"advice", finding.advice},
                       {"figures", finding.figures}});
}

void Report::end() const {
  if (!prints_) return;
  if (form_ == Form::text) return print_summary();
  Json report = {{"trainrt", version}, {"grade", name_of(worst())}};
  report.update(about_);
  report["checks"] = findings_;
  print_json(report);
  std::fflush(stdout);
}

void Report::log_if_silent(const Error& failure) const {
  if (prints_) return;
  std::this_thread::sleep_for(std::chrono::seconds(5));
  log::error(trainer::with_advice(failure));
}

Grade Report::worst() const {
  if (count(Grade::error) > 0) return Grade::error;
  return count(Grade::warning) > 0 ? Grade::warning : Grade::ok;
}

void Report::print_summary() const {
  static constexpr std::array<std::string_view, 3> conclusions = {
      "a run can start here", "a run can start here; the lines with `warning` describe possible improvements",
      "fix the problems in the lines with `error` before you start a run here"};
  print_line(fmt::format("{} ok, {}, {}: {}", count(Grade::ok), counted(count(Grade::warning), "warning"),
                         counted(count(Grade::error), "error"), conclusions[static_cast<std::size_t>(worst())]));
}

}  // namespace trainrt::cli::doctor
