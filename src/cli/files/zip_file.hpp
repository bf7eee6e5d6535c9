#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>

#include "cli/files/new_file.hpp"

namespace trainrt::cli {

/// Writes a zip archive by minizip: entries one after the other, stored as they are, of any size. Its names are UTF-8. No
/// times: the same content makes the same bytes.
class ZipFile {
 public:
  /// Writes bytes at a place of the archive: places ascend, but that sizes and checksums are filled in afterwards.
  using Sink = std::function<void(std::uint64_t at, std::span<const std::byte> bytes)>;
  explicit ZipFile(Sink sink);
  explicit ZipFile(NewFile& file) : ZipFile([&file](std::uint64_t at, auto bytes) { file.write(at, bytes); }) {}
  ~ZipFile();
  ZipFile(const ZipFile&) = delete;

  /// Begins an entry, and ends the one before.
  void begin(const std::string& name, std::uint64_t bytes);
  void write(std::span<const std::byte> bytes);
  void finish();
  std::uint64_t bytes() const { return bytes_; }  ///< to the end of what was written

 private:
  struct Calls;  // what minizip calls
  void check(int result, const char* what);
  void end_entry();

  Sink sink_;
  std::uint64_t bytes_ = 0;
  void* zip_ = nullptr;
  bool in_entry_ = false;
  std::uint64_t at_ = 0;      // if minizip writes next
  std::exception_ptr error_;  // minizip is C: what was thrown below it waits here
};

}  // namespace trainrt::cli
