// Prints the decisions of a scheduler of trainrt: `tune_decisions NAME TRIALS SEED [key=value ...]`, with these lines on
// its standard input:
//   report TRIAL ITERATION SCORE    a report: continue, pause or stop the trial?
//   paused TRIAL                    how does the paused trial continue?
//   over TRIAL                      the trial is done
// Each answer is a line: go, stop, pause, clone DONOR, or ok.
#include <iostream>
#include <string>

#include "core/text/text.hpp"
#include "tune/search/scheduler.hpp"

using namespace trainrt;
using namespace trainrt::tune;

namespace {

std::unique_ptr<Scheduler> opened(int argc, char** argv) {
  const auto& kind = find_plugin(scheduler_table(), argv[1], "scheduler");
  Options options;
  for (int i = 4; i < argc; ++i) {
    const std::string word = argv[i];
    const auto at = word.find('=');
    options.set(word.substr(0, at), {word.substr(at + 1), "command line"});
  }
  return kind.open(checked(options, kind.options, "[tune]"), {std::stoull(argv[3]), std::stoull(argv[2])});
}

std::string answer(const Verdict& verdict) {
  switch (verdict.kind) {
    case Verdict::Kind::stop:
      return "stop";
    case Verdict::Kind::pause:
      return "pause";
    case Verdict::Kind::clone:
      return "clone " + std::to_string(verdict.donor);
    default:
      return "go";
  }
}

std::string told(Scheduler& scheduler, const std::string& what, std::uint64_t trial) {
  if (what == "paused") return answer(scheduler.verdict_on_paused(trial));
  if (what == "over") {
    scheduler.forget(trial);
    return "ok";
  }
  TrialReport report{trial};
  std::cin >> report.at.iteration >> report.score;
  if (!scheduler.wants(trial, report.at.iteration)) return "go";
  const auto verdict = scheduler.verdict(report);
  scheduler.observe(report);
  return answer(verdict);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return EXIT_FAILURE;
  const auto scheduler = opened(argc, argv);
  std::string what;
  for (std::uint64_t trial = 0; std::cin >> what >> trial;) std::cout << told(*scheduler, what, trial) << std::endl;
}
