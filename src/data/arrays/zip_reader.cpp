#include "data/arrays/zip_reader.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/crc32.hpp"
#include "data/bytes/inflate.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

namespace {

constexpr std::uint16_t zip_encrypted = 1, zip_sizes_follow = 8;  // bits of the flags
constexpr std::uint16_t zip_stored = 0, zip_deflated = 8;         // methods of compression
constexpr std::size_t zip_header_bytes = 30;
constexpr std::uint64_t zip_bytes_at_once = 1 << 20;

std::string printed_member(std::string_view name) { return printable_lines(excerpt(name, 100) + "\n").front(); }

/// The decompressed bytes of a part of a file.
class InflatedMember {
 public:
  InflatedMember(const InputFile& file, std::uint64_t offset, std::uint64_t bytes)
      : file_(file), offset_(offset), end_(offset + bytes) {
    constexpr int without_header = -MAX_WBITS;
    if (inflateInit2(&stream_, without_header) != Z_OK) throw std::bad_alloc();
  }
  ~InflatedMember() { inflateEnd(&stream_); }
  InflatedMember(const InflatedMember&) = delete;
  InflatedMember& operator=(const InflatedMember&) = delete;

  /// The compressed data have ended, and nothing follows them.
  bool is_complete() const { return code_ == Z_STREAM_END && stream_.avail_in == 0 && offset_ == end_; }
  /// Fills `into` as far as there are bytes; returns the rest of it. Throws Error that says what is wrong.
  std::span<std::byte> read(std::span<std::byte> into) {
    while (!into.empty() && code_ != Z_STREAM_END) {
      if (stream_.avail_in == 0 && offset_ < end_) refill();
      const auto room = static_cast<uInt>(std::min<std::size_t>(into.size(), zip_bytes_at_once));
      stream_.next_out = reinterpret_cast<Bytef*>(into.data());
      stream_.avail_out = room;
      code_ = inflate(&stream_, Z_NO_FLUSH);
      into = into.subspan(room - stream_.avail_out);
      if (code_ == Z_MEM_ERROR) throw std::bad_alloc();
      if (code_ == Z_BUF_ERROR) throw Error("its compressed data ends too early");
      if (code_ != Z_OK && code_ != Z_STREAM_END) throw Error("its compressed data cannot be decompressed");
    }
    return into;
  }

 private:
  void refill() {
    packed_.resize(std::min(zip_bytes_at_once, end_ - offset_));
    file_.read(offset_, packed_);
    offset_ += packed_.size();
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
    stream_.avail_in = static_cast<uInt>(packed_.size());
  }

  const InputFile& file_;
  std::uint64_t offset_, end_;
  std::vector<std::byte> packed_;
  z_stream stream_{};
  int code_ = Z_OK;
};

}  // namespace

ZipReader::ZipReader(std::shared_ptr<const InputFile> file) : file_(std::move(file)), members_(zip_directory(*file_)) {}

void ZipReader::bad(const ZipMember& member, const std::string& why) const {
  throw UsageError("NPZ file " + file_->path() + ": the member '" + printed_member(member.name) + "' " + why);
}

void ZipReader::damaged(const ZipMember& member, const std::string& why) const {
  bad(member, "is damaged: " + why + "; copy the file here again");
}

void ZipReader::require_readable(const ZipMember& member) const {
  if ((member.flags & zip_encrypted) != 0) bad(member, "is encrypted; save it without");
  if (member.method != zip_stored && member.method != zip_deflated)
    bad(member,
        fmt::format("is compressed by method {}; stored and deflated ones (methods 0 and 8) can be read, as numpy.savez "
                    "and numpy.savez_compressed write them",
                    member.method));
  const bool is_possible =
      member.is_stored ? member.bytes == member.packed_bytes : member.bytes / max_inflation <= member.packed_bytes;
  if (!is_possible || member.packed_bytes > file_->size())
    damaged(member, fmt::format("it cannot hold {} bytes in {}", member.bytes, member.packed_bytes));
}

std::uint64_t ZipReader::offset_of(const ZipMember& member) const {
  if (file_->size() - member.header < zip_header_bytes) damaged(member, "its header is missing");
  const auto bytes = zip_bytes(*file_, member.header, zip_header_bytes);
  const ZipFields fields(bytes);
  const auto differs = [&](std::size_t at, std::uint64_t value) {
    return fields.u32(at) != value && fields.u32(at) != zip64_marker && (member.flags & zip_sizes_follow) == 0;
  };
  const std::size_t name_bytes = fields.u16(26), extra_bytes = fields.u16(28);
  const auto offset = member.header + zip_header_bytes + name_bytes + extra_bytes;
  if (!bytes.starts_with(std::string_view("PK\x03\x04", 4)) || fields.u16(6) != member.flags ||
      fields.u16(8) != member.method || differs(14, member.crc32) || differs(18, member.packed_bytes) ||
      differs(22, member.bytes) || name_bytes != member.name.size() || offset > file_->size() ||
      member.packed_bytes > file_->size() - offset ||
      zip_bytes(*file_, member.header + zip_header_bytes, name_bytes) != member.name)
    damaged(member, "its header differs from the table of contents");
  return offset;
}

void ZipReader::read_beginning(const ZipMember& member, std::span<std::byte> into) const {
  if (!member.is_stored) return unpack(member, into, false);
  if (into.size() > member.bytes) damaged(member, "it is too short");
  file_->read(offset_of(member), into);
}

void ZipReader::read(const ZipMember& member, std::span<std::byte> into) const {
  if (!member.is_stored)
    unpack(member, into, true);
  else
    file_->read(offset_of(member), into);
  if (crc32_of(into) != member.crc32) damaged(member, "its checksum does not fit");
}

void ZipReader::unpack(const ZipMember& member, std::span<std::byte> into, bool is_all) const {
  InflatedMember values(*file_, offset_of(member), member.packed_bytes);
  try {
    if (const auto missing = values.read(into); !missing.empty())
      throw Error(fmt::format("{} of its bytes are missing", missing.size()));
    std::byte more{};
    if (is_all && (values.read({&more, 1}).empty() || !values.is_complete()))
      throw Error("it holds more than the table of contents says");
  } catch (const io::StorageError&) {
    throw;
  } catch (const Error& error) {
    damaged(member, error.what());
  }
}

}  // namespace trainrt::data
