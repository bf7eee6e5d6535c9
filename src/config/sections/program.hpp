#pragma once
#include <string>
#include <vector>

namespace trainrt::config {

/// Values of the config section [program]: the environment of a program that runs on each rank.
struct ProgramKeys {
  std::vector<std::string> environments;  ///< names of the frameworks whose environment variables are set, or {"all"}
  /// GPUs in CUDA_VISIBLE_DEVICES: "node" (those of all ranks on the node) or "own" (those of this rank)
  std::string gpus;
  /// network interface at which the programs connect to each other; "": the first that all other nodes can reach
  std::string interface;
  std::string stage;  ///< folder, tar file or image that is copied to the local storage of each node; "": nothing is copied
  std::string stage_dir;     ///< directory for `stage` in the local storage of each node; "": the node's default
  std::string progress;      ///< regular expression that finds progress in the output; "": the output is not searched
  bool has_trainer = false;  ///< true: the program calls trainrt::Trainer, and each rank process is replaced by the program
};

}  // namespace trainrt::config
