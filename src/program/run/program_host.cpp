#include "program/run/program_host.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/process/spawn.hpp"
#include "core/rank_zero.hpp"
#include "program/children/script.hpp"
#include "program/children/start_error.hpp"
#include "program/environments/environment.hpp"
#include "program/run/program_run.hpp"

namespace trainrt::program {

namespace {

Frameworks frameworks_of(const ProgramOptions& options) try {
  return chosen_frameworks(options.environments);
} catch (const UsageError& error) {
  throw UsageError(fmt::format("program.env: {}", error.what()));
}

std::optional<ProgressPattern> progress_of(const ProgramOptions& options) try {
  return options.progress.empty() ? std::optional<ProgressPattern>() : std::optional<ProgressPattern>(options.progress);
} catch (const UsageError& error) {
  throw UsageError(fmt::format("program.progress: {}", error.what()));
}

/// Returns the path of the executable in `options`, which may be in the staged tree. Throws UsageError if it is not
/// found.
std::string required_executable(const ProgramOptions& options, const std::optional<stage::StagedTree>& tree) {
  const auto& name = options.command.front();
  auto executable = tree ? tree->executable(name) : find_executable(name);
  if (executable.empty()) throw UsageError(not_found_in_words(name));
  return executable;
}

/// Returns `options` with the command and the environment variables that the program needs in the staged tree.
ProgramOptions in_tree(ProgramOptions options, const stage::StagedTree& tree) {
  options.command = tree.command_in_tree(std::move(options.command));
  options.variables = tree.variables(inherited_environment());
  return options;
}

/// Returns how long to wait for the first message of a Python program. The wait is shorter than the hang timeout, since
/// a hang is detected only after the wait.
double max_silent_s(double hang_timeout_s) {
  constexpr double default_s = 60;
  return hang_timeout_s > 0 ? std::min(default_s, hang_timeout_s / 2) : default_s;
}

}  // namespace

ProgramHost::ProgramHost(ProgramOptions options) : options_(std::move(options)) {
  if (options_.command.empty()) throw UsageError("train.program is empty; it must be a command");
  if (options_.stage.source.empty()) static_cast<void>(required_executable(options_, {}));
  require_script(options_.command);
  frameworks_ = frameworks_of(options_);
  progress_ = progress_of(options_);
}

void ProgramHost::start(Rendezvous known, Communicator& communicator, const ProgramOptions& options,
                        const std::string& executable) {
  add_node_facts(known, options.hides_gpus);
  known.restarts = starts_++;
  if (options.on_contact) options.on_contact(false);
  known.max_restarts = options.max_restarts;
  known.own_gpus_only = options.own_gpus_only;
  progress_watch_.reset();
  stacks_.note_call("");
  if (progress_) RankZero(known.rank).run([&] { progress_watch_ = std::make_shared<ProgressWatch>(*progress_); });
  decltype(OutputTargets::listener) listener;
  if (progress_watch_)
    listener = [watch = progress_watch_](std::size_t stream, std::string_view bytes) { watch->add(stream, bytes); };
  const auto input = next_input(known.rank);
  running_ = std::make_unique<RunningProgram>(
      communicator,
      RunningProgram::Plan{std::move(known), options, executable, frameworks_, std::move(listener), input.get()});
  become_ready();
}

/// Returns the standard input of the next start of the program. If the program reads its script from standard input,
/// all ranks get the input; otherwise only rank 0 gets it.
Descriptor ProgramHost::next_input(int rank) {
  Descriptor input;
  const auto open = [&] { input = Descriptor(input_.open()); };
  if (reads_script_from_input(options_.command))
    open();
  else
    RankZero(rank).run(open);
  if (!input) drop_input();
  return input;
}

void ProgramHost::become_ready() { ready_s_.store(monotonic_seconds(), std::memory_order_relaxed); }

AwaitedRun ProgramHost::next_run(const Rendezvous& known, Communicator& communicator, std::function<bool()> is_stop_asked) {
  if (!running_) start(known, communicator, options_, required_executable(options_, {}));
  auto next = await_run(*running_, communicator,
                        {.is_between_runs = std::exchange(is_between_runs_, false),
                         .max_silent_s = max_silent_s(options_.hang_timeout_s),
                         .contact_timeout_s = options_.contact_timeout_s,
                         .is_stop_asked = std::move(is_stop_asked)});
  if (running_->first && options_.on_contact) options_.on_contact(true);
  return next;
}

void ProgramHost::answer_finished(const Rendezvous& known, const RequestedRun& run) {
  running_->first.reset();
  is_between_runs_ = true;
  running_->channel().send({{"ok", finished_fields(known, run)}});
}

void ProgramHost::answer_closed() { running_->channel().send({{"ok", Json::object()}}); }

void ProgramHost::train(Context& ctx) {
  if (!running_) ready_s_.store(-1, std::memory_order_relaxed);  // discards the time of an earlier attempt
  stage::Stage stage(ctx, options_.stage);
  const auto staged = stage.tree() ? in_tree(options_, *stage.tree()) : options_;
  const auto executable = required_executable(staged, stage.tree());
  stage.run([&] { serve(ctx, staged, executable); });
}

void ProgramHost::serve(Context& ctx, const ProgramOptions& options, const std::string& executable) {
  is_between_runs_ = false;
  if (!running_) start(rendezvous_of(ctx), ctx.communicator(), options, executable);
  running_->lead_output_to(ctx.run_dir(), ctx.attempt());
  struct EndsProgram {
    std::unique_ptr<RunningProgram>& program;
    bool is_kept = false;
    ~EndsProgram() {
      if (!is_kept) program.reset();
    }
  } end{running_};
  is_between_runs_ =
      !serve_program({ctx, options, progress_, progress_watch_.get(), stacks_, *running_, [this] { become_ready(); }});
  end.is_kept = is_between_runs_;
}

}  // namespace trainrt::program
