#pragma once
#include <string>
#include <vector>

namespace trainrt::config {

/// The values of [program]: what a program finds where it is started.
struct ProgramKeys {
  std::vector<std::string> environments;  ///< of frameworks; {"all"}: of all of them
  std::string gpus;                       ///< "node" or "own"
  std::string interface;                  ///< "" = whichever the other nodes reach
  std::string stage;                      ///< a path; "" = nothing is staged
  std::string stage_dir;                  ///< "" = each node's own choice
  std::string progress;                   ///< a regular expression; "" = the output is not looked at
  bool has_trainer = false;               ///< it calls trainrt::Trainer: a rank becomes it
};

}  // namespace trainrt::config
