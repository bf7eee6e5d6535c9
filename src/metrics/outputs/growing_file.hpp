#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/files/fenced_directory.hpp"
#include "metrics/append_file.hpp"

namespace trainrt::metrics {

/// A file of a run directory that is derived from the records, and grows with them.
class GrowingFile {
 public:
  GrowingFile(io::FencedDirectory run_dir, std::string name) : run_dir_(std::move(run_dir)), name_(std::move(name)) {}

  /// Whether append() can follow; false at first, and after a failure.
  bool is_whole() const { return file_.has_value(); }
  /// Puts a whole file in its place. Throws what FencedDirectory does.
  void write_anew(std::string_view bytes);
  /// Throws StorageError: something is missing then, or half of it is there.
  void append(std::string_view bytes);

 private:
  io::FencedDirectory run_dir_;
  std::string name_;
  std::optional<AppendFile> file_;
};

}  // namespace trainrt::metrics
