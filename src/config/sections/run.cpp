#include <filesystem>

#include <trainrt/error.hpp>

#include "config/section.hpp"

namespace trainrt::config {

namespace {

std::string absolute_path(const std::string& path) { return std::filesystem::absolute(path).lexically_normal().string(); }

std::vector<std::string> names_of_callbacks(const std::string& text) {
  return text == "none" ? std::vector<std::string>() : words_in(text);
}

void check_run(const Options& options, const RunSpec& spec) {
  if (!spec.run.resume_tensors.empty() && spec.run.resume_from.empty())
    throw UsageError(options.find("run.resume_tensors")->origin +
                     ": run.resume_tensors says what to take of run.resume_from_checkpoint, which is missing");
  if (spec.run.counts_on && spec.run.resume_from.empty())
    throw UsageError(options.find("run.resume_iteration")->origin +
                     ": run.resume_iteration = continue goes on from run.resume_from_checkpoint, which is missing");
}

}  // namespace

namespace plugins {

extern const Section run;
const Section run{
    .name = "run",
    .order = 1,
    .help = "which run it is, and where it starts",
    .keys =
        {key(&RunKeys::name, {.key = "run.name",
                              .help = "what a restart continues; the run directory is storage_path/name",
                              .required = true,
                              .form = std::string(plain_name_form),
                              .fits = is_plain_name}),
         key(&RunKeys::storage_path,
             {.key = "run.storage_path",
              .type = OptionType::path,
              .help = "folder of run directories, seen by all nodes",
              .required = true},
             absolute_path),
         key(&RunKeys::seed, {.key = "run.seed",
                              .default_value = "1",
                              .help = "all random numbers derive from seed, epoch, step and worker",
                              .range = {.least = 0}}),
         key(&RunKeys::resume_from,
             {.key = "run.resume_from_checkpoint",
              .type = OptionType::path,
              .help = "a new run starts from this checkpoint, or from the newest of this run directory"},
             absolute_path),
         key(&RunKeys::resume_tensors,
             {.key = "run.resume_tensors",
              .help = "take only these of it: names with * and ?, separated by commas, '!NAME' keeps out; steps count "
                      "from 0 then"}),
         key(&RunKeys::counts_on,
             {.key = "run.resume_iteration",
              .default_value = "restart",
              .help = "whether its reports are counted anew, or follow those of that run up to the checkpoint"},
             {{"restart", false}, {"continue", true}}),
         key(&RunKeys::accepts_missing_checkpoints,
             {.key = "run.missing_checkpoints",
              .default_value = "refuse",
              .help = "whether to go on, from the newest that is there or from the beginning, if checkpoints that an "
                      "attempt had saved are missing or all are damaged; accept is given once, on the command line"},
             {{"refuse", false}, {"accept", true}}),
         key(&RunKeys::callbacks,
             {.key = "run.callbacks",
              .default_value = "none",
              .help = "who is told what happens in the run: `trainrt list` shows the callbacks, whose options are in "
                      "[callback.NAME]",
              .form = "names of callbacks, separated by commas, or none"},
             names_of_callbacks),
         key(&RunKeys::shown_output,
             {.key = "run.output",
              .default_value = "rank0",
              .help =
                  "of which ranks the terminal shows what the train function or train.program prints; all: line by line, "
                  "behind [RANK]. logs/rank-00000.log and so on have each rank's whole"},
             {{"rank0", ShownOutput::first_rank}, {"all", ShownOutput::all_ranks}, {"none", ShownOutput::none}})},
    .check = check_run};

}  // namespace plugins

}  // namespace trainrt::config
