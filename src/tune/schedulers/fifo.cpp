// Runs every trial until its train function ends.
#include "tune/search/scheduler.hpp"

namespace trainrt::tune::plugins {

namespace {

class Fifo final : public Scheduler {
 public:
  bool wants(std::uint64_t, std::int64_t) const override { return false; }
  void observe(const TrialReport&) override {}
  Verdict verdict(const TrialReport&) const override { return {}; }
};

}  // namespace

extern const SchedulerKind fifo;
const SchedulerKind fifo{
    .name = "fifo",
    .title = "FIFO",
    .help = "runs every trial until its train function ends",
    .options = {},
    .open = [](const Options&, const SweepFacts&) -> std::unique_ptr<Scheduler> { return std::make_unique<Fifo>(); }};

}  // namespace trainrt::tune::plugins
