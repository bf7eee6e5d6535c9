#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trainrt {

/// Appends the output of a process to a log file. add() passes the bytes to the kernel, so that no bytes are lost if this
/// process is killed. The first failure to write (no space, a quota) is logged as a warning, and the process continues.
/// When writing works again, a line in the file states how many bytes are missing. Not thread-safe, except for copy_end().
class OutputFile {
 public:
  /// Sets the path of the log file. The first use of the object opens the file, or creates it if it does not exist; its
  /// folder must exist. A symbolic link is not followed.
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Buffers all bytes passed to add() in memory until switch_to() names the log file.
  void hold() { is_held_ = true; }
  /// Closes the current log file and continues in the file `path`: writes a title line, then the bytes that were buffered
  /// after hold().
  void switch_to(std::string path, const std::string& title);
  /// Returns whether max_held_bytes or more are buffered after hold(). If so, the caller should not call add() again before
  /// switch_to().
  bool is_full() const { return held_.size() >= max_held_bytes; }
  static constexpr std::size_t max_held_bytes = std::size_t{1} << 20;

  /// Writes a title line to the log file, which marks the start of a new output:
  /// "==== 2026-11-22T10:55:52Z TITLE ====".
  void begin(const std::string& title);
  /// Writes a title line to the log file as begin() does, but only before the next bytes passed to add().
  void begin_with_output(std::string title) { title_ = std::move(title); }
  void add(std::string_view bytes);
  /// Copies the tail of this object's output, at most room.size() bytes, from the file into `room`; returns the number of
  /// bytes copied. Thread-safe and async-signal-safe.
  std::size_t copy_end(std::span<char> room) const;

 private:
  bool is_open();
  void put_title();
  bool put_gap();
  std::uint64_t put(std::string_view bytes);
  void warn(int error);
  void close_file();

  std::string path_;
  bool is_held_ = false;
  std::string held_;
  std::string title_;  ///< title line to write before the next output; "": no title
  bool tried_ = false;
  std::atomic<int> fd_ = -1;
  std::atomic<std::int64_t> start_ = 0;  ///< offset in the file at which this object's output begins
  std::uint64_t missing_ = 0;            ///< number of bytes lost since the last successful write
  bool warned_ = false;
};

}  // namespace trainrt
