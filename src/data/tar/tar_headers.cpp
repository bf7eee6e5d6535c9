#include "data/tar/tar_headers.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/options.hpp"
#include "core/text/text.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t tar_block = 512;
constexpr std::uint64_t max_extra_bytes =
    1 << 20;  // maximum size of a long name or a pax record; a damaged header may declare more

/// The part of a file that is in memory. The file is read from the beginning to the end: if the next requested offset is
/// near, a large piece is read ahead; if it is far away, little more than the requested bytes.
class TarWindow {
 public:
  explicit TarWindow(const InputFile& file) : file_(file) {}

  /// Returns `count` bytes from `offset` on, which must be in the file. The result is valid until the next call.
  std::span<const std::byte> at(std::uint64_t offset, std::uint64_t count) {
    if (offset < begin_ || offset + count > begin_ + bytes_.size()) load(offset, count);
    return std::span(bytes_).subspan(offset - begin_, count);
  }
  /// Returns the bytes from `offset` on that are already in memory, at most `count`. The result may be empty.
  std::span<const std::byte> loaded(std::uint64_t offset, std::uint64_t count) const {
    if (offset < begin_ || offset >= begin_ + bytes_.size()) return {};
    return std::span(bytes_).subspan(offset - begin_, std::min<std::uint64_t>(count, begin_ + bytes_.size() - offset));
  }

 private:
  void load(std::uint64_t offset, std::uint64_t count) {
    constexpr std::uint64_t small_step = 16 << 10, small_piece = 2 << 10, large_piece = 256 << 10;
    const auto piece = offset < begin_ + bytes_.size() + small_step ? large_piece : small_piece;
    bytes_.resize(std::min(std::max(count, piece), file_.size() - offset));
    begin_ = offset;
    file_.read(offset, bytes_);
  }

  const InputFile& file_;
  std::vector<std::byte> bytes_;
  std::uint64_t begin_ = 0;
};

/// A copy of the 512 bytes of an entry's header.
class TarHeader {
 public:
  explicit TarHeader(std::span<const std::byte> block) { std::memcpy(bytes_.data(), block.data(), tar_block); }
  TarHeader(const TarHeader&) = delete;

  bool is_end() const { return block_.find_first_not_of('\0') == block_.npos; }
  char type() const { return block_[156]; }
  /// Returns whether the checksum is correct. The checksum is a sum of unsigned bytes or, in files of some archivers,
  /// of signed bytes.
  bool is_intact() const {
    const auto expected = number(148, 8);
    std::int64_t plain = 0, with_signs = 0;
    for (std::size_t i = 0; i < tar_block; ++i) {
      const char c = i >= 148 && i < 156 ? ' ' : block_[i];
      plain += static_cast<unsigned char>(c);
      with_signs += static_cast<signed char>(c);
    }
    return expected &&
           (static_cast<std::int64_t>(*expected) == plain || static_cast<std::int64_t>(*expected) == with_signs);
  }
  std::string name() const {
    const auto own = text(0, 100);
    const auto prefix = block_.substr(257, 6) == std::string_view("ustar\0", 6) ? text(345, 155) : std::string_view();
    return prefix.empty() ? std::string(own) : fmt::format("{}/{}", prefix, own);
  }
  std::optional<std::uint64_t> size() const { return number(124, 12); }

 private:
  std::string_view text(std::size_t at, std::size_t width) const {
    const auto field = block_.substr(at, width);
    return field.substr(0, std::min(field.find('\0'), field.size()));
  }
  /// Parses the number in the header field at `at`: octal digits with blanks around them or, as an extension of GNU tar,
  /// a byte 0x80 and big-endian bytes.
  std::optional<std::uint64_t> number(std::size_t at, std::size_t width) const {
    auto field = block_.substr(at, width);
    std::uint64_t value = 0;
    if ((static_cast<unsigned char>(field[0]) & 0x80U) != 0) {
      if (static_cast<unsigned char>(field[0]) != 0x80U) return std::nullopt;
      for (const char c : field.substr(1)) {
        if (value >> 55 != 0) return std::nullopt;
        value = value << 8 | static_cast<unsigned char>(c);
      }
      return value;
    }
    field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
    field = field.substr(0, std::min(field.find_first_of(std::string_view(" \0", 2)), field.size()));
    for (const char c : field) {
      if (c < '0' || c > '7') return std::nullopt;
      value = value << 3 | static_cast<std::uint64_t>(c - '0');
    }
    return value;
  }

