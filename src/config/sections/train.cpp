#include <trainrt/error.hpp>

#include "config/section.hpp"

namespace trainrt::config {

namespace {

void check_train(const Options& options, const RunSpec& spec) {
  const bool has_function = !spec.train.function.empty() || !spec.train.library.empty();
  if (!has_function && spec.train.program.empty())
    throw UsageError("the config names nothing to run; set train.function, train.library or train.program");
  if (has_function && !spec.train.program.empty())
    refuse_key(options, "train.program", "cannot be combined with train.function or train.library: remove one of them");
}

}  // namespace

namespace plugins {

extern const Section train;
const Section train{
    .name = "train",
    .order = 2,
    .help = "train function or program to run",
    .keys = {key(&TrainKeys::function, {.key = "train.function",
                                        .help = "name of the train function; `trainrt list` shows them. By default the "
                                                "first train function of train.library"}),
             key(&TrainKeys::library, {.key = "train.library",
                                       .type = OptionType::path,
                                       .help = "shared library with a train function of your own"}),
             key(&TrainKeys::program,
                 {.key = "train.program",
                  .help = "executable with its arguments, started on every rank: python3 train.py (unchanged, or with "
                          "`import trainrt`)"}),
             key(&TrainKeys::stop_signal,
                 {.key = "train.stop_signal",
                  .default_value = "TERM",
                  .help = "signal that a stop sends to a program that does not use trainrt's client",
                  .choices = {"TERM", "INT", "HUP", "USR1", "USR2"}}),
             key(&TrainKeys::stop_timeout_s, {.key = "train.stop_timeout",
                                              .default_value = "30",
                                              .help = "maximum time that a program may take to exit after a stop; then it "
                                                      "is killed",
                                              .range = any_time,
                                              .unit = "seconds"})},
    .check = check_train};

}  // namespace plugins

}  // namespace trainrt::config
