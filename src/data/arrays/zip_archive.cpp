#include "data/arrays/zip_archive.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/printable.hpp"
#include "core/text/text.hpp"
#include "data/bytes/coding/crc32.hpp"
#include "data/bytes/coding/inflate.hpp"
#include "data/text/field_types.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t zip_end_bytes = 22, zip_locator_bytes = 20, zip_end64_bytes = 56, zip_entry_bytes = 46,
                      zip_header_bytes = 30;
constexpr std::size_t max_zip_comment_bytes = 0xffff;
constexpr std::uint64_t max_zip_directory_bytes = 256 << 20;
constexpr std::string_view zip_end_signature("PK\x05\x06", 4), zip_locator_signature("PK\x06\x07", 4),
    zip_end64_signature("PK\x06\x06", 4), zip_entry_signature("PK\x01\x02", 4), zip_header_signature("PK\x03\x04", 4);
constexpr std::uint16_t zip_encrypted = 1, zip_sizes_follow = 8;  // bits in the flags of a member
constexpr std::uint16_t zip_stored = 0, zip_deflated = 8;         // compression methods
constexpr std::uint32_t in_zip64 = 0xffffffff;  // value of a 32-bit field if the actual value is in the Zip64 fields

/// Reads little-endian numbers from the bytes of a header. Precondition: the header is long enough for each number read.
struct ZipFields {
  std::string_view bytes;

  std::uint16_t u16(std::size_t at) const { return number<std::uint16_t>(at); }
  std::uint32_t u32(std::size_t at) const { return number<std::uint32_t>(at); }
  std::uint64_t u64(std::size_t at) const { return number<std::uint64_t>(at); }

 private:
  template <class T>
  T number(std::size_t at) const {
    return loaded<T>(reinterpret_cast<const std::byte*>(bytes.substr(at, sizeof(T)).data()));
  }
};

std::string zip_bytes(const InputFile& file, std::uint64_t offset, std::uint64_t bytes) {
  std::string read(bytes, '\0');
  file.read(offset, std::as_writable_bytes(std::span(read)));
  return read;
}

[[noreturn]] void bad_zip(const InputFile& file, const std::string& why) {
  throw UsageError("NPZ file " + file.path() + ": " + why + "; copy it here again");
}

[[noreturn]] void damaged_zip(const InputFile& file) { bad_zip(file, "is truncated, or its table of contents is damaged"); }

/// Position of the archive's directory (table of contents) in the file, and number of its entries.
struct ZipSpan {
  std::uint64_t offset = 0, bytes = 0, entries = 0;
};

/// Returns `span`. Throws UsageError unless the directory ends at `end` and is large enough for its entries. Also throws
/// UsageError if `is_single` is false, which means that the archive is divided into several files.
ZipSpan require_directory(const InputFile& file, const ZipSpan& span, std::uint64_t end, bool is_single) {
  if (!is_single || span.bytes > end || span.offset != end - span.bytes || span.entries > span.bytes / zip_entry_bytes)
    damaged_zip(file);
  if (span.bytes > max_zip_directory_bytes) bad_zip(file, "its table of contents is larger than 256 MiB");
  return span;
}

/// Reads the Zip64 end record. The position of this record is stored in the Zip64 locator, which directly precedes the
/// end record at `end`.
ZipSpan directory_by_zip64(const InputFile& file, std::uint64_t end) {
  if (end < zip_locator_bytes) damaged_zip(file);
  const auto locator = zip_bytes(file, end - zip_locator_bytes, zip_locator_bytes);
  if (!locator.starts_with(zip_locator_signature)) damaged_zip(file);
  const auto at = ZipFields{locator}.u64(8);
  if (at > end - zip_locator_bytes || end - zip_locator_bytes - at < zip_end64_bytes) damaged_zip(file);
  const auto record = zip_bytes(file, at, zip_end64_bytes);
  if (!record.starts_with(zip_end64_signature)) damaged_zip(file);
  const ZipFields fields{record};
  const bool is_single = fields.u32(16) == 0 && fields.u32(20) == 0 && fields.u64(24) == fields.u64(32);
  return require_directory(file, {fields.u64(48), fields.u64(40), fields.u64(32)}, at, is_single);
}

