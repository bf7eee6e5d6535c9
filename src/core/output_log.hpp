#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace trainrt {

/// The file that an output is appended to, whole and at once: what was added is with the kernel when add() returns, and
/// a kill of this process loses nothing. Storage that fails (no space, a quota) stops nobody: it is warned of once, and
/// when writing works again the file says how much is missing. One thread at a time.
class OutputLog {
 public:
  /// Makes the file if it is not there; its folder must be. A symbolic link in its place is not followed.
  explicit OutputLog(std::string path);
  ~OutputLog();
  OutputLog(const OutputLog&) = delete;
  OutputLog& operator=(const OutputLog&) = delete;

  /// Says where a new output begins, in a line of its own: "==== 2026-11-22T10:55:52Z TITLE ====".
  void begin(const std::string& title);
  void add(std::string_view bytes);
  int number() const { return fd_; }  ///< the descriptor; -1 if the file could not be opened

 private:
  std::uint64_t put(std::string_view bytes);
  void warn(int error);

  std::string path_;
  int fd_ = -1;
  std::uint64_t missing_ = 0;
  bool warned_ = false;
};

}  // namespace trainrt
