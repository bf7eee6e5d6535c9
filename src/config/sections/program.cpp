#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "config/section.hpp"

namespace trainrt::config {

namespace {

std::vector<std::string> names_of_environments(const std::string& text) {
  return text == "none" ? std::vector<std::string>() : words_in(text);
}

/// What trainrt does for a program that it starts, and cannot do for one that it becomes.
void check_program(const Options& options, const RunSpec& spec) {
  if (!spec.program.has_trainer) return;
  const auto& origin = options.find("program.has_trainer")->origin;
  if (spec.train.program.empty())
    throw UsageError(fmt::format("{}: program.has_trainer is for programs, and there is none: give -- COMMAND", origin));
  for (const auto* key : {"program.stage", "program.progress"})
    if (!options.text(key).empty())
      throw UsageError(
          fmt::format("{}: {} is for a program that trainrt starts, and with program.has_trainer a rank "
                      "becomes the program: leave one of them out",
                      origin, key));
}

}  // namespace

namespace plugins {

extern const Section program;
const Section program{
    .name = "program",
    .order = 7,
    .help = "what train.program finds in its environment, to train on several ranks",
    .keys =
        {key(&ProgramKeys::environments,
             {.key = "program.env",
              .default_value = "all",
              .help = "the frameworks whose variables are set; `trainrt list` shows them",
              .form = "all, none, or names of frameworks, separated by commas"},
             names_of_environments),
         key(&ProgramKeys::gpus,
             {.key = "program.gpus",
              .default_value = "node",
              .help =
                  "the GPUs in CUDA_VISIBLE_DEVICES: node: those of all ranks of the node, so that they can copy to each "
                  "other, and number LOCAL_RANK is the rank's own; own: the rank's",
              .choices = {"node", "own"}}),
         key(&ProgramKeys::interface,
             {.key = "program.interface",
              .help = "the network interface of the first rank's node whose address the programs meet at (eth0, ib0); "
                      "without it the first that all other nodes reach"}),
         key(&ProgramKeys::stage,
             {.key = "program.stage",
              .type = OptionType::path,
              .help = "a folder, a tar or an image of squashfs (a Python environment, or any tree) that every node gets on "
                      "its own storage before the programs start; rank 0 alone reads it"}),
         key(&ProgramKeys::stage_dir,
             {.key = "program.stage_dir",
              .type = OptionType::path,
              .help = "the folder of each node's own storage for it; without it $SLURM_TMPDIR, else $TMPDIR, else /tmp"}),
         key(&ProgramKeys::progress,
             {.key = "program.progress",
              .help = "a regular expression that finds the progress of a program without trainrt's client in lines of rank "
                      "0's output, by groups with names: step (or iteration, or epoch), total (how many of them), and "
                      "metrics, as in "
                      R"(step (?<step>\d+) loss (?<loss>\S+))"}),
         key(&ProgramKeys::has_trainer,
             {.key = "program.has_trainer",
              .type = OptionType::boolean,
              .default_value = "false",
              .help = "the program calls trainrt::Trainer, and is itself a rank: what starts ranks starts it in trainrt's "
                      "place, and `supervise` and `-n` watch over the run that it opens"})},
    .check = check_program};

}  // namespace plugins

}  // namespace trainrt::config
