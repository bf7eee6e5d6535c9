#pragma once
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "batch/restart_decision.hpp"
#include "checkpoint/format/listing.hpp"
#include "checkpoint/memory/copy_file.hpp"
#include "checkpoint/save/saver.hpp"
#include "core/descriptor.hpp"
#include "metrics/result_log.hpp"
#include "unit/trainer/recovery/plan.hpp"
#include "unit/trainer/recovery/simulated_rank.hpp"

namespace trainrt::test {

/// The undisturbed run: the bytes of each rank's model after each step, and the metric of each report.
struct Undisturbed {
  std::map<std::int64_t, std::vector<std::string>> bytes;  ///< of each rank, by step
  std::map<std::int64_t, double> loss;                     ///< of rank 0, by step
};

/// A run with copies of its State in memory, whose ranks are simulated and die according to a Plan. Each attempt uses the
/// code of a real run to copy and restore the State, to choose between copy and checkpoint, to save checkpoints, and to
/// write reports. The calls have the order of those in Session.
class SimulatedRun {
 public:
  /// `spec` has an empty run directory.
  SimulatedRun(Plan plan, config::RunSpec spec) : plan_(std::move(plan)), setup_{.spec = std::move(spec)} {
    setup_.file = file_.get();
    setup_.grows = plan_.grows;
    std::filesystem::create_directories(setup_.spec.run_dir);
    if (plan_.has_little_memory) setup_.spec.failure.memory_bytes = 1000;
    compute_undisturbed();
  }

  /// Runs attempts until the run is complete. Returns "", or what was wrong.
  std::string run() {
    for (int deaths = plan_.deaths; error_.empty() && !is_complete_; --deaths) {
      run_attempt(deaths > 0);
      if (error_.empty() && !is_complete_) restart();
    }
    check_reports();
    return error_;
  }
  const SimulatedEvents& events() const { return events_; }

 private:
  void compute_undisturbed() {
    Dice dice(0);
    Simulation simulation(plan_.ranks, dice, [](int, std::string_view) { return Simulation::Fate::lives; });
    SimulatedNetwork network;
    for (std::int64_t step = 0; step <= plan_.steps; ++step)
      undisturbed_.bytes[step].resize(static_cast<std::size_t>(plan_.ranks));
    error_ = simulation.run([&](int rank) {
      SimulatedCommunicator communicator(rank, simulation, network);
      SimulatedModel model(rank, plan_.ranks, plan_.grows);
      for (std::int64_t step = 0; step <= plan_.steps; ++step) {
        if (step > 0) model.train(communicator, step);
        undisturbed_.bytes[step][static_cast<std::size_t>(rank)] = model.bytes();
        if (rank == 0) undisturbed_.loss[step] = model.loss();
      }
    });
  }

  void run_attempt(bool may_kill) {
    ++events_.attempts;
    setup_.network = {};
    begun_ = false;
    finished_ = 0;
    copied_.assign(static_cast<std::size_t>(plan_.ranks), {});
    setup_.checkpoints = checkpoint::numbers_in(setup_.spec.run_dir);
    setup_.private_dir = fmt::format("{}/attempt-{}", setup_.spec.run_dir, events_.attempts);
    std::filesystem::create_directory(setup_.private_dir);
    checkpoint::CopyFile::forget_use(file_.get());
    Killer killer(plan_, may_kill, has_copied_);
    Simulation simulation(plan_.ranks, plan_.dice, [&](int, std::string_view point) {
      limit_reservation(point);
      const auto fate = killer(point);
      events_.kills_of_all += fate == Simulation::Fate::all_die ? 1 : 0;
      return fate;
    });
    const auto error = simulation.run([this](int rank) { train(rank); });
    limit_reservation("");
    events_.steps += simulation.steps();
    fail_if(!error.empty(), error);
    is_complete_ = finished_ == plan_.ranks;
    fail_if(!is_complete_ && !simulation.has_killed(), "an attempt without deaths has not completed the run");
    std::filesystem::remove_all(setup_.private_dir);
    note_copies();
  }

  /// Makes the reservation of memory that begins at `point` fail, if the plan wants that.
  void limit_reservation(std::string_view point) {
    if (std::exchange(is_limited_, false)) setrlimit(RLIMIT_FSIZE, &own_limit_);
    if (point != "reserve_copies" || plan_.reserve_fails_one_in == 0 || !plan_.dice.one_in(plan_.reserve_fails_one_in))
      return;
    getrlimit(RLIMIT_FSIZE, &own_limit_);
    const rlimit low{.rlim_cur = 4096, .rlim_max = own_limit_.rlim_max};
    is_limited_ = setrlimit(RLIMIT_FSIZE, &low) == 0;
    ++events_.failed_reservations;
    floor_ = 0;
  }

