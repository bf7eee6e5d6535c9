#pragma once
#include <string>
#include <vector>

namespace trainrt::config {

/// The values of [program]: the environment of a program on each rank.
struct ProgramKeys {
  std::vector<std::string> environments;  ///< names of frameworks, or {"all"}
  std::string gpus;                       ///< "node" or "own"
  std::string interface;                  ///< "": any that the other nodes can reach
  std::string stage;                      ///< path; "": nothing is staged
  std::string stage_dir;                  ///< "": each node's default
  std::string progress;                   ///< regular expression; "": the output is not searched
  bool has_trainer = false;               ///< the program calls trainrt::Trainer, and each rank becomes the program
};

}  // namespace trainrt::config
