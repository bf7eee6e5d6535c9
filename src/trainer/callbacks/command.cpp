// The callback "command" runs shell commands at events of a run, for example to archive a checkpoint or to send a mail.
#include <fmt/format.h>

#include "core/output/log.hpp"
#include "core/process/child_process.hpp"
#include "core/text/text.hpp"
#include "trainer/events/callback_kind.hpp"

namespace trainrt::trainer::plugins {

namespace {

class Command final : public Callback {
 public:
  explicit Command(const Options& options) : options_(options) {}
  std::string name() const override { return "command"; }

  void on_start(const RunInfo& info) override { run_dir_ = info.run_dir; }
  void on_checkpoint(const ResultCheckpoint& checkpoint) override { run("on_checkpoint", checkpoint.path); }
  void on_failure(const RunFailure& failure) override { run("on_failure", failure.error); }
  void on_finish(const Result& result) override { run("on_finish", result.state); }

 private:
  /// Runs the shell command that the config sets for `event`. $1 of the command is the run directory, $2 is `argument`. If
  /// the command fails, logs a warning, and the run continues.
  void run(const std::string& event, const std::string& argument) const {
    const auto command = options_.text(event);
    if (command.empty()) return;
    const auto done = run_child({"/bin/sh", "-c", command, event, run_dir_, argument}, options_.real("timeout"),
                                ChildErrors::with_output);
    if (!done)
      log::warning(fmt::format("[callback.command] the command of {} took longer than {} s and was killed", event,
                               options_.text("timeout")));
    else if (done->exit_code != 0)
      log::warning(fmt::format("[callback.command] the command of {} exited with {}: {}", event, done->exit_code,
                               first_line(done->text)));
  }

  Options options_;
  std::string run_dir_;
};

OptionSpec command_for(const char* key, const char* argument) {
  return {.key = key, .help = fmt::format("command for /bin/sh; $1 is the run directory, $2 is {}", argument)};
}

}  // namespace

extern const CallbackKind command;
const CallbackKind command{
    .name = "command",
    .help = "runs shell commands at checkpoints, after a failure and at the end of the run; the training waits for them",
    .options = {command_for("on_checkpoint", "the committed checkpoint directory"),
                command_for("on_failure", "the error message"),
                command_for("on_finish", "the state: finished or stopped"),
                {.key = "timeout",
                 .type = OptionType::real,
                 .default_value = "60",
                 .help = "maximum duration of a command, which is then killed",
                 .range = any_time,
                 .unit = "seconds"}},
    .open = [](const Options& options) -> std::unique_ptr<Callback> { return std::make_unique<Command>(options); }};

}  // namespace trainrt::trainer::plugins
