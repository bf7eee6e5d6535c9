#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/files/fenced_directory.hpp"
#include "metrics/append_file.hpp"

namespace trainrt::metrics {

/// A file in the run directory that is derived from the metric records and grows with them.
class GrowingFile {
 public:
  GrowingFile(io::FencedDirectory run_dir, std::string name) : run_dir_(std::move(run_dir)), name_(std::move(name)) {}

  /// Returns whether append() may be called: false before the first rewrite(), and after an error.
  bool is_complete() const { return file_.has_value(); }
  /// Replaces the file by one that contains `bytes`. Throws the errors of FencedDirectory.
  void rewrite(std::string_view bytes);
  /// Appends `bytes` to the file. Throws StorageError; the file may then end with a part of `bytes`, and must be rewritten.
  void append(std::string_view bytes);

 private:
  io::FencedDirectory run_dir_;
  std::string name_;
  std::optional<AppendFile> file_;
};

}  // namespace trainrt::metrics
