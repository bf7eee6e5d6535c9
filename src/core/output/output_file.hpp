#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trainrt {

/// Appends the output of a process to a file. The kernel has the added bytes when add() returns, so a kill of this process
/// loses nothing. If writing fails (no space, a quota), the first failure is logged as a warning and the process continues;
/// once writing works again, the file states how many bytes are missing. One thread at a time may use an object.
class OutputFile {
 public:
  /// The first use creates the file if it does not exist; its folder must exist. A symbolic link is not followed.
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Keeps all that is added in memory until switch_to() names the file.
  void hold() { is_held_ = true; }
  /// Continues in the file `path`, with a title line and with the bytes that were held.
  void switch_to(std::string path, const std::string& title);
  /// Returns whether so much is held that nothing more should be added before switch_to().
  bool is_full() const { return held_.size() >= max_held_bytes; }
  static constexpr std::size_t max_held_bytes = std::size_t{1} << 20;

  /// Writes a title line, which marks where a new output begins: "==== 2026-11-22T10:55:52Z TITLE ====".
  void begin(const std::string& title);
  /// Writes the title line before the next bytes that are added.
  void begin_with_output(std::string title) { title_ = std::move(title); }
  void add(std::string_view bytes);
  /// Copies the last added bytes from the file into `room` and returns their number. Any thread may call it;
  /// async-signal-safe.
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
  std::string title_;  ///< written before the next output; "": no title
  bool tried_ = false;
  std::atomic<int> fd_ = -1;
  std::atomic<std::int64_t> start_ = 0;  ///< offset in the file of the first added byte
  std::uint64_t missing_ = 0;            ///< bytes that could not be written since the last that could
  bool warned_ = false;
};

}  // namespace trainrt
