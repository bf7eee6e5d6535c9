#pragma once
#include <string>
#include <vector>

#include "core/process/child_environment.hpp"

namespace trainrt::program::stage {

/// Adapts the environment and command of a program to a staged tree, the local copy of program.stage. Reads only the
/// tree, on the local storage.
class StagedTree {
 public:
  /// `folder`: path of the unpacked tree; `source`: path of the source, as the user gave it.
  StagedTree(std::string folder, std::string source);

  /// Returns the root of the tree. If the tree consists of a single folder, and this folder is a Python environment,
  /// the folder is the root.
  const std::string& root() const { return root_; }

  /// Returns environment variables for the program: TRAINRT_STAGE; PATH if the tree has bin/; VIRTUAL_ENV if it has
  /// pyvenv.cfg; CONDA_PREFIX if it has conda-meta/. If the tree has no Python interpreter, PYTHONPATH is set to the
  /// root and lib/python3*/site-packages. PATH and PYTHONPATH end with the paths in `inherited`.
  Variables variables(const Variables& inherited) const;

  /// Returns `command` for the staged tree: if the program or its script is in the source, replaces its path by the
  /// path of its copy in the tree.
  std::vector<std::string> command_in_tree(std::vector<std::string> command) const;

  /// Returns the path of an executable. The function searches the tree's bin/ first and then the PATH, and returns ""
  /// if there is no such executable.
  std::string executable(const std::string& name) const;

 private:
  std::string in_tree(const std::string& path) const;

  std::string root_;
  std::string source_;
};

}  // namespace trainrt::program::stage
