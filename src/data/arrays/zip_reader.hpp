#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/arrays/zip_directory.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// Reads a zip archive, Zip64 too. Errors are UsageErrors that name the file, the member and what is wrong with them.
class ZipReader {
 public:
  explicit ZipReader(std::shared_ptr<const InputFile> file);

  const std::vector<ZipMember>& members() const { return members_; }
  /// Of a member that can be read: stored or deflated, not encrypted, its sizes possible.
  void require_readable(const ZipMember& member) const;
  /// The first bytes of what it holds; fills `into`.
  void read_beginning(const ZipMember& member, std::span<std::byte> into) const;
  /// All that it holds, `into` as long as that; its checksum is verified.
  void read(const ZipMember& member, std::span<std::byte> into) const;
  /// Returns the offset of its bytes, as they are stored, in the file. Throws if its local header says something else than
  /// the directory, which has no checksum.
  std::uint64_t offset_of(const ZipMember& member) const;

 private:
  [[noreturn]] void bad(const ZipMember& member, const std::string& why) const;
  [[noreturn]] void damaged(const ZipMember& member, const std::string& why) const;
  void unpack(const ZipMember& member, std::span<std::byte> into, bool is_all) const;

  std::shared_ptr<const InputFile> file_;
  std::vector<ZipMember> members_;
};

}  // namespace trainrt::data
