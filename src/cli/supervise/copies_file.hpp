#pragma once
#include "config/run_spec.hpp"
#include "core/descriptor.hpp"

namespace trainrt::cli {

/// The file in memory in which the ranks of this node keep copies of their State (config key failure.recovery). This
/// process keeps the file open, so the copies outlive the ranks. Processes that are started afterwards find the file
/// through an environment variable.
class CopiesFile {
 public:
  /// Creates the file if failure.recovery of `spec` asks for copies, if restarts are allowed, and if all ranks run on this
  /// node: `nodes` is 1. Logs a warning if the file cannot be created; the ranks then make no copies.
  CopiesFile(const config::RunSpec& spec, int nodes);

  /// Must be called before ranks are started.
  void begin_start();
  /// Returns whether the last started ranks have made a copy, from which a restart can continue.
  bool is_in_use() const;

 private:
  Descriptor file_;
};

}  // namespace trainrt::cli
