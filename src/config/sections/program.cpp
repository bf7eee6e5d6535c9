#include "config/section.hpp"

namespace trainrt::config {

namespace {

/// Checks the config section [program]. With program.has_trainer, each rank process is replaced by the program (exec), so
/// keys that require trainrt as the parent process of the program are refused.
void check_program(const Options& options, const RunSpec& spec) {
  if (!spec.program.has_trainer) return;
  const auto refuse = [&](const std::string& text) { refuse_key(options, "program.has_trainer", text); };
  if (spec.train.program.empty()) refuse("requires a program: add -- COMMAND");
  for (const std::string key : {"program.stage", "program.progress"})
    if (!options.text(key).empty()) refuse("= true cannot be combined with " + key + ": remove one of them");
}

}  // namespace

namespace plugins {

extern const Section program;
const Section program{
    .name = "program",
    .order = 7,
    .help = "environment of train.program, for training on several ranks",
    .keys = {key(&ProgramKeys::environments,
                 {.key = "program.env",
                  .default_value = "all",
                  .help = "frameworks to set environment variables for; `trainrt list` shows them",
                  .form = "`all`, `none`, or names of frameworks, separated by commas"},
                 names_in),
             key(&ProgramKeys::gpus,
                 {.key = "program.gpus",
                  .default_value = "node",
                  .help = "GPUs in CUDA_VISIBLE_DEVICES of a rank. node: the GPUs of all ranks of the node, so that GPUs "
                          "can copy to each other; the rank uses the GPU number LOCAL_RANK. own: only the rank's GPUs",
                  .choices = {"node", "own"}}),
             key(&ProgramKeys::interface,
                 {.key = "program.interface",
                  .help = "network interface (eth0, ib0) of the first rank's node at which the programs connect to each "
                          "other; by default the first interface that all other nodes can reach"}),
             key(&ProgramKeys::stage,
                 {.key = "program.stage",
                  .type = OptionType::path,
                  .help = "folder, tar file or squashfs image (a Python environment, or any tree) that is copied to the "
                          "local storage of every node before the programs start; only rank 0 reads it"}),
             key(&ProgramKeys::stage_dir,
                 {.key = "program.stage_dir",
                  .type = OptionType::path,
                  .help = "folder for program.stage in the local storage of each node; by default $SLURM_TMPDIR or, "
                          "if it is not set, $TMPDIR or /tmp"}),
             key(&ProgramKeys::progress,
                 {.key = "program.progress",
                  .help = "regular expression that extracts the progress of a program that does not use trainrt's client "
                          "from lines of rank 0's output. Its named groups are step (or iteration, or epoch), total "
                          "(number of steps, iterations or epochs in the run), and names of metrics, as in "
                          R"(step (?<step>\d+) loss (?<loss>\S+))"}),
             key(&ProgramKeys::has_trainer,
                 {.key = "program.has_trainer",
                  .type = OptionType::boolean,
                  .default_value = "false",
                  .help = "true for a program that calls trainrt::Trainer. The process of each rank then replaces itself "
                          "by the program (exec), instead of starting the program as a child process. `supervise` and `-n` "
                          "watch the run that the program opens"})},
    .check = check_program};

}  // namespace plugins

}  // namespace trainrt::config