  std::array<char, tar_block> bytes_;
  std::string_view block_{bytes_.data(), tar_block};
};

/// Attributes of an entry from the extended headers, which precede the entry's own header.
struct TarExtra {
  std::optional<std::string> name;
  std::optional<std::uint64_t> size;
  bool is_sparse = false;
};

class TarWalk {
 public:
  explicit TarWalk(const InputFile& archive) : archive_(archive), window_(archive) {}

  void walk(const std::function<void(TarEntry, std::span<const std::byte>)>& take) {
    TarExtra extra;
    for (;;) {
      const TarHeader header(block());
      if (header.is_end()) return require_end();
      if (!header.is_intact())
        fail_at(at_, at_ == 0 ? "it is not a tar archive, or its first header is damaged" : "a header is damaged");
      const auto size = header.size();
      if (!size) fail_at(at_, "a header has no size");
      if (is_extra(header.type())) {
        note_extra(header.type(), extra_bytes(*size), extra);
        skip_content(at_ + tar_block, *size);
        continue;
      }
      take_entry(header, extra, *size, take);
      extra = {};
    }
  }

 private:
  static std::uint64_t padded(std::uint64_t bytes) { return (bytes + tar_block - 1) / tar_block * tar_block; }
  /// Moves to the next header, which follows the `bytes` bytes of an entry's content at offset `content` and their padding.
  /// If the archive ends within the padding, moves to the end of the archive.
  void skip_content(std::uint64_t content, std::uint64_t bytes) {
    at_ = std::min(content + padded(bytes), archive_.size());
  }
  static bool is_extra(char type) { return std::string_view("LKxXg").find(type) != std::string_view::npos; }

  std::span<const std::byte> block() {
    if (archive_.size() - at_ < tar_block)
      fail_at(at_, "it is truncated or unfinished: the end marker is missing. Copy it here again, or create it again");
    return window_.at(at_, tar_block);
  }

