#include "data/arrays/zip_directory.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include <trainrt/error.hpp>

namespace trainrt::data {

namespace {

constexpr std::size_t zip_end_bytes = 22, zip_locator_bytes = 20, zip_end64_bytes = 56, zip_entry_bytes = 46;
constexpr std::size_t max_zip_comment_bytes = 0xffff;
constexpr std::uint64_t max_zip_directory_bytes = 256 << 20;
constexpr std::string_view zip_end_signature("PK\x05\x06", 4), zip_locator_signature("PK\x06\x07", 4),
    zip_end64_signature("PK\x06\x06", 4), zip_entry_signature("PK\x01\x02", 4);

[[noreturn]] void bad_zip(const InputFile& file, const std::string& why) {
  throw UsageError("NPZ file " + file.path() + ": " + why + "; copy it here again");
}

[[noreturn]] void damaged_zip(const InputFile& file) {
  bad_zip(file, "is truncated, or its table of contents is damaged_zip");
}

/// Where the directory lies.
struct ZipSpan {
  std::uint64_t offset = 0, bytes = 0, entries = 0;
};

ZipSpan require_zip_directory(const InputFile& file, const ZipSpan& span, std::uint64_t end, bool is_alone) {
  if (!is_alone || span.bytes > end || span.offset != end - span.bytes || span.entries > span.bytes / zip_entry_bytes)
    damaged_zip(file);
  if (span.bytes > max_zip_directory_bytes) bad_zip(file, "its table of contents is larger than 256 MiB");
  return span;
}

/// The Zip64 record whose locator is in front of the end record at `end`.
ZipSpan zip_directory64(const InputFile& file, std::uint64_t end) {
  if (end < zip_locator_bytes) damaged_zip(file);
  const auto locator = zip_bytes(file, end - zip_locator_bytes, zip_locator_bytes);
  if (!locator.starts_with(zip_locator_signature)) damaged_zip(file);
  const auto at = ZipFields(locator).u64(8);
  if (at > end - zip_locator_bytes || end - zip_locator_bytes - at < zip_end64_bytes) damaged_zip(file);
  const auto record = zip_bytes(file, at, zip_end64_bytes);
  if (!record.starts_with(zip_end64_signature)) damaged_zip(file);
  const ZipFields fields(record);
  const bool is_alone = fields.u32(16) == 0 && fields.u32(20) == 0 && fields.u64(24) == fields.u64(32);
  return require_zip_directory(file, {fields.u64(48), fields.u64(40), fields.u64(32)}, at, is_alone);
}

ZipSpan zip_directory_of(const InputFile& file) {
  const auto tail_bytes = std::min<std::uint64_t>(file.size(), zip_end_bytes + max_zip_comment_bytes);
  const auto tail_offset = file.size() - tail_bytes;
  const auto tail = zip_bytes(file, tail_offset, tail_bytes);
  const auto at = tail_bytes < zip_end_bytes ? tail.npos : tail.rfind(zip_end_signature, tail_bytes - zip_end_bytes);
  if (at == tail.npos)
    bad_zip(file, "is no zip archive, or is truncated: its table of contents, which is at the end, is missing");
  const ZipFields fields(std::string_view(tail).substr(at, zip_end_bytes));
  constexpr std::uint16_t marker = 0xffff;
  if (fields.u16(10) == marker || fields.u32(12) == zip64_marker || fields.u32(16) == zip64_marker)
    return zip_directory64(file, tail_offset + at);
  const bool is_alone = fields.u16(4) == 0 && fields.u16(6) == 0 && fields.u16(8) == fields.u16(10);
  return require_zip_directory(file, {fields.u32(16), fields.u32(12), fields.u16(10)}, tail_offset + at, is_alone);
}

/// Replaces the values of marked fields by those of the Zip64 extra field. False if one is missing.
bool read_zip64(std::string_view extra, ZipMember& member) {
  constexpr std::size_t head = 4;
  std::vector<std::uint64_t*> marked;
  for (auto* const value : {&member.bytes, &member.packed_bytes, &member.header})
    if (*value == zip64_marker) marked.push_back(value);
  while (!marked.empty() && extra.size() >= head) {
    const ZipFields fields(extra);
    const std::size_t bytes = fields.u16(2);
    if (bytes > extra.size() - head) return false;
    if (fields.u16(0) == 1) {
      if (bytes < marked.size() * sizeof(std::uint64_t)) return false;
      for (std::size_t i = 0; i < marked.size(); ++i) *marked[i] = fields.u64(head + i * sizeof(std::uint64_t));
      return true;
    }
    extra.remove_prefix(head + bytes);
  }
  return marked.empty();
}

/// The entry that begins at `at`, which moves to the next one.
std::optional<ZipMember> read_zip_entry(std::string_view directory, std::size_t& at) {
  if (directory.size() - at < zip_entry_bytes || directory.substr(at, zip_entry_signature.size()) != zip_entry_signature)
    return std::nullopt;
  const ZipFields fields(directory.substr(at, zip_entry_bytes));
  const std::size_t name = fields.u16(28), extra = fields.u16(30), comment = fields.u16(32);
  at += zip_entry_bytes;
  if (name + extra + comment > directory.size() - at) return std::nullopt;
  ZipMember member{.name = std::string(directory.substr(at, name)),
                   .bytes = fields.u32(24),
                   .packed_bytes = fields.u32(20),
                   .header = fields.u32(42),
                   .crc32 = fields.u32(16),
                   .method = fields.u16(10),
                   .flags = fields.u16(8),
                   .is_stored = fields.u16(10) == 0};
  if (!read_zip64(directory.substr(at + name, extra), member)) return std::nullopt;
  at += name + extra + comment;
  return member;
}

}  // namespace

std::string zip_bytes(const InputFile& file, std::uint64_t offset, std::uint64_t bytes) {
  std::string read(bytes, '\0');
  file.read(offset, std::as_writable_bytes(std::span(read)));
  return read;
}

std::vector<ZipMember> zip_directory(const InputFile& file) {
  const auto span = zip_directory_of(file);
  const auto directory = zip_bytes(file, span.offset, span.bytes);
  std::vector<ZipMember> members;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < span.entries; ++i) {
    auto member = read_zip_entry(directory, at);
    if (!member || member->header >= span.offset) damaged_zip(file);
    members.push_back(*std::move(member));
  }
  if (at != directory.size()) damaged_zip(file);
  return members;
}

}  // namespace trainrt::data
