#include <filesystem>

#include "config/section.hpp"

namespace trainrt::config {

namespace {

std::string absolute_path(const std::string& path) { return std::filesystem::absolute(path).lexically_normal().string(); }

void check_run(const Options& options, const RunSpec& spec) {
  if (!spec.run.resume_from.empty()) return;
  constexpr auto text = "requires run.resume_from_checkpoint, which is missing";
  if (!spec.run.resume_tensors.empty()) refuse_key(options, "run.resume_tensors", text);
  if (spec.run.continues_iterations) refuse_key(options, "run.resume_iteration", text);
}

}  // namespace

namespace plugins {

extern const Section run;
const Section run{
    .name = "run",
    .order = 1,
    .help = "name and directory of the run, and its start",
    .keys =
        {key(&RunKeys::name, {.key = "run.name",
                              .help = "name of the run; its directory is storage_path/name. A start with the name of an "
                                      "existing run resumes that run",
                              .required = true,
                              .form = std::string(plain_name_form),
                              .fits = is_plain_name}),
         key(&RunKeys::storage_path,
             {.key = "run.storage_path",
              .type = OptionType::path,
              .help = "folder that contains the run directories; all nodes must have access to it",
              .required = true},
             absolute_path),
         key(&RunKeys::seed, {.key = "run.seed",
                              .default_value = "1",
                              .help = "seed of all random numbers, which also depend on epoch, step and rank",
                              .range = {.least = 0}}),
         key(&RunKeys::resume_from,
             {.key = "run.resume_from_checkpoint",
              .type = OptionType::path,
              .help = "checkpoint that a new run starts from, or a run directory whose newest checkpoint is used"},
             absolute_path),
         key(&RunKeys::resume_tensors, {.key = "run.resume_tensors",
                                        .help = "names of the tensors to load from resume_from_checkpoint, separated by "
                                                "commas. Names may contain * and ?, and '!NAME' excludes a name. If the "
                                                "key is set, steps count from 0. By default, everything is loaded"}),
         key(&RunKeys::continues_iterations,
             {.key = "run.resume_iteration",
              .default_value = "restart",
              .help = "numbers of reports in a run that starts from resume_from_checkpoint. restart: they begin at 1. "
                      "continue: they follow the number of the last report before that checkpoint"},
             {{"restart", false}, {"continue", true}}),
         key(&RunKeys::accepts_missing_checkpoints,
             {.key = "run.missing_checkpoints",
              .default_value = "refuse",
              .help =
                  "action if saved checkpoints are missing, or all are damaged: refuse fails; accept resumes from the "
                  "newest intact checkpoint, or from the beginning. Set accept only for one start, on the command line"},
             {{"refuse", false}, {"accept", true}}),
         key(&RunKeys::callbacks,
             {.key = "run.callbacks",
              .default_value = "none",
              .help = "callbacks notified of events in the run; `trainrt list` shows them, and [callback.NAME] has their "
                      "options",
              .form = "names of callbacks, separated by commas, or `none`"},
             names_in),
         key(&RunKeys::shown_output,
             {.key = "run.output",
              .default_value = "rank0",
              .help = "ranks whose printed output the terminal shows; all puts [RANK] before each line. The full output of "
                      "each rank is in logs/rank-00000.log and so on"},
             {{"rank0", ShownOutput::first_rank}, {"all", ShownOutput::all_ranks}, {"none", ShownOutput::none}})},
    .check = check_run};

}  // namespace plugins

}  // namespace trainrt::config