  std::string_view extra_bytes(std::uint64_t size) {
    if (size > max_extra_bytes)
      fail_at(at_,
              fmt::format("a long name or extended header has {} bytes; at most {} are allowed", size, max_extra_bytes));
    require_inside(size, "a long name");
    const auto bytes = window_.at(at_ + tar_block, size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  void note_extra(char type, std::string_view bytes, TarExtra& extra) const {
    if (type == 'L') extra.name = std::string(bytes.substr(0, std::min(bytes.find('\0'), bytes.size())));
    if (type == 'x' || type == 'X') note_records(bytes, extra);
    if (type != 'g') return;
    TarExtra of_all;  // the attributes in a global header, which apply to all following entries
    note_records(bytes, of_all);
    if (of_all.name || of_all.size || of_all.is_sparse)
      fail_at(at_, "a global header sets one name or size for all entries, which is not supported");
  }

  /// Parses records of the form "LENGTH KEY=VALUE\n".
  void note_records(std::string_view bytes, TarExtra& extra) const {
    while (!bytes.empty()) {
      const auto blank = bytes.find(' ');
      const auto length = parse_integer(bytes.substr(0, std::min<std::size_t>(blank, 8)));
      if (blank > 8 || !length || *length <= static_cast<std::int64_t>(blank) + 1 ||
          *length > static_cast<std::int64_t>(bytes.size()))
        fail_at(at_, "an extended header is damaged; copy the archive here again");
      const auto record = bytes.substr(blank + 1, static_cast<std::size_t>(*length) - blank - 2);
      note_record(record, extra);
      bytes.remove_prefix(static_cast<std::size_t>(*length));
    }
  }

  void note_record(std::string_view record, TarExtra& extra) const {
    const auto equals = std::min(record.find('='), record.size());
    const auto key = record.substr(0, equals), value = record.substr(std::min(equals + 1, record.size()));
    if (key == "path") extra.name = std::string(value);
    if (key.starts_with("GNU.sparse.") || key.starts_with("SCHILY.realsize")) extra.is_sparse = true;
    if (key != "size") return;
    const auto size = parse_integer(value);
    if (!size || *size < 0) fail_at(at_, "an extended header has an invalid size; copy the archive here again");
    extra.size = static_cast<std::uint64_t>(*size);
  }

  void take_entry(const TarHeader& header, const TarExtra& extra, std::uint64_t own_size,
                  const std::function<void(TarEntry, std::span<const std::byte>)>& take) {
    TarEntry entry{extra.name.value_or(header.name()), at_ + tar_block, extra.size.value_or(own_size)};
    require_plain(header.type(), extra, entry.name);
    const bool is_file = header.type() != '5' && !entry.name.ends_with('/');
    entry.name = inner_name(entry.name);
    require_inside(entry.bytes, fmt::format("the entry '{}'", excerpt(entry.name)));
    skip_content(entry.offset, entry.bytes);
    if (!is_file) return;
    const auto first = window_.loaded(entry.offset, entry.bytes);
    take(std::move(entry), first);
  }

  void require_inside(std::uint64_t bytes, const std::string& what) const {
    if (bytes > archive_.size() - at_ - tar_block)
      fail_at(at_, fmt::format("{} should have {} bytes, but the archive has {}; it is truncated, or the size is wrong",
                               what, bytes, archive_.size()));
  }

  void require_plain(char type, const TarExtra& extra, const std::string& name) const {
    const auto* const what = type == '1' || type == '2'                                  ? "a link"
                             : type == '3' || type == '4' || type == '6'                 ? "a device"
                             : type == 'S' || extra.is_sparse                            ? "a sparse file"
                             : type == '0' || type == '\0' || type == '7' || type == '5' ? nullptr
                                                                                         : "of an unknown kind";
    if (what != nullptr)
      fail_at(at_,
              fmt::format("the entry '{}' is {}; samples must be regular files (tar --dereference replaces links by files)",
                          excerpt(name), what));
  }

  std::string inner_name(std::string_view name) const {
    while (name.starts_with("./")) name.remove_prefix(2);
    const bool leads_out = name.starts_with('/') || name == ".." || name.starts_with("../") || name.ends_with("/..") ||
                           name.find("/../") != name.npos;
    if (leads_out)
      fail_at(at_, fmt::format("the name '{}' is absolute or contains '..'; names must be relative paths without '..'",
                               excerpt(name)));
    return std::string(name);
  }

  /// Throws UsageError unless the bytes after the end marker of the archive are zeros, and at most as many as the largest
  /// record of a tape has.
  void require_end() {
    constexpr std::uint64_t max_zeros = 1 << 20;
    const auto left = archive_.size() - at_;
    const auto rest = window_.at(at_, std::min(left, max_zeros));
    const bool is_empty = std::ranges::all_of(rest, [](std::byte byte) { return byte == std::byte{0}; });
    if (left > max_zeros || !is_empty)
      fail_at(at_,
              fmt::format("{} bytes follow its end; if several archives were joined by cat, list them separately", left));
  }

  [[noreturn]] void fail_at(std::uint64_t at, const std::string& why) const {
    throw UsageError(fmt::format("tar archive '{}', at byte {}: {}", archive_.path(), at, why));
  }

  const InputFile& archive_;
  TarWindow window_;
  std::uint64_t at_ = 0;  ///< offset of the current header
};

}  // namespace

void walk_tar(const InputFile& archive, const std::function<void(TarEntry, std::span<const std::byte>)>& take) {
  TarWalk(archive).walk(take);
}

}  // namespace trainrt::data