  /// The train function of one rank. It makes the same calls as Session.
  void train(int number) {
    SimulatedRank rank(setup_, number);
    restore(rank);
    auto& progress = rank.progress;
    for (;;) {
      if (progress.step() == (progress.iteration() + 1) * plan_.report_every) report(rank);
      if (progress.step() == plan_.steps) break;
      Simulation::self()->pass_time(plan_.step_s / plan_.ranks);
      rank.model.train(rank.communicator, progress.step() + 1);
      progress.complete_step();
      if (plan_.save_every > 0 && progress.step() % plan_.save_every == 0) save(rank);
      copy_if_due(rank);
    }
    if (rank.log) rank.log->sync();
    rank.communicator.barrier();
    check_model(rank, "at the end");
    ++finished_;
  }

  void restore(SimulatedRank& rank) {
    std::optional<trainer::Restoring::Copy> copy;
    if (auto note = rank.copies.begin(rank.state))
      copy = {.note = std::move(*note), .load = [&] { rank.copies.load(rank.state); }};
    const auto restored = rank.restoring.restore(rank.state, checkpoint::Covers::all, copy);
    const auto& progress = rank.progress;
    check_model(rank, restored.is_from_copy ? "after the restore from a copy" : "after the restore");
    if (progress.iteration() > 0) rank.loss = undisturbed_.loss[progress.iteration() * plan_.report_every];
    fail_if(progress.iteration() > 0 && restored.metrics != std::map<std::string, double>{{"loss", rank.loss}},
            "the restored metrics are wrong");
    const bool has_checkpoint = restored.checkpoint.has_value();
    if (rank.communicator.rank() == 0) note_origin(restored.is_from_copy, has_checkpoint, progress.point());
    rank.copies.begin_training(restored.is_from_copy);
    if (rank.communicator.rank() == 0) {
      begun_ = true;
      rank.log.emplace(metrics::ResultLog::open({setup_.spec.run_dir, setup_.private_dir}, progress.iteration()).log);
    }
    rank.communicator.barrier();
  }

  void report(SimulatedRank& rank) {
    auto& progress = rank.progress;
    rank.loss = rank.communicator.all_reduced(rank.communicator.rank() == 0 ? rank.model.loss() : 0.0, Op::sum);
    progress.complete_iteration(progress.iteration() + 1);
    if (rank.log) rank.log->append({.iteration = progress.iteration(), .values = {{"loss", rank.loss}}});
    copy_if_due(rank);
  }

  void copy_if_due(SimulatedRank& rank) {
    if (!rank.copies.is_due(true)) return;
    const auto& progress = rank.progress;
    checkpoint::CopyNote note{.step = progress.step(), .iteration = progress.iteration()};
    if (note.iteration > 0) note.metrics = {{"loss", rank.loss}};
    rank.copies.copy(rank.state, note);
    copied_[static_cast<std::size_t>(rank.communicator.rank())].push_back(note.step);
  }

  void save(SimulatedRank& rank) {
    const auto& progress = rank.progress;
    const auto number = (setup_.checkpoints.empty() ? 0 : setup_.checkpoints.back() + 1) + rank.saves++;
    checkpoint::SaverOptions options{
        .run_dir = setup_.spec.run_dir, .private_dir = setup_.private_dir, .makes_private_dir = false};
    options.writer.staging_bytes = std::uint64_t{1} << 20;
    checkpoint::Meta meta{.number = number, .iteration = progress.iteration(), .step = progress.step()};
    meta.ranks = plan_.ranks;
    meta.attempt = 1;
    if (meta.iteration > 0) meta.metrics = {{"loss", rank.loss}};
    Simulation::self()->run_quietly([&] {
      if (rank.log) rank.log->sync();
      checkpoint::save(rank.state, options, meta, rank.communicator);
    });
  }

  // --- checks ---

  void fail_if(bool is_wrong, const std::string& error) {
    if (is_wrong && error_.empty()) error_ = fmt::format("attempt {}: {}", events_.attempts, error);
  }
  /// Ends the attempt by an error if the State of `rank` is not that of the undisturbed run.
  void check_model(const SimulatedRank& rank, std::string_view when) {
    const auto number = static_cast<std::size_t>(rank.communicator.rank());
    const auto step = rank.progress.step();
    const auto right = undisturbed_.bytes.find(step);
    if (right == undisturbed_.bytes.end() || rank.model.bytes() != right->second[number])
      throw Error(fmt::format("the State of rank {} at step {} is wrong {}", number, step, when));
  }

