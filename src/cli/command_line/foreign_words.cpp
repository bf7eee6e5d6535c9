#include "cli/command_line/foreign_words.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace trainrt::cli {

namespace {

struct Advice {
  std::string_view words;  ///< separated by blanks
  std::string_view text;
};

constexpr Advice words_of_other_tools[] = {
    {"start train fit submit launch exec execute job",
     "to start or resume a run: trainrt --config FILE, or trainrt -- PROGRAM ARGS"},
    {"resume continue restart retry rerun",
     "the command that started a run also resumes it: trainrt --config FILE, or trainrt -- PROGRAM ARGS"},
    {"requeue",
     "trainrt supervise requeues its job when the run stops before it has finished; to requeue a job: scontrol requeue "
     "JOB"},
    {"status state show info describe metrics summary",
     "to show a run: trainrt result RUN_DIR; the runs in a folder: trainrt result FOLDER; a sweep: trainrt tune status "
     "DIR"},
    {"diff compare", "to compare the runs in a folder: trainrt result FOLDER; their curves: trainrt plot RUN_DIR RUN_DIR"},
    {"ls ps runs jobs history",
     "to show the runs in a folder: trainrt result FOLDER; train functions and plug-ins: trainrt list"},
    {"logs log tail output", "the output of each rank is in RUN_DIR/logs/rank-*.log; to watch a run: trainrt top RUN_DIR"},
    {"view curves curve graph chart draw",
     "to draw the curves of runs: trainrt plot RUN_DIR; to write one HTML page: trainrt report RUN_DIR"},
    {"page html dashboard",
     "to write one HTML page about runs: trainrt report RUN_DIR; to watch a run: trainrt top RUN_DIR"},
    {"watch monitor follow", "to watch a run: trainrt top RUN_DIR"},
    {"checkpoint checkpoints ckpt",
     "to show the checkpoints of a run: trainrt result RUN_DIR; the tensors of one: trainrt inspect CHECKPOINT"},
    {"stop cancel kill pause abort",
     "to stop a run with a checkpoint: scancel --signal=USR1 JOB for a job step of srun, scancel JOB for a job, or kill "
     "-USR1 PID for a process of the run"},
    {"version", "to show the versions of trainrt and its libraries: trainrt --version"},
    {"init new create config template",
     "to show a config with all keys: trainrt help config; the smallest config: trainrt help run"},
    {"convert",
     "to convert a dataset: trainrt data convert SOURCE -o FILE; a checkpoint: trainrt export CHECKPOINT -o FILE"},
    {"bench benchmark", "to measure how fast a dataset is read: trainrt data bench SOURCE"},
    {"serve", "trainrt has no service for models; to apply a model to a dataset: trainrt predict RUN_DIR -o FILE"},
    {"best", "to show the best trial of a sweep: trainrt tune best DIR; the best report of a run: trainrt result RUN_DIR"},
    {"eval evaluate infer inference apply", "to apply a trained model to a dataset: trainrt predict RUN_DIR -o FILE"},
    {"test validate dry-run",
     "to validate a config: trainrt check --config FILE; to apply a trained model: trainrt predict RUN_DIR -o FILE"},
    {"search sweep hpo trials", "to search hyperparameters: trainrt tune --config FILE"},
    {"keys functions formats plugins", "to show train functions, config keys and plug-ins: trainrt list"},
    {"srun mpiexec mpirun", "put the launcher before trainrt: srun trainrt --config FILE"},
    {"torchrun accelerate deepspeed horovodrun",
     "trainrt starts the program on every rank in place of this launcher: srun trainrt -- python3 train.py, or on this "
     "machine trainrt -n 2 -- python3 train.py"}};

constexpr Advice options_of_other_tools[] = {
    {"--nproc_per_node --nproc-per-node --nproc -np --np --num_processes --num-processes --num_proc --ntasks --num_workers "
     "--num-workers --workers --ranks --world_size --world-size -N -j",
     "to start N ranks on this machine: trainrt -n N -- PROGRAM ARGS; on several nodes, srun sets the number of ranks: "
     "srun --nodes=2 --ntasks=8 trainrt -- PROGRAM ARGS"},
    {"--nnodes --nodes --num_nodes --num_machines",
     "the options of srun or sbatch set the number of nodes: srun --nodes=2 --ntasks=8 trainrt -- PROGRAM ARGS"},
    {"--resume --continue --restart --auto-resume --auto_resume",
     "the command that started a run also resumes it, without an option"},
    {"-c -f -C --conf --cfg --config-file --config_file --configfile", "the option for a config is --config FILE"},
    {"-V -v --versions", "to show the versions of trainrt and its libraries: trainrt --version"}};

std::string_view advice_in(std::span<const Advice> table, std::string_view word) {
  const auto sought = " " + std::string(word) + " ";
  const auto found = std::ranges::find_if(table, [&](const Advice& advice) {
    return (" " + std::string(advice.words) + " ").find(sought) != std::string::npos;
  });
  return found == table.end() ? std::string_view() : found->text;
}

}  // namespace

std::string_view advice_for_word(std::string_view word) { return advice_in(words_of_other_tools, word); }

std::string_view advice_for_option(std::string_view option) { return advice_in(options_of_other_tools, option); }

}  // namespace trainrt::cli
