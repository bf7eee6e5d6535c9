#include <trainrt/error.hpp>

#include "config/section.hpp"

namespace trainrt::config {

namespace {

void check_train(const Options& options, const RunSpec& spec) {
  const bool has_function = !spec.train.function.empty() || !spec.train.library.empty();
  if (!has_function && spec.train.program.empty())
    throw UsageError("the key train.function (or train.library, or train.program) is missing: what to run");
  if (has_function && !spec.train.program.empty())
    throw UsageError(options.find("train.program")->origin +
                     ": train.program stands in the place of train.function and train.library: give one of them");
}

}  // namespace

namespace plugins {

extern const Section train;
const Section train{
    .name = "train",
    .order = 2,
    .help = "what to run: a function, or a program",
    .keys = {key(&TrainKeys::function, {.key = "train.function",
                                        .help = "the train function; `trainrt list` shows them (with train.library: its "
                                                "first)"}),
             key(&TrainKeys::library, {.key = "train.library",
                                       .type = OptionType::path,
                                       .help = "a shared library with a train function of your own"}),
             key(&TrainKeys::program, {.key = "train.program",
                                       .help = "any executable with its arguments, started on every rank: python3 train.py "
                                               "(as it is, or with `import trainrt` in it)"}),
             key(&TrainKeys::stop_signal,
                 {.key = "train.stop_signal",
                  .default_value = "TERM",
                  .help = "what a program that does not use trainrt's client gets when the run stops",
                  .choices = {"TERM", "INT", "HUP", "USR1", "USR2"}}),
             key(&TrainKeys::stop_timeout_s, {.key = "train.stop_timeout",
                                              .default_value = "30",
                                              .help = "how long a program may take to end after a stop; then it is killed",
                                              .range = any_time,
                                              .unit = "seconds"})},
    .check = check_train};

}  // namespace plugins

}  // namespace trainrt::config