ZipSpan find_directory(const InputFile& file) {
  const auto tail_bytes = std::min<std::uint64_t>(file.size(), zip_end_bytes + max_zip_comment_bytes);
  const auto tail_offset = file.size() - tail_bytes;
  const auto tail = zip_bytes(file, tail_offset, tail_bytes);
  const auto at = tail_bytes < zip_end_bytes ? tail.npos : tail.rfind(zip_end_signature, tail_bytes - zip_end_bytes);
  if (at == tail.npos) bad_zip(file, "is not a zip archive, or is truncated: the table of contents at its end is missing");
  const ZipFields fields{std::string_view(tail).substr(at, zip_end_bytes)};
  constexpr std::uint16_t count_in_zip64 = 0xffff;
  if (fields.u16(10) == count_in_zip64 || fields.u32(12) == in_zip64 || fields.u32(16) == in_zip64)
    return directory_by_zip64(file, tail_offset + at);
  const bool is_single = fields.u16(4) == 0 && fields.u16(6) == 0 && fields.u16(8) == fields.u16(10);
  return require_directory(file, {fields.u32(16), fields.u32(12), fields.u16(10)}, tail_offset + at, is_single);
}

/// Sets the sizes and the offset of `member` that are too large for its 32-bit fields, and are therefore stored in the
/// Zip64 extra field `extra`. Returns false if the extra field lacks one of these values.
bool read_zip64(std::string_view extra, ZipMember& member) {
  constexpr std::size_t head = 4;
  std::vector<std::uint64_t*> wanted;
  for (auto* const value : {&member.bytes, &member.packed, &member.header})
    if (*value == in_zip64) wanted.push_back(value);
  while (!wanted.empty() && extra.size() >= head) {
    const ZipFields fields{extra};
    const std::size_t bytes = fields.u16(2);
    if (bytes > extra.size() - head) return false;
    if (fields.u16(0) == 1) {
      if (bytes < wanted.size() * sizeof(std::uint64_t)) return false;
      for (std::size_t i = 0; i < wanted.size(); ++i) *wanted[i] = fields.u64(head + i * sizeof(std::uint64_t));
      return true;
    }
    extra.remove_prefix(head + bytes);
  }
  return wanted.empty();
}

/// Reads the directory entry at offset `at`, and moves `at` to the next entry. Returns nullopt if the entry is damaged.
std::optional<ZipMember> read_entry(std::string_view directory, std::size_t& at) {
  if (directory.size() - at < zip_entry_bytes || !directory.substr(at).starts_with(zip_entry_signature))
    return std::nullopt;
  const ZipFields fields{directory.substr(at, zip_entry_bytes)};
  const std::size_t name = fields.u16(28), extra = fields.u16(30), comment = fields.u16(32);
  at += zip_entry_bytes;
  if (name + extra + comment > directory.size() - at) return std::nullopt;
  ZipMember member{.name = std::string(directory.substr(at, name)),
                   .bytes = fields.u32(24),
                   .packed = fields.u32(20),
                   .header = fields.u32(42),
                   .crc32 = fields.u32(16),
                   .method = fields.u16(10),
                   .flags = fields.u16(8),
                   .is_stored = fields.u16(10) == zip_stored};
  if (!read_zip64(directory.substr(at + name, extra), member)) return std::nullopt;
  at += name + extra + comment;
  return member;
}

}  // namespace

ZipArchive::ZipArchive(std::shared_ptr<const InputFile> file) : file_(std::move(file)) {
  const auto span = find_directory(*file_);
  const auto directory = zip_bytes(*file_, span.offset, span.bytes);
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < span.entries; ++i) {
    auto member = read_entry(directory, at);
    if (!member || member->header >= span.offset) damaged_zip(*file_);
    members_.push_back(*std::move(member));
  }
  if (at != directory.size()) damaged_zip(*file_);
}

