#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trainrt {

/// The file that an output is appended to, whole and at once: what was added is with the kernel when add() returns, and
/// a kill of this process loses nothing. Storage that fails (no space, a quota) stops nobody: it is warned of once, and
/// when writing works again the file says how much is missing. One thread at a time.
class OutputLog {
 public:
  /// The first use makes the file if it is not there; its folder must be. A symbolic link in its place is not followed.
  explicit OutputLog(std::string path) : path_(std::move(path)) {}
  ~OutputLog();
  OutputLog(const OutputLog&) = delete;
  OutputLog& operator=(const OutputLog&) = delete;

  /// Keeps in memory what is added, until lead_to() says which file it is for.
  void hold() { is_held_ = true; }
  /// Another file from here on, and the line of begin() with `title`. What was held goes there.
  void lead_to(std::string path, const std::string& title);
  /// So much is held that no more should be added before lead_to().
  bool is_full() const { return held_.size() >= most_held_bytes; }
  static constexpr std::size_t most_held_bytes = std::size_t{1} << 20;

  /// Says where a new output begins, in a line of its own: "==== 2026-11-22T10:55:52Z TITLE ====".
  void begin(const std::string& title);
  /// The same as soon as there is something to add.
  void begin_with_output(std::string title) { title_ = std::move(title); }
  void add(std::string_view bytes);
  /// The end of what has been added: how many bytes of `room` have it. Any thread; async-signal-safe.
  std::size_t end(std::span<char> room) const;

 private:
  bool is_open();
  void put_title();
  bool says_what_is_missing();
  std::uint64_t put(std::string_view bytes);
  void warn(int error);
  void close_file();

  std::string path_;
  bool is_held_ = false;
  std::string held_;
  std::string title_;  ///< what stands before the first output
  bool tried_ = false;
  std::atomic<int> fd_ = -1;
  std::atomic<std::int64_t> start_ = 0;  ///< of what has been added, in the file
  std::uint64_t missing_ = 0;
  bool warned_ = false;
};

}  // namespace trainrt
