#pragma once
#include <cstdint>
#include <exception>
#include <span>
#include <string>

#include "cli/new_file.hpp"

namespace trainrt::cli {

/// Writes a zip archive by minizip: entries one after the other, stored as they are, of any size. Its names are UTF-8. No
/// times: the same content makes the same bytes.
class ZipFile {
 public:
  explicit ZipFile(NewFile& file);
  ~ZipFile();
  ZipFile(const ZipFile&) = delete;

  /// Begins an entry, and ends the one before.
  void begin(const std::string& name, std::uint64_t bytes);
  void write(std::span<const std::byte> bytes);
  void finish();

 private:
  struct Calls;  // what minizip calls
  void check(int result, const char* what);
  void end_entry();

  NewFile& file_;
  void* zip_ = nullptr;
  bool in_entry_ = false;
  std::uint64_t at_ = 0;      // if minizip writes next
  std::exception_ptr error_;  // minizip is C: what was thrown below it waits here
};

}  // namespace trainrt::cli