void ZipArchive::bad(const ZipMember& member, const std::string& why) const {
  throw UsageError(
      fmt::format("NPZ file {}: the member '{}' {}", file_->path(), printable_line(excerpt(member.name, 100)), why));
}

void ZipArchive::damaged(const ZipMember& member, const std::string& why) const {
  bad(member, "is damaged: " + why + "; copy the file here again");
}

void ZipArchive::require_readable(const ZipMember& member) const {
  if ((member.flags & zip_encrypted) != 0) bad(member, "is encrypted; save it without encryption");
  if (member.method != zip_stored && member.method != zip_deflated)
    bad(member, fmt::format("is compressed by method {}; valid are the methods 0 (stored) and 8 (deflated). "
                            "Write the file with numpy.savez or numpy.savez_compressed",
                            member.method));
  const bool is_possible = member.is_stored ? member.bytes == member.packed : member.bytes / max_inflation <= member.packed;
  if (!is_possible || member.packed > file_->size())
    damaged(member, fmt::format("{} bytes cannot be the compressed form of {} bytes", member.packed, member.bytes));
}

std::uint64_t ZipArchive::offset_of(const ZipMember& member) const {
  if (file_->size() - member.header < zip_header_bytes) damaged(member, "its header is missing");
  const auto bytes = zip_bytes(*file_, member.header, zip_header_bytes);
  const ZipFields fields{bytes};
  const auto differs = [&](std::size_t at, std::uint64_t value) {
    return fields.u32(at) != value && fields.u32(at) != in_zip64 && (member.flags & zip_sizes_follow) == 0;
  };
  const std::size_t name_bytes = fields.u16(26), extra_bytes = fields.u16(28);
  const auto offset = member.header + zip_header_bytes + name_bytes + extra_bytes;
  if (!bytes.starts_with(zip_header_signature) || fields.u16(6) != member.flags || fields.u16(8) != member.method ||
      differs(14, member.crc32) || differs(18, member.packed) || differs(22, member.bytes) ||
      name_bytes != member.name.size() || offset > file_->size() || member.packed > file_->size() - offset ||
      zip_bytes(*file_, member.header + zip_header_bytes, name_bytes) != member.name)
    damaged(member, "its header differs from the table of contents");
  return offset;
}

void ZipArchive::read_beginning(const ZipMember& member, std::span<std::byte> into) const {
  if (!member.is_stored) return decompress(member, into, false);
  if (into.size() > member.bytes)
    damaged(member, fmt::format("it has {} bytes, but at least {} are needed", member.bytes, into.size()));
  file_->read(offset_of(member), into);
}

void ZipArchive::read(const ZipMember& member, std::span<std::byte> into) const {
  if (!member.is_stored)
    decompress(member, into, true);
  else
    file_->read(offset_of(member), into);
  if (crc32_of(into) != member.crc32) damaged(member, "its checksum is wrong");
}

void ZipArchive::decompress(const ZipMember& member, std::span<std::byte> into, bool is_all) const {
  constexpr std::uint64_t max_overhead = 4096;  // bytes that deflate may add to small, incompressible data
  constexpr std::uint64_t piece_bytes = 1 << 20;
  const auto needed = is_all ? member.packed : std::min(member.packed, 2 * into.size() + max_overhead);
  std::vector<std::byte> packed(std::min(needed, piece_bytes));
  auto at = offset_of(member);
  const auto next = [&, end = at + needed] {
    const auto piece = std::span(packed).first(std::min<std::uint64_t>(packed.size(), end - at));
    if (!piece.empty()) file_->read(at, piece);
    at += piece.size();
    return piece;
  };
  try {
    const auto found = inflate_pieces(next, into, into.size() + (is_all ? 1 : 0));  // + 1 detects data that are too long
    if (found.bytes < into.size()) throw Error(fmt::format("{} of its bytes are missing", into.size() - found.bytes));
    if (is_all && (found.bytes > into.size() || !found.is_complete))
      throw Error("it does not have as many bytes as the table of contents declares");
  } catch (const Error& error) {
    damaged(member, error.what());
  }
}

}  // namespace trainrt::data
