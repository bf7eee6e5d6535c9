#pragma once
#include <string>
#include <vector>

#include "core/process/child_environment.hpp"

namespace trainrt::program::stage {

/// Adapts a program's environment and command to a staged tree. Reads only the tree itself, on the local storage.
class StagedTree {
 public:
  /// `folder`: the unpacked tree; `source`: path that it was staged from, as the user gave it.
  StagedTree(std::string folder, std::string source);

  /// Returns the root of the tree: if the tree consists of one folder with an environment, that folder.
  const std::string& root() const { return root_; }

  /// Returns variables for the program: TRAINRT_STAGE; PATH if there is bin/, VIRTUAL_ENV if there is pyvenv.cfg,
  /// CONDA_PREFIX if there is conda-meta/; if there is no interpreter, PYTHONPATH with the root and
  /// lib/python3*/site-packages. The paths in `inherited` are appended.
  Variables variables(const Variables& inherited) const;

  /// Returns the command with the paths of the program and of the script replaced by those in the tree, if they are in the
  /// source.
  std::vector<std::string> command_in_tree(std::vector<std::string> command) const;

  /// Returns the path of an executable, found in the tree's bin/ first and then in the PATH; "" if there is none.
  std::string executable(const std::string& name) const;

 private:
  std::string in_tree(const std::string& path) const;

  std::string root_;
  std::string source_;
};

}  // namespace trainrt::program::stage