  /// Checks the point from which an attempt begins, before it is recorded in the memory of the copies.
  void note_origin(bool is_from_copy, bool has_checkpoint, const trainer::RunPoint& point) {
    const auto step = point.step;
    ++(is_from_copy ? events_.from_copy : has_checkpoint ? events_.from_checkpoint : events_.from_start);
    const bool may_be_withdrawn = restored_ >= 3;  // an attempt that died at once may have been counted, or not
    if (step < floor_ && may_be_withdrawn) ++events_.withdrawn;
    fail_if(step < floor_ && !may_be_withdrawn, fmt::format("begins at step {}, but step {} was copied", step, floor_));
    if (!is_from_copy || !(point == origin_)) restored_ = began_ = 0;
    fail_if(began_ >= 3, fmt::format("is the fourth attempt that begins from the copy of step {}", step));
    origin_ = point;
    ++restored_;
    floor_ = is_from_copy && !plan_.grows ? step : 0;  // making room for a larger State removes its copies
  }

  /// Determines the newest copy that all ranks have completed in this attempt.
  void note_copies() {
    if (begun_) ++began_;
    std::size_t complete = copied_.front().size();
    for (const auto& copied : copied_) complete = std::min(complete, copied.size());
    if (complete == 0) return;
    restored_ = began_ = 0;
    origin_ = {};
    if (!plan_.grows) floor_ = std::max(floor_, copied_.front()[complete - 1]);
  }

  void check_reports() {
    const auto records = metrics::read_results(setup_.spec.run_dir);
    fail_if(static_cast<std::int64_t>(records.size()) != plan_.steps / plan_.report_every,
            fmt::format("{} reports are in result.json", records.size()));
    for (std::size_t i = 0; i < records.size(); ++i) {
      const auto number = static_cast<std::int64_t>(i) + 1;
      fail_if(records[i].iteration != number || records[i].number("loss") != undisturbed_.loss[number * plan_.report_every],
              fmt::format("report {} is wrong", number));
    }
  }

  // --- between attempts ---

  /// Decides about the restart as the process that starts the ranks does.
  void restart() {
    ++failures_;
    const bool has_copy = checkpoint::CopyFile::is_in_use(file_.get());
    failures_without_copy_ = has_copy ? 0 : failures_without_copy_ + 1;
    has_copied_ = has_copied_ || has_copy;
    batch::Situation situation{.exit_code = 137,
                               .how = "killed",
                               .failures = failures_,
                               .restarts_at_once = has_copied_ && failures_without_copy_ <= 1};
    if (has_copied_) situation.failures_for_pause = failures_without_copy_;
    const auto decision = batch::decide(situation, {.max_failures = 1000});
    fail_if(decision.action != batch::RestartDecision::Action::restart || decision.wait_s > 60,
            "no restart: " + decision.why);
    fail_if(situation.restarts_at_once && decision.wait_s > 0, "a pause although there is a copy");
    if (plan_.has_damage && plan_.dice.one_in(2)) damage();
  }

  /// Changes one byte of the copies in memory.
  void damage() {
    constexpr off_t begin = 4096;  // of the slots
    const auto end = lseek(file_.get(), 0, SEEK_END);
    if (end <= begin) return;
    const auto at = begin + plan_.dice.below(end - begin);
    char byte = 0;
    if (pread(file_.get(), &byte, 1, at) != 1) return;
    byte = static_cast<char>(byte ^ 0x10);
    fail_if(pwrite(file_.get(), &byte, 1, at) != 1, "cannot damage the copies");
    ++events_.damages;
    floor_ = 0;
  }

  Plan plan_;
  Undisturbed undisturbed_;
  Descriptor file_{memfd_create("copies", MFD_CLOEXEC)};
  AttemptSetup setup_;
  std::string error_;
  SimulatedEvents events_;
  bool is_complete_ = false, has_copied_ = false, is_limited_ = false;
  rlimit own_limit_{};
  int failures_ = 0, failures_without_copy_ = 0;
  // state of the current attempt
  std::vector<std::vector<std::int64_t>> copied_;  // steps of the copies that each rank has completed
  bool begun_ = false;
  int finished_ = 0;
  // state over all attempts
  std::int64_t floor_ = 0;        // the next attempt must not begin at an earlier step
  trainer::RunPoint origin_;      // point at which the last attempt began
  int restored_ = 0, began_ = 0;  // attempts in a row that restored that copy, and that also recorded it
};

}  // namespace trainrt::test
