#pragma once
#include <string>
#include <vector>

#include "program/environments/environment.hpp"

namespace trainrt::program::stage {

/// What a staged tree means to a program: its variables and its command. All look at the tree alone, on the node's storage.
class StagedTree {
 public:
  /// `folder`: the tree; `source`: the path that it was staged from, as it was given.
  StagedTree(std::string folder, std::string source);

  /// The tree's root: the only folder of a tar that has an environment in it, else the tree itself.
  const std::string& root() const { return root_; }

  /// What a program gets besides: TRAINRT_STAGE; PATH if there is bin/, VIRTUAL_ENV if there is pyvenv.cfg, CONDA_PREFIX if
  /// there is conda-meta/; PYTHONPATH if there is no interpreter, with lib/python3*/site-packages too. `inherited`: of
  /// which the paths are continued.
  Variables variables(const Variables& inherited) const;

  /// The command with the program and the interpreter's script, if they lie in the source, at their places in the tree.
  std::vector<std::string> command_in_tree(std::vector<std::string> command) const;

  /// As the PATH of variables() has it: first the tree's bin/. "" if there is none.
  std::string executable(const std::string& name) const;

 private:
  std::string in_tree(const std::string& path) const;

  std::string root_;
  std::string source_;
};

}  // namespace trainrt::program::stage
