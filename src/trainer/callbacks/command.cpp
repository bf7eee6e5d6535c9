// Runs a command of the user's: to copy a checkpoint to an archive, or to tell somebody.
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
  /// A command that fails is said, and harms no run.
  void run(const std::string& event, const std::string& about) const {
    const auto command = options_.text(event);
    if (command.empty()) return;
    const auto done =
        run_child({"/bin/sh", "-c", command, event, run_dir_, about}, options_.real("timeout"), ChildErrors::with_output);
    if (!done)
      log::warning(
          fmt::format("[callback.command] {} took longer than {} s and was killed", event, options_.text("timeout")));
    else if (done->exit_code != 0)
      log::warning(
          fmt::format("[callback.command] {} ended with exit {}: {}", event, done->exit_code, first_line(done->text)));
  }

  Options options_;
  std::string run_dir_;
};

OptionSpec command_for(const char* key, const char* about) {
  return {.key = key, .help = fmt::format("a command for /bin/sh; $1 is the run directory, $2 {}", about)};
}

}  // namespace

extern const CallbackKind command;
const CallbackKind command{
    .name = "command",
    .help = "runs a command at each checkpoint, at a failure, at the end; training waits for it",
    .options = {command_for("on_checkpoint", "the checkpoint that was committed"),
                command_for("on_failure", "what went wrong"),
                command_for("on_finish", "finished or stopped"),
                {.key = "timeout",
                 .type = OptionType::real,
                 .default_value = "60",
                 .help = "how long it may take; then it is killed",
                 .range = any_time,
                 .unit = "seconds"}},
    .open = [](const Options& options) -> std::unique_ptr<Callback> { return std::make_unique<Command>(options); }};

}  // namespace trainrt::trainer::plugins
