#include "frameworks/program/program.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/first_rank.hpp"
#include "core/host.hpp"
#include "frameworks/program/activity_meter.hpp"
#include "frameworks/program/arrangement.hpp"
#include "frameworks/program/conversation.hpp"
#include "frameworks/program/endings.hpp"
#include "frameworks/program/environment.hpp"
#include "frameworks/program/idle_programs.hpp"
#include "frameworks/program/program_fell.hpp"
#include "frameworks/program/progress_watch.hpp"
#include "frameworks/program/script.hpp"

namespace trainrt::program {

namespace {

using Clock = std::chrono::steady_clock;

using Progress = std::optional<ProgressPattern>;

/// Rank 0's; nothing on the others.
std::shared_ptr<ProgressWatch> progress_watch(const Context& ctx, const Progress& progress) {
  std::shared_ptr<ProgressWatch> watch;
  if (progress) FirstRank(ctx.world_rank()).does([&] { watch = std::make_shared<ProgressWatch>(*progress); });
  return watch;
}

/// The program of one rank, from its start to its end.
class ProgramRun {
 public:
  ProgramRun(Context& ctx, const ProgramOptions& options, const std::string& executable, const Frameworks& frameworks,
             const Progress& progress, Meeting known, LiveStacks& stacks)
      : ctx_(ctx),
        options_(options),
        stacks_(stacks),
        progress_(progress),
        progress_watch_(progress_watch(ctx, progress)),
        arrangement_(ctx.communicator(), std::move(known), frameworks, options.interface),
        channel_(theirs_),
        child_(plan(executable, frameworks)),
        activity_(child_.pid(), options.hang_timeout_s) {
    theirs_ = {};
    arrangement_.program_has_started(child_.pid());
  }

  void run() {
    try {
      if (all_connect()) Conversation(ctx_, channel_, child_, options_.contact_timeout_s, stacks_).hold(std::move(*first_));
    } catch (const ProgramFell&) {
      throw;  // at once: the others are killed
    } catch (const std::exception&) {
      child_.ends_within(0.5);  // it may have something to say
      throw;
    } catch (...) {
      let_end();  // the run stops
      throw;
    }
  }

 private:
  /// How the programs of all ranks stand, before all are connected: how many of each.
  enum Standing : std::size_t { running, connected, ended, failed, standings };
  static constexpr std::size_t idle = standings;      // how many of those that run
  static constexpr std::size_t seen = standings + 1;  // whether rank 0's has shown progress
  using Census = std::array<std::int64_t, standings + 2>;

  ChildPlan plan(const std::string& executable, const Frameworks& frameworks) const {
    return {
        .executable = executable,
        .words = options_.command,
        .environment = program_environment(ctx_, theirs_.number(), arrangement_.meeting(), frameworks, options_.variables),
        .socket = theirs_.number(),
        .other_sockets = arrangement_.sockets(),
        .stop_signal = options_.stop_signal,
        .output = plan_of_output(),
        .title = fmt::format("attempt {}, rank {} on {}", ctx_.attempt(), ctx_.world_rank(), host_name())};
  }

  OutputPlan plan_of_output() const {
    auto plan = output_plan(options_.shown, ctx_.run_dir(), ctx_.world_rank());
    if (progress_watch_)
      plan.listener = [watch = progress_watch_](std::size_t stream, std::string_view bytes) { watch->add(stream, bytes); };
    return plan;
  }

  /// Waits until the programs of all ranks have sent their first message, or have ended without one (false). The ranks go
  /// on together, look by look, so that a run whose programs send nothing can stop too.
  bool all_connect() {
    constexpr double most_s = 0.25;
    std::optional<Clock::time_point> first_message;  // when, of any of them
    for (double look_s = 0.01;; look_s = std::min(2 * look_s, most_s)) {
      if (!first_) first_ = channel_.receive(look_s);
      const auto census = census_with(standing());
      if (progress_ && census[connected] > 0) refuse_to_observe();
      if (census[seen] > 0) ctx_.observe(progress_->position(), shared_progress(ctx_.communicator(), seen_));
      if (census[failed] > 0) stop_or_fail();
      if (census[idle] > 0 && census[idle] + census[ended] == ctx_.world_size()) fail_as_idle();
      if (census[connected] == ctx_.world_size()) return true;
      if (census[ended] == ctx_.world_size()) return look_for_stop(0.3), false;
      if (census[ended] > 0 && census[connected] > 0) refuse_mixture(census);
      if (census[connected] > 0 && !first_message) first_message = Clock::now();
      if (first_message && !first_) require_message_since(*first_message);
      ctx_.stop_point();
    }
  }

  /// One that is frozen, or trains without the client, would hold the others for ever.
  void require_message_since(Clock::time_point first_message) const {
    if (std::chrono::duration<double>(Clock::now() - first_message).count() < options_.contact_timeout_s) return;
    throw Error(
        fmt::format("the program of rank {} (train.program, process {}) has said nothing for {:g} s "
                    "(failure.collective_timeout), while those of other ranks have called trainrt.context(): it hangs, or "
                    "does not use trainrt's client",
                    ctx_.world_rank(), child_.pid(), options_.contact_timeout_s));
  }

  Standing standing() {
    if (first_) return connected;
    const auto& ending = child_.ending();
    if (!ending) return running;
    first_ = channel_.receive(0);  // its last words
    if (first_) return connected;
    return ending->is_good() ? ended : failed;
  }

  Census census_with(Standing mine) {
    Census census{};
    census[mine] = 1;
    if (mine == running && activity_.is_idle(child_.output_bytes())) census[idle] = 1;
    if (progress_watch_) look_for_progress(mine != running);
    if (seen_) census[seen] = 1;
    ctx_.communicator().all_reduce(census, Op::sum, "how the programs stand");
    return census;
  }

