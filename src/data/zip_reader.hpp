#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/input_file.hpp"

namespace trainrt::data {

/// A member of a zip archive, as its central directory has it.
struct ZipMember {
  std::string name;
  std::uint64_t bytes = 0;  ///< unpacked
  std::uint64_t packed_bytes = 0;
  bool is_stored = false;   ///< not compressed
  std::uint64_t place = 0;  ///< in the central directory
  std::uint64_t number = 0;
};

/// Reads a zip archive by minizip, Zip64 too. For one thread. Errors are UsageErrors that name the file, the member and
/// what is wrong with them.
class ZipReader {
 public:
  explicit ZipReader(std::shared_ptr<const InputFile> file);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  std::vector<ZipMember> members();
  /// Of a member that can be read: stored or deflated, not encrypted, its sizes possible.
  void require_readable(const ZipMember& member);
  /// The first bytes of what it holds; fills `into`.
  void read_beginning(const ZipMember& member, std::span<std::byte> into);
  /// All that it holds, `into` as long as that; its checksum is verified.
  void read(const ZipMember& member, std::span<std::byte> into);
  /// Where the bytes of a stored member lie in the file.
  std::uint64_t offset_of(const ZipMember& member);

 private:
  struct Calls;  // what minizip calls
  [[noreturn]] void bad(const std::string& why) const;
  [[noreturn]] void bad(const ZipMember& member, const std::string& why) const;
  void check(int result, const ZipMember& member);
  ZipMember current();
  void go_to(const ZipMember& member);

  std::unique_ptr<Calls> calls_;
  void* zip_ = nullptr;
};

}  // namespace trainrt::data
