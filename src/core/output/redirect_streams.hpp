#pragma once
#include <string>

namespace trainrt {

/// While it lives, standard output and standard error of this process lead to the end of a file: what it prints, what its
/// children do, and what the runtime says. One at a time, with no OwnOutput around it.
class StreamsInFile {
 public:
  /// Throws Error if the file cannot be opened.
  explicit StreamsInFile(const std::string& path);
  ~StreamsInFile();
  StreamsInFile(const StreamsInFile&) = delete;
  StreamsInFile& operator=(const StreamsInFile&) = delete;

 private:
  int output_ = -1, error_ = -1;  ///< where they led before
};

}  // namespace trainrt