  void look_for_progress(bool has_ended) {
    if (has_ended) static_cast<void>(child_.output_tail());  // all of it has been read then
    const bool gave_up = progress_watch_->has_given_up();
    seen_ = progress_watch_->newest(has_ended);
    if (!gave_up && progress_watch_->has_given_up()) ctx_.end_observation();
  }

  /// The batch system signals programs too, and may have done so before this process heard of it: then the end of a program
  /// that is not connected, a good or a bad one, is the answer to a stop.
  void look_for_stop(double seconds) {
    constexpr std::chrono::milliseconds pause(100);
    for (auto left = std::chrono::duration<double>(seconds); left.count() > 0; left -= pause) {
      ctx_.stop_point();
      std::this_thread::sleep_for(pause);
    }
  }

  /// Of all ranks together: when one program falls others fall with it, and the run's error is to name the first.
  [[noreturn]] void stop_or_fail() {
    constexpr double signal_comes_within_s = 0.5;  // the program's and the rank's are sent at the same moment
    look_for_stop(signal_comes_within_s);
    const auto endings = gather_endings(ctx_.communicator(), child_);
    const int first = first_to_fall(endings);
    throw ProgramFell(fall_in_words(endings, first, share_output(ctx_.communicator(), child_, first)));
  }

  /// Of all ranks together: they wait for each other, or for something that does not come.
  [[noreturn]] void fail_as_idle() {
    throw ProgramFell(examine_idle(ctx_, child_, options_.hang_folder(ctx_.attempt()), activity_.quiet_s()).text);
  }

  [[noreturn]] static void refuse_to_observe() {
    throw UsageError(
        "program.progress is for programs without trainrt's client, and train.program has called trainrt.context(): it "
        "reports by itself. Leave program.progress out");
  }

  [[noreturn]] static void refuse_mixture(const Census& census) {
    throw Error(
        fmt::format("train.program: the programs of {} ranks use trainrt's client, and those of {} ended without it",
                    census[connected], census[ended]));
  }

  /// A program that is connected gets a message that the run stops; another gets the signal.
  void let_end() {
    if (first_)
      channel_.send({{"stop", "the run stops here, and everything is saved"}});
    else
      child_.stop();
    const auto has_ended = [this] { return child_.ending() && !(child_.ended_by_stop_signal() && channel_.is_open()); };
    const auto deadline = Clock::now() + std::chrono::duration<double>(options_.stop_timeout_s);
    while (!has_ended() && Clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (has_ended()) return;
    fmt::print(stderr,
               "trainrt: the program of rank {} did not end within {:g} s after the stop (train.stop_timeout): killed\n",
               ctx_.world_rank(), options_.stop_timeout_s);
  }

  Context& ctx_;
  const ProgramOptions& options_;
  LiveStacks& stacks_;
  const Progress& progress_;
  std::shared_ptr<ProgressWatch> progress_watch_;
  std::optional<SeenNumbers> seen_;  ///< by rank 0, at the last look
  Arrangement arrangement_;          ///< its ports are kept as long as the program runs
  Descriptor theirs_;
  Channel channel_;
  Child child_;
  ActivityMeter activity_;
  std::optional<Message> first_;  ///< that the program said, also when it has been answered
};

Frameworks frameworks_of(const ProgramOptions& options) try {
  return chosen_frameworks(options.environments);
} catch (const UsageError& error) {
  throw UsageError(fmt::format("program.env: {}", error.what()));
}

Progress progress_of(const ProgramOptions& options) try {
  return options.progress.empty() ? Progress() : Progress(options.progress);
} catch (const UsageError& error) {
  throw UsageError(fmt::format("program.progress: {}", error.what()));
}

/// The path of the program. A tree that is staged may bring it: then it cannot be looked for before.
std::string required_executable(const ProgramOptions& options, const std::optional<stage::StagedTree>& tree) {
  const auto& name = options.command.front();
  auto executable = tree ? tree->executable(name) : find_executable(name);
  if (executable.empty())
    throw UsageError(fmt::format("train.program: there is no executable '{}' {}", name,
                                 name.find('/') == std::string::npos ? "on the PATH of this node" : "on this node"));
  return executable;
}

ProgramOptions in_tree(ProgramOptions options, const stage::StagedTree& tree) {
  options.command = tree.command_in_tree(std::move(options.command));
  options.variables = tree.variables(inherited_environment());
  return options;
}

}  // namespace

ProgramFunction program_function(ProgramOptions options) {
  if (options.command.empty()) throw UsageError("train.program is empty: it must name a program");
  if (options.stage.source.empty()) static_cast<void>(required_executable(options, {}));
  require_script(options.command);
  auto frameworks = frameworks_of(options);
  auto progress = progress_of(options);
  auto stacks = std::make_shared<LiveStacks>();
  auto train = [options = std::move(options), frameworks = std::move(frameworks), progress = std::move(progress), stacks,
                starts = 0](Context& ctx) mutable {
    auto known = known_of(ctx, options.hides_gpus);
    known.restarts = starts++;
    known.max_restarts = options.max_restarts;
    known.own_gpus_only = options.own_gpus_only;
    stage::Stage stage(ctx, options.stage);
    const auto staged = stage.tree() ? in_tree(options, *stage.tree()) : options;
    const auto executable = required_executable(staged, stage.tree());
    stage.run([&] { ProgramRun(ctx, staged, executable, frameworks, progress, std::move(known), *stacks).run(); });
  };
  return {std::move(train), [stacks] { return stacks->ask(); }};
}

}  // namespace trainrt::program
